"""The columns of every result: keys under their own names, ``window``, then the others.

Only Spark's own windows end otherwise: they have these columns already (``placed/native.py``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame

from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.coordinates import restore_sql
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import by_query, window_end_by
from fanlight.engine.spark.sql import TIME_WINDOW, WATERMARK, named, sql

Named = tuple[str, str]  # SQL text, and the column's name


def finish(
    bound: Bound,
    found: DataFrame,
    start: str,
    end: str,
    columns: Iterable[Named],
    keys: Sequence[Named | str] | None = None,
) -> DataFrame:
    """The result of ``found``; ``start`` and ``end`` are SQL of the window's two times.

    ``keys`` where they are not simply the columns ``k0``, ``k1``, …; a text alone keeps its names.
    """
    own = zip(bound.keys, bound.names, strict=True) if keys is None else keys
    return found.select(
        *[sql(found, one) if isinstance(one, str) else named(found, *one) for one in own],
        window(bound, found, start, end),
        *[named(found, text, name) for text, name in columns],
    )


def window(bound: Bound, found: DataFrame, start: str, end: str) -> Column:
    """The column ``window``, with the metadata that ``F.window_time`` needs.

    In a stream it also carries the watermark, so that aggregations can follow.
    """
    column = sql(found, f"named_struct('start', {start}, 'end', {end})")
    metadata: dict[str, Any] = {}
    if bound.coordinate.timed and not bound.coordinate.counted:
        metadata[TIME_WINDOW] = True
        if bound.df.isStreaming:
            metadata[WATERMARK] = bound.delay
    return column.alias("window", metadata=metadata)


def times(bound: Bound, start: str, end: str) -> tuple[str, str]:
    """SQL: the window between two coordinates, as times."""
    return restore_sql(bound.coordinate, start), restore_sql(bound.coordinate, end)


def lower_outputs(fields: Fields, start: str) -> list[Named]:
    """Partials lowered to aggregates, for windows that begin at the coordinate ``start``."""
    return [(output.sql(start), output.label) for output in fields.outputs]


def name_by_number(labels: Sequence[str]) -> list[Named]:
    """Results ``r0`` and so on, under the names ``labels``."""
    return [(f"r{n}", label) for n, label in enumerate(labels)]


def finish_windows(bound: Placed, found: DataFrame, columns: Sequence[Named]) -> DataFrame:
    """Keys, ``window``, the label of the query where there are several, then ``columns``."""
    start, end = times(bound, bound.shown_start, f"({window_end_by(bound.grids, 'start')})")
    labels = []
    if bound.which:
        labels.append((f"cast({by_query(bound.queries.labels)} as int)", bound.queries.name))
    return finish(bound, found, start, end, [*labels, *columns])


def finish_items(bound: Placed, found: DataFrame, name: str, *, counts: bool) -> DataFrame:
    """Recurring items (keys, ``level``, ``start``, ``upto``, ``item``, ``n``) as reported."""
    start, end = times(bound, "start", "upto")
    columns = [("cast(level as int)", "level"), ("item", name)]
    columns += [("n", "count")] if counts else []
    return finish(bound, found, start, end, columns)
