"""Distinct values as events that last: how many there are in each window, exactly.

A value that a key has in a slice is in the windows of that slice, a run of them; seen again before
the run is over, it lasts on. So a value is there from window to window, +1 where that begins and -1
where it ends, and a running sum along the windows says how many are there. A row is touched once,
however many windows it is in, and only whole numbers are added.

    seen        x     x            x
    windows     |------------|     |------|
    entries     +1           -1    +1     -1

Values are told apart in their slices first, where most of them are: Spark sends each on once. So a
value that many rows have costs little, and sends no more than others to one task.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import (
    first_start,
    has_window,
    last_start,
    next_start,
    previous_start,
    previous_start_by,
    slice_start,
    starts_between,
    step_by,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import column_number, copy_for_columns, select_points
from fanlight.engine.spark.result import value_columns
from fanlight.engine.spark.sql import group_rows, over_clause


def count_lasting_values(bound: Placed, fields: Fields) -> DataFrame:
    """Keys, ``query``, ``start``, and how many distinct values there are, for each digest."""
    kept = fields.all
    values = (
        [*value_columns(kept), "column_number"]
        if len(value_columns(kept)) > 1
        else value_columns(kept)
    )
    piece = f"{slice_start(granules_of(bound.grids), 't')} as piece"
    rows = select_points(bound, fields).selectExpr(*bound.keys, piece, *fields.lifting)
    # Values before keys: where Spark sorts, the first column should tell most rows apart.
    same = [*values, *bound.keys]
    rows = copy_for_columns(rows, [*bound.keys, "piece"], kept).select(*same, "piece").distinct()
    order = over_clause(same, "piece")
    seen = rows.selectExpr(
        *same, "piece", f"lag(piece) {order} as before", f"lead(piece) {order} as after"
    )
    ends = ", ".join(
        one for number, grid in enumerate(bound.grids) for one in _lifetime_ends(number, grid)
    )
    entered = seen.selectExpr(*same, f"inline(filter(array({ends}), e -> e.at is not null))")
    place = [*bound.keys, *bound.query_columns]
    counts = [("there", _sum_entries("true", 0, len(values)))]
    digests = {field: name for (field, _), name in fields.digests.items()}
    for field in kept:
        number = column_number(field, kept)
        seen_in = _sum_entries(f"c{number} is not null", number, len(values))
        counts.append((digests[field.name], seen_in))
    changes = group_rows(entered, [*place, "at"], counts)
    along = over_clause(place, "at")
    running = [f"sum({name}) {along} as {name}" for name, _ in counts]
    stretches = changes.selectExpr(*place, "at", *running, f"lead(at) {along} as until")
    before = previous_start_by(bound.grids, "until")
    starts = f"explode({starts_between('at', before, step_by(bound.grids))}) as start"
    return stretches.filter("there > 0L").selectExpr(*place, starts, *digests.values())


def _lifetime_ends(number: int, grid: Grid) -> list[str]:
    """SQL: the two ends of a value's lifetime. Null where the value goes on in the next slice.

    Windows without a gap between them go on from one to the next: so does a value.
    """
    begins, last = first_start(grid, "piece"), last_start(grid, "piece")
    stops = next_start(grid, last)
    ended, starting = last_start(grid, "before"), first_start(grid, "after")
    if not grid.has_gaps:
        ended, starting = next_start(grid, ended), previous_start(grid, starting)
    new = f"(before is null or {ended} < {begins})"
    gone = f"(after is null or {starting} > {last})"
    test = has_window(grid, "piece")
    if test:
        new, gone = f"{test} and {new}", f"{test} and {gone}"
    return [
        f"named_struct('query', {number}, 'at', if({new}, {begins}, null), 'd', 1L)",
        f"named_struct('query', {number}, 'at', if({gone}, {stops}, null), 'd', -1L)",
    ]


def _sum_entries(test: str, number: int, columns: int) -> str:
    """SQL: the sum of the entries of one column for which a test holds."""
    own = f"column_number = {number} and {test}" if columns > 1 else test
    return f"sum(if({own}, d, 0L))"
