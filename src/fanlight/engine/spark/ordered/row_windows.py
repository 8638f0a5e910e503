"""Windows that rows place, in a stream: one stateful operator orders, cuts and rolls up rows.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers.
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame

from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.row_ends import LastRows
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import FIRST, lift_each_row
from fanlight.engine.spark.ordered.host import run_operator


def release_windows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Partials of windows by key and ``start``, once the watermark has passed their last row."""
    kept = [FIRST, *fields.all] if isinstance(bound.row_ends, LastRows) else fields.all
    names = [field.name for field in kept]
    rows, partials, order = lift_each_row(bound, fields)
    if len(kept) > len(partials):
        partials = [f"t as {FIRST.name}", *partials]
    rows = rows.selectExpr(*bound.keys, *order, *partials)
    by = bound.row_ends or chosen.pieces.only_cut
    monoids = tuple(field.monoid for field in kept)
    query = partial(
        TupleQuery, monoids=monoids, by=by, grid=bound.grid, forget_after=bound.forget_after
    )
    cut = by.technique if isinstance(by, Cut) else "none"
    return run_operator(
        bound, fields, rows, query, what="windows over rows", numbers=["start"], values=names,
        cut=cut,
    )  # fmt: skip
