"""Events that last, as cells, entries or copies, with the numbers of their windows.

In snapshots the windows are numbered by the starts and stops of events.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pyspark.sql import DataFrame
from pyspark.sql.types import IntegralType, StringType

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.kinds.options import RUNNING
from fanlight.engine.plan.granules import granules_of_bounds
from fanlight.engine.spark import window_ranges
from fanlight.engine.spark.binding.placed import Lasting, Placed, Unended
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.coordinates import read_instant
from fanlight.engine.spark.cuts import (
    first_number,
    last_number,
    may_hold_one,
    numbered_start_by,
    numbers_of_event,
    slice_start,
    window_end_by,
    windows_of_event,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.selected_events import ENDS
from fanlight.engine.spark.sql import (
    add_columns,
    expr,
    free_name,
    over_clause,
    quote_column,
    type_text,
)
from fanlight.engine.spec.arguments import check_text
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import read_length


def move_to_cells(bound: Placed, rows: Relation) -> Relation:
    """Move both ends of events to the start of their slices, so that events of a cell are equal."""
    begin, end = (
        granules_of_bounds(bound.grids, starts=False),
        granules_of_bounds(bound.grids, starts=True),
    )
    moved = [
        f"{slice_start(begin, 'first_at')} as first_at",
        f"{slice_start(end, 'last_at')} as last_at",
    ]
    more = rows.place[len(ENDS) :]
    return rows.with_places(*moved, *more, place=[*ENDS, *more])


def first_window_of(bound: Placed, query: int) -> str:
    """SQL: the number of the first window of a query that an event is in."""
    return first_number(bound.grids[query], "first_at", len(bound.grids))


def last_window_of(bound: Placed, query: int) -> str:
    """SQL: the number of the last window of a query that an event is in."""
    return last_number(bound.grids[query], "last_at", len(bound.grids))


def window_start_of(bound: Placed, number: str, query: str = "query") -> str:
    """SQL: the start of a window, by its number and its query."""
    return numbered_start_by(bound.grids, number, query)


def window_end_of(bound: Placed, number: str) -> str:
    """SQL: the end of a window, by its number and its query."""
    return window_end_by(bound.grids, window_start_of(bound, number))


def copy_events(bound: Placed, rows: Relation) -> Relation:
    """Copy rows to their windows: place ``query`` (of several) and ``number``."""
    if not bound.query_columns:
        return rows.with_places(
            f"explode({numbers_of_event(bound.grids, 0)}) as number", place=["number"]
        )
    return rows.with_places(windows_of_event(bound.grids), place=["query", "number"])


def add_ranges(bound: Placed, rows: Relation) -> Relation:
    """Make a row for each query, whose place is the range of its windows and the range's power."""
    place = [*bound.query_columns, "from_window", "to_window"]
    if bound.query_columns:
        each = ", ".join(
            f"named_struct('query', {query}, 'from_window', {first_window_of(bound, query)}, "
            f"'to_window', {last_window_of(bound, query)})"
            for query in range(len(bound.grids))
        )
        ranges = rows.with_places(f"inline(array({each}))", place=place)
    else:
        window = [
            f"{first_window_of(bound, 0)} as from_window",
            f"{last_window_of(bound, 0)} as to_window",
        ]
        ranges = rows.with_places(*window, place=place)
    df = ranges.df
    if any(grid.has_gaps for grid in bound.grids):
        df = df.filter("from_window <= to_window")
    return ranges.with_df(df.selectExpr("*", f"{window_ranges.power()} as power"), *place, "power")


def make_entries(bound: Placed, rows: Relation) -> Relation:
    """Make two entries of each row for each query: place ``entry``."""
    powers, ends = [], []
    for n, grid in enumerate(bound.grids):
        powers.append(f"{window_ranges.power(f'from{n}', f'to{n}')} as power{n}")
        left = window_ranges.pack_entry(bound.grids, f"power{n}", f"from{n}", n)
        right = window_ranges.pack_entry(bound.grids, f"power{n}", f"to{n}", n)
        if may_hold_one(grid):
            left = f"if(from{n} > to{n}, null, {left})"
            right = f"if(from{n} >= to{n}, null, {right})"
        ends += [f"{left} as from{n}", f"{right} as to{n}"]
    return _make_two(bound, rows, powers, ends, "entry")


