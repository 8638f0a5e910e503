"""The columns of every result: keys under their own names, ``window``, then the others.

Only Spark's own windows end otherwise: they have these columns already (``spark_windows.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructField, StructType, TimestampType

from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.kinds.kind import FINAL
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.lag import Lag
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.cuts import by_query, window_start_by
from fanlight.engine.spark.equality import collated, has_collation
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.sql import TIME_WINDOW, expr, expr_as

Named = tuple[str, str]  # SQL text, and the column's name
# Spark's error shows it, in the second line of the plan, where it refuses another output mode.
MODES = (
    "fanlight: if Spark refuses the output mode, write outputMode('append'), or fl.over(…).early() "
    "for outputMode('update'); with Spark's check switched off, windows would be wrong"
)


def finish_result(
    bound: Bound,
    windows: DataFrame,
    start: str,
    end: str,
    columns: Iterable[Named],
    keys: Sequence[Named | str] | None = None,
) -> DataFrame:
    """The result made of a DataFrame; ``start`` and ``end`` are SQL for the times of its windows.

    ``keys`` names them if they are not the columns ``k0``, ``k1``, …; a plain text keeps its name.
    """
    own = zip(bound.keys, bound.names, strict=True) if keys is None else keys
    return windows.select(
        *[key_column(bound, windows, one) for one in own],
        window_column(bound, windows, start, end),
        *[expr_as(windows, text, name) for text, name in columns],
    )


def key_column(bound: Bound, windows: DataFrame, key: Named | str) -> Column:
    """A key under its name, and of its own type: in a stream it has been without collation."""
    if isinstance(key, str):
        return expr(windows, key)
    types = dict(zip(bound.keys, bound.source.key_types, strict=False))
    kind = types.get(key[0])
    if kind is None or not bound.df.isStreaming or not has_collation(kind):
        return expr_as(windows, *key)
    return collated(windows, key[0], kind).alias(key[1])


def window_column(bound: Bound, windows: DataFrame, start: str, end: str) -> Column:
    """The column ``window``, with the metadata that ``F.window_time`` needs.

    In a stream it also carries the watermark, so that aggregations can follow. Where its end is in
    a window it does neither: Spark would take the instant before the end for its time.
    """
    column = expr(windows, f"named_struct('start', {start}, 'end', {end})")
    ends_within = isinstance(bound, Placed) and any(grid.closed for grid in bound.grids)
    if not bound.coordinate.is_timestamp or bound.coordinate.counted or ends_within:
        return column.alias("window")
    if not bound.df.isStreaming:
        return column.alias("window", metadata={TIME_WINDOW: True})
    return _with_lags(bound, column)


def with_lags(bound: Bound, windows: DataFrame) -> DataFrame:
    """Windows that Spark has made; in a stream with the lags of their times."""
    if not bound.df.isStreaming:
        return windows
    others = [quote(name) for name in windows.columns]
    return windows.select(
        *(
            _with_lags(bound, expr(windows, one)) if one == quote("window") else expr(windows, one)
            for one in others
        )
    )


def _with_lags(bound: Bound, window: Column) -> Column:
    """A window of a stream, with the watermark and the lags of its times in its metadata."""
    first, last = bound.lags
    ends = [
        StructField(
            name,
            TimestampType(),
            metadata=Lag(lag, bound.delay, bounds=True, marked=False).metadata,
        )
        for name, lag in (("start", first), ("end", last))
    ]
    metadata = {TIME_WINDOW: True, **Lag(last, bound.delay, bounds=True).metadata}
    return window.cast(StructType(ends)).alias("window", metadata=metadata)


def time_column(bound: Bound, df: DataFrame, text: str, name: str, late: int | None) -> Column:
    """The time of rows that a stream passes on, with the watermark; ``late`` is its lag."""
    return expr(df, text).alias(name, metadata=Lag(late, bound.delay).metadata)


def window_times(bound: Bound, start: str, end: str) -> tuple[str, str]:
    """SQL: the start and end of a window, as times made of two coordinates."""
    return restore_sql(bound.coordinate, start), restore_sql(bound.coordinate, end)


def lower_outputs(fields: Fields, start: str) -> list[Named]:
    """Partials lowered to aggregates, for windows that begin at the coordinate ``start``."""
    return [(output.sql(start), output.label) for output in fields.outputs]


def name_by_number(labels: Sequence[str]) -> list[Named]:
    """Columns that give the results ``r0``, ``r1``, … their output names ``labels``."""
    return [(f"r{n}", label) for n, label in enumerate(labels)]


def finish_windows(bound: Placed, windows: DataFrame, columns: Sequence[Named]) -> DataFrame:
    """Keys, ``window``, the label of the query where there are several, then ``columns``."""
    start, end = window_times(bound, bound.shown_start, bound.shown_end)
    labels = []
    if bound.query_columns:
        labels.append((f"cast({by_query(bound.queries.labels)} as int)", bound.queries.name))
    if bound.early is not None:
        labels.append(("final = 1L", FINAL))
    windows = bound.keep_existing(windows)
    if bound.df.isStreaming and bound.early is None:
        windows = windows.alias(MODES)
    return finish_result(bound, windows, start, end, [*labels, *columns])


def finish_items(bound: Placed, items: DataFrame, name: str, *, counts: bool) -> DataFrame:
    """Recurring items (keys, ``level``, ``start``, ``upto``, ``item``, ``n``) as reported."""
    start, end = window_times(bound, "start", "upto")
    columns = [("cast(query as int)", "level"), ("item", name)]
    columns += [("n", "count")] if counts else []
    items = bound.keep_existing(
        items.withColumnRenamed("level", "query"), window_start_by(bound.grids, "upto")
    )
    marked = items.alias(MODES) if bound.df.isStreaming else items
    return finish_result(bound, marked, start, end, columns)
