"""Keys that are forgotten: how long a silence may be, and lives as one more key of a batch.

Operators split keys into lives themselves (``operators/lives.py``). Where Spark does the work of a
batch, the number of a row's life becomes one more key, so that each life is a key of its own.
"""

from __future__ import annotations

from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.algebra.sql_text import double_literal, quote
from fanlight.engine.plan.granules import EveryRows
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import column_of
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.sql import add_columns, free_name, over_clause
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import read_length

LIFE = "fanlight: number of the key's life"
B = TypeVar("B", bound=Bound)


def forget_keys(bound: B, given: Any) -> B:
    """The request with ``forget_after``, once it is checked."""
    length = read_length("forget_after", given)
    if length is None:
        return bound
    bound.check_length("forget_after", length)
    if length.value / bound.coordinate.unit < _longest_placed(bound):
        raise refuse(
            f"forget_after={length}",
            "is shorter than a window, which would be given twice: before and after a silence",
            "write at least the longest RANGE, or the SLIDE of the last rows; windows that time "
            "places keep nothing of a key beyond their RANGE",
        )
    return bound.with_source(forget_after=length)


def has_lives(bound: Bound) -> bool:
    """Whether the rows of a batch have to be divided into lives."""
    batch = bound.source.forget_after is not None and not bound.df.isStreaming
    return batch and (not isinstance(bound, Placed) or bound.event.ordered)


def divide_into_lives(bound: B) -> B:
    """The same request over a batch with the number of each row's life as its last key."""
    length = bound.source.forget_after
    if length is None or bound.df.isStreaming:
        return bound
    rows = drop_rejected(bound)
    taken = rows.columns
    at = free_name("at", taken)
    silent = free_name("silent", taken)
    keys = [free_name(f"key{n}", taken) for n in range(len(bound.by))]
    given = [column_of(rows, key) for key in bound.by]
    time, longest = coordinate(bound.coordinate, bound.time_sql), f"{bound.forget_after}L"
    if bound.coordinate.kind == "double":
        time, longest = f"cast({bound.time_sql} as double)", double_literal(float(length.value))
    order = over_clause(keys, at)
    divided = add_columns(rows, [*zip(given, keys, strict=True), (time, at)])
    divided = divided.selectExpr("*", f"{at} - lag({at}) {order} > {longest} as {silent}")
    divided = divided.selectExpr("*", f"count_if({silent}) {order} as {quote(LIFE)}")
    return bound.with_source(
        df=divided.drop(*keys, at, silent),
        by=(*bound.by, LIFE),
        names=(*bound.names, LIFE),
        key_types=(*bound.source.key_types, LongType()),
        forget_after=None,
    )


def drop_lives(results: DataFrame) -> DataFrame:
    """Results without the number of the life."""
    return results.drop(LIFE)


def _longest_placed(bound: Bound) -> int:
    """How long the longest window is that time places, in coordinates; 0 if rows decide.

    Of windows that are the last rows before the end of a SLIDE, it is the SLIDE.
    """
    if not isinstance(bound, Placed) or bound.coordinate.counted:
        return 0
    if isinstance(bound.row_ends, EveryRows):
        return 0
    return bound.longest