def make_steps(bound: Placed, rows: Relation) -> Relation:
    """Make two steps of each row for each query, where it begins and is over: place ``step``."""
    ends = []
    for n, grid in enumerate(bound.grids):
        up = window_ranges.pack_step(bound.grids, f"from{n}", n, begins=True)
        down = window_ranges.pack_step(bound.grids, f"(to{n} + 1L)", n, begins=False)
        if may_hold_one(grid):
            up, down = (f"if(from{n} > to{n}, null, {one})" for one in (up, down))
        ends += [f"{up} as from{n}", f"{down} as to{n}"]
    return _make_two(bound, rows, [], ends, "step")


def _make_two(
    bound: Placed, rows: Relation, more: Sequence[str], ends: Sequence[str], place: str
) -> Relation:
    """Two rows of each for each query, by its first and its last window."""
    keys, rest, queries = rows.keys, rows.parts, range(len(bound.grids))
    numbered = [
        text
        for n in queries
        for text in (
            f"{first_window_of(bound, n)} as from{n}",
            f"{last_window_of(bound, n)} as to{n}",
        )
    ]
    ends_of_rows = rows.df.selectExpr(*keys, *numbered, *rest)
    if more:
        ends_of_rows = ends_of_rows.selectExpr("*", *more)
    ends_of_rows = ends_of_rows.selectExpr(*keys, *rest, *ends)
    sides = [f"{side}{n}" for n in queries for side in ("from", "to")]
    # Compiled code copies the rows of an unpivot; to explode an array, Spark would build it first.
    both = ends_of_rows.unpivot([*keys, *rest], [*sides], "side", place)
    sparse = any(may_hold_one(grid) for grid in bound.grids)
    return rows.with_df(both.filter(f"{place} is not null") if sparse else both, place)


def start_from_number(bound: Placed, windows: Relation) -> Relation:
    """Windows, or copies in windows, with the start of a window in place of its number.

    A batch does so before it groups: Spark's hash map spreads starts better than small numbers that
    follow one another.
    """
    place = [name for name in windows.place if name != "number"]
    start = f"{window_start_of(bound, 'number')} as start"
    return windows.with_places(*place, start, place=[*place, "start"])


B = TypeVar("B", bound=Lasting)
_EXAMPLE = "write for example as_of='2025-03-01T00:00:00Z'"


def read_running(bound: B) -> B:
    """The request with events that have no stop yet, and with one row an event."""
    given = bound.options[RUNNING]
    as_of, id, max_duration = (given[name] for name in ("as_of", "id", "max_duration"))
    asked = f"running(as_of={as_of!r}, id={id!r})"
    if bound.df.isStreaming:
        return _with_running_in_stream(bound, as_of, id, max_duration)
    if max_duration is not None:
        raise refuse(
            f"running(max_duration={max_duration!r}) of a batch",
            "is of streams, which would wait for a stop that never comes",
            "leave it out: as_of says until when events are running",
        )
    if as_of is None and id is None:
        raise refuse(asked, "says neither when nor which", f"{_EXAMPLE}, or id='call'")
    if id is not None:
        bound = bound.with_source(df=_keep_newest(bound, check_text("id", id, "id='call'")))
    if as_of is None:
        return bound
    _, instant = read_instant(bound.coordinate, as_of, f"as_of={as_of!r}", _EXAMPLE)
    return bound.with_source(time_sql=f"coalesce({bound.time_sql}, {instant})")


def _with_running_in_stream(bound: B, as_of: Any, id: Any, max_duration: Any) -> B:
    """The same of a stream, in which an event is running at least up to the watermark."""
    if isinstance(bound, SnapshotBound):
        raise refuse(
            f"running(as_of={as_of!r}, id={id!r}) of snapshots in a stream",
            "would need the stops, which cut them",
            "leave it out, with the watermark on the stop: an event is then known when it ends",
        )
    if as_of is not None or id is None:
        raise refuse(
            f"running(as_of={as_of!r}, id={id!r}) of a stream",
            "takes its time from the watermark, and needs to know which event a row belongs to",
            "write running(id='call')",
        )
    name = check_text("id", id, "id='call'")
    (column,) = schema_of(bound.df, [("id", name)], "id")
    if not isinstance(column.dataType, (StringType, IntegralType)):
        raise refuse(
            f"id={name!r}",
            f"is of type {type_text(column.dataType)}, by which a stream cannot tell events apart",
            "cast it to string",
        )
    most, length = None, read_length("max_duration", max_duration)
    if length is not None:
        bound.check_length("max_duration", length)
        most = max(1, math.ceil(length.value / bound.coordinate.unit))
    unended = Unended(name, quote_column(bound.df, name), bound.time_sql, most)
    bound = replace(bound, unended=unended)
    return bound.with_source(time_sql=f"coalesce({bound.time_sql}, {bound.start_sql})")


