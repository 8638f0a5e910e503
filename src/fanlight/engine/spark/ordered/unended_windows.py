"""Windows of a stream over events that may not have ended: one stateful operator."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.algebra.template import find_places
from fanlight.engine.operators.unended_events import RUNNING, UnendedQuery
from fanlight.engine.plan.grid import longest_slide
from fanlight.engine.spark.binding.placed import Lasting, Unended
from fanlight.engine.spark.coordinates import as_instant
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import first_event_end
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import run_operator
from fanlight.engine.spec.errors import refuse

WHAT = "windows of events that may be running"


def give_with_running(bound: Lasting, unended: Unended, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``; with ``final`` where given early."""
    for field in fields.all:
        if {"time", "order", "begins", "ends"} & find_places(field.monoid.value):
            raise refuse(
                f"running() of a stream with {field.facts.label}",
                "takes when events end, if only to decide ties, which is not known of those that "
                "are running",
                "ask for counts, sums, means, least and greatest values, or of structs: "
                "agg.max(F.struct('price', 'item'))",
            )
    name, stop = fields.add_argument(unended.id), fields.add_argument(bound.time)
    given = [*bound.instants, f"{stop} is null as running", f"cast({name} as string) as id"]
    rows = select_values(bound, fields, given)
    # Between two windows it counts as if it went on to the next: what is running will, and a row
    # that says it did not has to be known.
    last = f"if(running, {RUNNING}L, last_at) as last"
    rows = rows.selectExpr(
        *bound.keys, "first_at", f"first_at + {longest_slide(bound.grids)}L as last_at", last, "id",
        *partials_of_rows(rows, fields.all),
    )  # fmt: skip
    known = as_instant(bound.coordinate, first_event_end(bound.queries.deciding_grids))
    names = [field.name for field in fields.all]
    # Whether a row is late is for the operator to say, which knows what it has of an event.
    rows = rows.selectExpr(
        *bound.keys, f"{RUNNING}L as t", f"{known} as known", "first_at as place", "last", "id",
        *names,
    )  # fmt: skip
    early = bound.early is not None

    def query(schema: pa.Schema, keys: int) -> UnendedQuery:
        return UnendedQuery(
            schema,
            keys,
            tuple(field.monoid for field in fields.all),
            bound.grids,
            early,
            bound.early or 0,
            unended.longest,
            clock=clock_of(bound.df.sparkSession, bound.coordinate),
        )

    found = run_operator(
        bound, fields, rows, query, what=WHAT, mode="update" if early else "append",
        numbers=["query", "start", "final"], values=names,
        early=early, every=bound.early, longest=unended.longest,
    )  # fmt: skip
    kept = ["final"] if early else []
    return found.selectExpr(*bound.keys, *bound.query_columns, "start", *kept, *names)
