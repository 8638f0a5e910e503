"""The rows that are in no window because of their time: listed with the reason, and counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TypeVar

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan.late_rows import REJECTED
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.lift import is_rejected
from fanlight.engine.spark.sql import expr, is_taken, quote_column
from fanlight.engine.spec.errors import refuse

B = TypeVar("B", bound=Bound)
_NUMBERS = count(1)  # metrics of one query are told apart


def count_rejected(bound: B) -> B:
    """The request over a stream whose progress counts the rows that are in no window.

    A batch has no progress, and a metric is a tenth of the time of Spark's fastest aggregation. If
    the request has been counted before, as other windows, it is counted anew.
    """
    if not bound.df.isStreaming:
        return bound
    plain = bound.df if bound.source.uncounted is None else bound.source.uncounted
    bound = bound.with_source(df=plain, uncounted=plain)
    rows, added = bound.rows, set(bound.rows.columns) - set(plain.columns)
    counted = expr(rows, f"count_if({is_rejected(bound)})").alias("rows")
    return bound.with_source(df=rows.observe(f"{REJECTED} {next(_NUMBERS)}", counted).drop(*added))


def rejected_rows(bound: Bound) -> DataFrame:
    """The rows that no window can hold, with a column ``reason``."""
    df = bound.rows
    if is_taken(df, "reason", bound.df.columns):
        raise refuse(
            "rejected(df)",
            "adds a column 'reason', which already exists in the DataFrame",
            "rename yours first: df.withColumnRenamed('reason', …)",
        )
    added = [name for name in df.columns if name not in bound.df.columns]
    unread, bound = _read_what_can_be(bound)
    tests = [*unread, *bound.rejections]
    cases = " ".join(f"when {test} then {literal(reason)}" for test, reason in tests)
    found = df.withColumn("reason", expr(df, f"case {cases} end")).filter("reason is not null")
    return found.drop(*added)


def _read_what_can_be(bound: Bound) -> tuple[list[tuple[str, str]], Bound]:
    """(SQL condition, reason) of texts that are not times, and a bound that reads these as null.

    In ANSI mode Spark ends a query where a text cannot be cast.
    """
    if not bound.source.read_from:
        return [], bound
    unread = []

    def read(name: str, text: str) -> str:
        given = quote_column(bound.df, name)
        cast = f"cast({given} as timestamp)"
        unread.append((f"{given} is not null and try_{cast} is null", f"{name} is not a timestamp"))
        return f"try_{cast}".join(text.split(cast))

    if isinstance(bound, Lasting):
        bound = replace(bound, start_sql=read(bound.start, bound.start_sql))
    time = read(bound.time, bound.time_sql)
    return unread, replace(bound, source=replace(bound.source, time_sql=time))