def _keep_newest(bound: Lasting, name: str) -> DataFrame:
    """Keep one row per event: the row with the latest stop, then the latest start."""
    df = bound.df
    schema_of(df, [("id", name)], "id")
    place = free_name("place", df.columns)
    order = f"{bound.time_sql} desc nulls last, {bound.start_sql} desc nulls last"
    number = f"row_number() over (partition by {quote_column(df, name)} order by {order})"
    numbered = add_columns(df, [(f"if({quote_column(df, name)} is null, 1, {number})", place)])
    return numbered.filter(f"{place} = 1").drop(place)


OverNumbers = Callable[[DataFrame, Sequence[str], Sequence[str], Sequence[Call]], DataFrame]


def take_snapshots(
    bound: SnapshotBound, calls: Sequence[Call], fields: Fields, over_numbers: OverNumbers
) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, results ``r0``, ``r1``, …) in which an event is running.

    ``over_numbers`` computes aggregates over events that last from ``low`` to ``high``.
    """
    keys, (start, stop) = bound.keys, bound.ends
    rows = select_placeable(bound, fields)
    edges = rows.selectExpr(*keys, f"explode(array({start}, {stop})) as at").distinct()
    order = over_clause(keys, "at")
    edges = edges.selectExpr(
        *keys, "at", f"lead(at) {order} as upto", f"cast(row_number() {order} as bigint) as number"
    )
    numbered = _look_up(rows, edges, keys, start, "low")
    numbered = _look_up(numbered, edges, keys, stop, "high")
    asked = [_of_internal(bound, fields, call, n) for n, call in enumerate(calls)]
    found = over_numbers(numbered, keys, bound.tie_keys, asked)
    results = [f"r{n}" for n, _ in enumerate(calls)]
    found = found.selectExpr(*keys, "window.start as number", *results)
    windows = _join(found, edges, keys, "number = b.number")
    names = [*keys, *results]
    return windows.selectExpr(*(f"a.{name}" for name in names), "b.at as start", "b.upto")


def _look_up(
    rows: DataFrame, edges: DataFrame, keys: Sequence[str], at: str, name: str
) -> DataFrame:
    """The rows with the number of their time ``at``."""
    joined = _join(rows, edges, keys, f"{at} = b.at")
    return joined.selectExpr("a.*", f"b.number as {name}")


def _join(rows: DataFrame, edges: DataFrame, keys: Sequence[str], test: str) -> DataFrame:
    """Rows with the edges of their key; null is a key like any other."""
    same = " and ".join([*(f"a.{key} <=> b.{key}" for key in keys), f"a.{test}"])
    one, other = rows.alias("a"), edges.alias("b")
    return one.join(other, expr(rows, same))


def _of_internal(bound: SnapshotBound, fields: Fields, call: Call, number: int) -> Call:
    """An aggregate over the columns that its arguments and its condition have inside the plan."""
    columns = tuple(fields.add_argument(column) for column in call.columns)
    tests = (fields.add_condition(bound.df, call.conditions),) if call.conditions else ()
    return replace(call, columns=columns, conditions=tests, output=f"r{number}")


def merge_equal(windows: DataFrame, keys: Sequence[str], results: Sequence[str]) -> DataFrame:
    """Merge windows that follow one another without a gap and have the same results."""
    order = over_clause(keys, "start")
    same = " and ".join(
        [f"lag(upto) {order} <=> start", *(f"lag({name}) {order} <=> {name}" for name in results)]
    )
    marked = windows.selectExpr("*", f"if({same}, 0L, 1L) as begun")
    islands = marked.selectExpr("*", f"sum(begun) {order} as island")
    kept = [expr(islands, f"min_by({name}, start)").alias(name) for name in results]
    ends = [expr(islands, "min(start)").alias("start"), expr(islands, "max(upto)").alias("upto")]
    return islands.groupBy(*keys, "island").agg(*ends, *kept).drop("island")
