"""Windows counted in rows, and windows that rows and time place together, over a batch.

A row's number in its key is a coordinate like any other: once rows are numbered, cut and roll-up
are the same. Windows that rows end have no slices to share; each row is a slice of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.plan.granules import EveryRows, LastRows, Pieces, counts_rows
from fanlight.engine.plan.ways import Rollup
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import last_start, slice_start
from fanlight.engine.spark.fields import Fields, types_of
from fanlight.engine.spark.lift import FIRST, LAST, drop_rows_in_gaps, lift_each_row
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.rollup import ROLLUPS
from fanlight.engine.spark.sql import over_clause


def number_rows(bound: Placed, fields: Fields) -> Relation:
    """Partials, one a row that is in a window: place ``t``, the row's number."""
    keys = bound.keys
    rows, partials, order = lift_each_row(bound, fields)
    number = _number_in_key(keys, order)
    rows = rows.selectExpr(*keys, f"{number} as t", *partials)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    return Relation.of_partials(drop_rows_in_gaps(bound, rows), keys, ["t"], fields.all)


def number_granules(bound: Placed, fields: Fields, cut: Pieces) -> Relation:
    """Partials, one a key and granule of row numbers: place ``piece``."""
    piece = f"{slice_start(cut.granules, 't')} as piece"
    rows = number_rows(bound, fields).with_places(piece, place=["piece"])
    if cut.granules.edges == ((0, 1),):  # each row is a granule of its own
        return rows
    return rows.combine("piece")


def _number_in_key(keys: Sequence[str], order: Sequence[str]) -> str:
    """SQL: how many rows of its key come before a row."""
    return f"count(1) {over_clause(keys, ', '.join(order), 'rows unbounded preceding')} - 1L"


def roll_up_row_ends(bound: Placed, fields: Fields, rollup: Rollup) -> DataFrame:
    """Windows that rows and time place together: keys, ``start``, partials."""
    ends, keys = bound.row_ends, bound.keys
    rows, partials, order = lift_each_row(bound, fields)
    # One shuffle by key serves all that follows; only the sorts differ.
    rows = rows.repartition(*keys) if keys else rows.repartition(1)
    roll_up, names = ROLLUPS[rollup], fields.names
    if isinstance(ends, LastRows):
        kept = [FIRST, LAST, *fields.all]
        times = (f"t as {field.name}" for field in (FIRST, LAST))
        rows = rows.selectExpr(*keys, f"{_number_in_key(keys, order)} as upto", *times, *partials)
        windows = roll_up(rows, keys, kept, types_of(rows, kept), ends.count)
        return _keep_last_of_slides(bound, windows, names)
    rows = rows.selectExpr(*keys, "t as upto", *partials)
    windows = roll_up(rows, keys, fields.all, types_of(rows, fields.all), bound.grid.range)
    return _keep_ends(bound, ends or EveryRows(), windows, names)


def _keep_ends(bound: Placed, ends: EveryRows, windows: DataFrame, names: list[str]) -> DataFrame:
    """Keep one window per instant, of those that end at each row."""
    keys, start = bound.keys, f"upto - {bound.grid.range - 1}L as start"
    order = over_clause(keys, "upto")
    added = [f"lead(upto) {order} as ahead"]
    kept = "(ahead is null or ahead <> upto)"
    if counts_rows(ends):
        # How many rows there are before the instant, and up to it, less those before counting.
        earlier = over_clause(keys, "upto", "range between unbounded preceding and 1 preceding")
        counts = ("before", f"count(1) {earlier}"), ("now", f"count(1) {order}")
        added += [f"{count} - {ends.shift}L as {name}" for name, count in counts]
        kept += f" and now - pmod(now, {ends.every}L) > before"
    return windows.selectExpr("*", *added).filter(kept).selectExpr(*keys, start, *names)


def _keep_last_of_slides(bound: Placed, windows: DataFrame, names: list[str]) -> DataFrame:
    """Keep, of the last rows up to each row, those of the last row in a SLIDE."""
    keys, start = bound.keys, f"{last_start(bound.grid, LAST.name)} as start"
    windows = windows.selectExpr(*keys, "upto", start, FIRST.name, *names)
    ahead = f"lead(start) {over_clause(keys, 'upto')} as ahead"
    ended = windows.selectExpr("*", ahead).filter("ahead is null or ahead <> start")
    return ended.selectExpr(*keys, "start", FIRST.name, *names)
