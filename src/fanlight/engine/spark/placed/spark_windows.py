"""Spark's own windows and aggregates, where they can say what is asked: its plan, and no other.

An aggregate that Spark has is computed by that one. Of any other, Spark's aggregates compute the
fields of its partials, which are lowered afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column, DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.plan.ways import SPARK_WINDOWS, Lift
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import column_of
from fanlight.engine.spark.coordinates import coordinate
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import drop_rejected
from fanlight.engine.spark.result import (
    fields_without_counts,
    finish_windows,
    lower_outputs,
    with_lags,
)
from fanlight.engine.spark.sql import expr_as, group_rows, name_columns, project


def aggregate_in_windows(bound: Placed, fields: Fields) -> DataFrame:
    """The whole result, by ``groupBy(…, window(…)).agg(…)``."""
    if all(output.native for output in fields.outputs):
        results = [(output.by_spark, output.label) for output in fields.outputs]
        return with_lags(bound, _group_in_spark(bound, fields, bound.names, results))
    lowered = lower_outputs(fields.lowering(SPARK_WINDOWS), bound.shown_start)
    return finish_windows(bound, aggregate_by_start(bound, fields), lowered)


def aggregate_by_start(bound: Placed, fields: Fields) -> DataFrame:
    """The same in the form of other candidates: keys, ``start``, results or partials."""
    start = f"{coordinate(bound.coordinate, 'window.start')} as start"
    if not all(output.native for output in fields.outputs):
        rows = drop_rejected(bound)
        rows = project(rows, [(bound.time_sql, "at"), *fields.columns(bound, rows)])
        read = [*bound.keys, *fields.arguments.values(), *fields.values.values()]
        window = f"{_window_of(bound, 'at')} as window"
        rows = rows.selectExpr(*bound.keys, window, *fields.arguments.values(), *fields.lifting)
        return aggregate_starts(rows.selectExpr(start, *read), bound.keys, fields, SPARK_WINDOWS)
    results = [(one.by_spark, f"d{number}") for number, one in enumerate(fields.outputs)]
    grouped = _group_in_spark(bound, fields, bound.keys, results)
    return grouped.selectExpr(*bound.keys, start, *(name for _, name in results))


def aggregate_starts(rows: DataFrame, keys: Sequence[str], fields: Fields, lift: Lift) -> DataFrame:
    """Rows with the ``start`` of their window: results that Spark has itself, partials of others.

    Partials that only those results would need are left out by Spark.
    """
    partials = [
        (f.name, f.monoid.lift(f.value, origin="start")) for f in fields_without_counts(fields.all)
    ]
    return group_rows(rows, [*keys, "start"], [*fields.natively(lift), *partials])


def has_spark_windows(bound: Placed) -> bool:
    """Whether Spark's function ``window`` has these windows."""
    grid, calendar = bound.grid, bound.coordinate.calendar
    plain = not (grid.has_gaps or grid.begins or grid.opened or grid.closed)
    one = not (bound.queries.several or bound.lasting or bound.event.ordered)
    # Spark's windows are given at their end, and by a time that is event time for Spark.
    lag = bound.source.lag
    plain = plain and not bound.postponement and (lag is None or lag.marked)
    return bound.coordinate.is_timestamp and calendar is None and plain and one


def group_in_windows(bound: Placed, results: Sequence[Column]) -> DataFrame:
    """Keys, ``window``, and Columns that aggregate the rows."""
    rows = drop_rejected(bound)
    by = [(column_of(rows, one), name) for one, name in zip(bound.by, bound.names, strict=True)]
    by.append((_window_of(bound, bound.time_sql), "window"))
    return with_lags(bound, rows.groupBy(*name_columns(rows, by)).agg(*results))


def _group_in_spark(
    bound: Placed,
    fields: Fields,
    keys: Sequence[str],
    results: Sequence[tuple[Callable[[Mapping[str, str]], str], str]],
) -> DataFrame:
    """Group the rows under their own names; ``results`` are SQL made of arguments, and names."""
    rows = drop_rejected(bound)
    columns = [(bound.time_sql, "at"), *fields.read(bound, rows)]
    texts = {name: text for text, name in columns if isinstance(text, str)}
    if len(texts) < len(columns):  # a Column has no text
        rows = project(rows, columns)
        texts = {name: name for _, name in columns}
    by = zip(bound.keys, keys, strict=True)
    return rows.groupBy(
        *[expr_as(rows, texts[key], name) for key, name in by],
        expr_as(rows, _window_of(bound, texts["at"]), "window"),
    ).agg(*[expr_as(rows, of(texts), name) for of, name in results])


def _window_of(bound: Placed, time: str) -> str:
    grid = bound.grid
    lengths = (grid.range, grid.slide, grid.offset % grid.slide)
    told = ", ".join(literal(f"{length} microseconds") for length in lengths)
    return f"window({time}, {told})"
