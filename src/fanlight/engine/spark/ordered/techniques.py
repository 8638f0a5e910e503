"""Runs each technique of the paper, see :mod:`fanlight.engine.operators.techniques`."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame

from fanlight.engine.operators.spanning_events import SpanningQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lasting import ENDS
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.host import run_operator


def release_windows(
    bound: Lasting, fields: Fields, chosen: Candidate[Pieces], height: int
) -> DataFrame:
    """Windows, one row a key and ``start``, of events that Spark has lifted to partials."""
    keys = bound.keys
    rows = select_values(bound, fields, bound.place_columns)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*keys, *places, *partials_of_rows(rows, fields.all))
    rows = rows.filter("t is not null")
    cut, technique = chosen.pieces.only_cut, chosen.strategy.name
    query = partial(
        SpanningQuery, monoids=fields.monoids, cut=cut, technique=technique, height=height
    )
    what = f"windows over events with a duration, by {technique!r}"
    return run_operator(
        bound, fields, rows, query, what=what, numbers=["start"],
        values=fields.names, order=["t", "first_at", "last_at"],
        cut=cut.technique, height=height, layout=2,
    )  # fmt: skip
