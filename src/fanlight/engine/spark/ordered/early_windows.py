"""Windows that time places, given while they are open, or over events that may not have ended.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers: those that have changed, and those that are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import find_places
from fanlight.engine.operators.open_windows import DIRTY, OpenQuery
from fanlight.engine.operators.unended_events import RUNNING, UnendedQuery
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import Grid, longest_slide
from fanlight.engine.spark.binding.placed import Lasting, Placed, Unended
from fanlight.engine.spark.cuts import (
    numbered_start_by,
    slice_start,
    window_end_by,
    window_start_by,
    windows_of_event,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lasting import ENDS, lift_copies, select_to_copy
from fanlight.engine.spark.lift import (
    drop_rows_in_gaps,
    lift_each_row,
    partials_of_rows,
    select_values,
)
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import Hosted, alike, numbers, run_operator
from fanlight.engine.spec.errors import refuse

_WINDOW = numbers("query", "start", "final")


def give_early(bound: Placed, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``, with ``final``: 1 once, at their end.

    Windows of events that may be running are made here also where they are given once.
    """
    if isinstance(bound, Lasting):
        if bound.unended is not None:
            return _give_running(bound, bound.unended, fields)
        return _give_events(bound, fields)
    return _give_points(bound, fields)


def _give_points(bound: Placed, fields: Fields) -> DataFrame:
    """Rows go into the pieces of time that windows share."""
    lifted, partials, _ = lift_each_row(bound, fields)
    rows = drop_rows_in_gaps(bound, lifted)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    late = f"{bound.late_after} as t"
    piece = f"{slice_start(granules_of(bound.grids), 't')} as piece"
    rows = rows.selectExpr(*bound.keys, late, piece, *partials, "1L as dirty")
    return _run(bound, fields, rows, bound.grids)


def _give_events(bound: Placed, fields: Fields) -> DataFrame:
    """An event goes into each of its windows, which are all given when it has come.

    So the pieces are the windows of each query themselves, one long each and told by where they
    end: what ends a coordinate later is another piece.
    """
    events = select_to_copy(bound, fields)
    known = events.df.selectExpr("*", f"{bound.late_after} as known").filter("known is not null")
    copies = events.with_df(known, *ENDS, "known").with_places(
        "known", windows_of_event(bound.grids), place=["known", "query", "number"]
    )
    copies = lift_copies(bound, fields, copies)
    names = fields.names
    end = window_end_by(bound.grids, numbered_start_by(bound.grids, "number", "query"))
    rows = copies.df.selectExpr(
        *bound.keys, "query as which", "known as t", f"({end} - 1L) as piece",
        *partials_of_rows(copies.df, fields.all), "1L as dirty",
    )  # fmt: skip
    found = _run(bound, fields, rows, (Grid(1, 1),), ["which"])
    found = found.selectExpr(*bound.keys, "which as query", "start", "final", *names)
    start = f"({window_start_by(bound.grids, 'start + 1L')}) as start"
    return found.selectExpr(*bound.keys, "query", start, "final", *names)


def _run(
    bound: Placed,
    fields: Fields,
    rows: DataFrame,
    grids: tuple[Grid, ...],
    which: Sequence[str] = (),
) -> DataFrame:
    """The stateful operator over rows in pieces; ``which`` are keys besides the windows' own."""

    def query(schema: pa.Schema, keys: int) -> OpenQuery:
        return OpenQuery(
            schema, keys + len(which), (*fields.monoids, DIRTY), grids=grids,
            every=bound.early or 0, clock=clock_of(bound.df.sparkSession, bound.coordinate),
        )  # fmt: skip

    given = alike(*bound.keys, *which) | _WINDOW | alike(*fields.names)
    hosted = Hosted("windows given early", {"every": bound.early})
    return run_operator(bound, fields, rows, query, given, hosted)


def _give_running(bound: Lasting, unended: Unended, fields: Fields) -> DataFrame:
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
    names = fields.names
    # Whether a row is late is for the operator to say, which knows what it has of an event.
    rows = rows.selectExpr(
        *bound.keys, f"{RUNNING}L as t", f"{bound.late_after} as known",
        "first_at as place", "last", "id", *names,
    )  # fmt: skip
    early = bound.early is not None
    query = partial(
        UnendedQuery, monoids=fields.monoids, grids=bound.grids, early=early,
        every=bound.early or 0, longest=unended.longest,
        clock=clock_of(bound.df.sparkSession, bound.coordinate),
    )  # fmt: skip
    told = {"early": early, "every": bound.early, "longest": unended.longest}
    hosted = Hosted("windows of events that may be running", told)
    shown = alike(*bound.keys) | _WINDOW | alike(*names)
    found = run_operator(bound, fields, rows, query, shown, hosted)
    kept = ["final"] if early else []
    return found.selectExpr(*bound.keys, *bound.query_columns, "start", *kept, *names)
