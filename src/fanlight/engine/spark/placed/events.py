"""Events that last, as cells, entries or copies, with the numbers of their windows.

Which window is an event's last depends on the latest window start before its end; which is its
first, on the next window end after its beginning. So events whose first instants lie between the
same window ends, and whose last instants between the same window starts, share a cell.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.plan.granules import granules_of_bounds
from fanlight.engine.spark import window_ranges
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import (
    first_number,
    last_number,
    may_hold_one,
    numbered_start_by,
    numbers_of_event,
    window_end_by,
    windows_of_event,
)
from fanlight.engine.spark.lasting import ENDS, lift_copies
from fanlight.engine.spark.lift import lift_or_count
from fanlight.engine.spark.relation import Relation


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
    keys, rest, grids = rows.keys, rows.parts, bound.grids
    numbered, powers, ends, sparse = [], [], [], False
    for n, grid in enumerate(grids):
        numbered += [
            f"{first_window_of(bound, n)} as from{n}",
            f"{last_window_of(bound, n)} as to{n}",
        ]
        powers.append(f"{window_ranges.power(f'from{n}', f'to{n}')} as power{n}")
        left = window_ranges.pack_entry(grids, f"power{n}", f"from{n}", n)
        right = window_ranges.pack_entry(grids, f"power{n}", f"to{n}", n)
        if may_hold_one(grid):
            left = f"if(from{n} > to{n}, null, {left})"
            right = f"if(from{n} >= to{n}, null, {right})"
            sparse = True
        ends += [f"{left} as from{n}", f"{right} as to{n}"]
    ends_of_rows = rows.df.selectExpr(*keys, *numbered, *rest).selectExpr("*", *powers)
    ends_of_rows = ends_of_rows.selectExpr(*keys, *rest, *ends)
    sides = [f"{side}{n}" for n in range(len(grids)) for side in ("from", "to")]
    # Compiled code copies the rows of an unpivot; to explode an array, Spark would build it first.
    both = ends_of_rows.unpivot([*keys, *rest], [*sides], "side", "entry")
    return rows.with_df(both.filter("entry is not null") if sparse else both, "entry")


def lift_buckets(bound: Placed, fields: Fields, copies: Relation) -> DataFrame:
    """Windows from copies of events in each of them, which are lifted there."""
    rows, origin = lift_copies(bound, fields, copies), window_start_of(bound, "number")
    return start_from_number(
        bound, lift_or_count(rows, rows.place, fields.all, origin).lift_counts()
    )


def start_from_number(bound: Placed, windows: Relation) -> DataFrame:
    """Windows with their start in place of their number."""
    place = [name for name in windows.place if name != "number"]
    start = f"{window_start_of(bound, 'number')} as start"
    return windows.with_places(*place, start, place=[*place, "start"]).df
