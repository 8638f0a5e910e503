"""Windows counted in rows, and windows that end at every row, over a batch.

A row's number in its key is a coordinate like any other: once rows are numbered, cut and roll-up
are the same. Windows that end at every row have no slices to share; each row is a slice of its own.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.ways import Rollup
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_start
from fanlight.engine.spark.fields import Fields, types_of
from fanlight.engine.spark.lift import drop_rows_in_gaps, lift_each_row
from fanlight.engine.spark.relation import Relation
from fanlight.engine.spark.rollup import ROLLUPS
from fanlight.engine.spark.sql import over_clause


def number_rows(bound: Placed, fields: Fields) -> Relation:
    """Partials, one a row that is in a window: place ``t``, the row's number."""
    keys = bound.keys
    rows, partials, order = lift_each_row(bound, fields)
    number = f"count(1) {over_clause(keys, ', '.join(order), 'rows unbounded preceding')} - 1L"
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


def roll_up_every_row(bound: Placed, fields: Fields, rollup: Rollup) -> DataFrame:
    """Windows that end at every row: keys, ``start``, partials."""
    keys, names = bound.keys, [field.name for field in fields.all]
    rows, partials, _ = lift_each_row(bound, fields)
    rows = rows.selectExpr(*keys, "t as upto", *partials)
    # One shuffle by key serves all that follows; only the sorts differ.
    rows = rows.repartition(*keys) if keys else rows.repartition(1)
    types, span = types_of(rows, fields.all), bound.grid.range
    ends = ROLLUPS[rollup](rows, keys, fields.all, types, span)
    # Rows of one instant end the same window: it is reported once.
    ends = ends.selectExpr("*", f"lead(upto) {over_clause(keys, 'upto')} as ahead")
    ends = ends.filter("ahead is null or ahead <> upto")
    return ends.selectExpr(*keys, f"upto - {span - 1}L as start", *names)
