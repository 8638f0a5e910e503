"""Windows that time places, given while they are open: one stateful operator, in update mode.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers: those that have changed, and those that are complete.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.operators.open_windows import DIRTY, OpenQuery
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.plan.grid import Grid
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.coordinates import as_instant
from fanlight.engine.spark.cuts import slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import (
    first_end,
    first_event_end,
    numbered_start_by,
    window_end_by,
    window_start_by,
    windows_of_event,
)
from fanlight.engine.spark.lasting import ENDS, lift_copies, select_to_copy
from fanlight.engine.spark.lift import (
    drop_rows_in_gaps,
    lift_each_row,
    partials_of_rows,
)
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import run_operator
from fanlight.engine.spark.ordered.unended_windows import give_with_running


def give_early(bound: Placed, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``, with ``final``: 1 once, at their end.

    Windows of events that may be running are made here also where they are given once.
    """
    if isinstance(bound, Lasting):
        if bound.unended is not None:
            return give_with_running(bound, bound.unended, fields)
        return _give_events(bound, fields)
    return _give_points(bound, fields)


def _give_points(bound: Placed, fields: Fields) -> DataFrame:
    """Rows go into the pieces of time that windows share."""
    lifted, partials, _ = lift_each_row(bound, fields)
    rows = drop_rows_in_gaps(bound, lifted)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    late = f"{as_instant(bound.coordinate, first_end(bound.queries.deciding_grids, 't'))} as t"
    piece = f"{slice_start(granules_of(bound.grids), 't')} as piece"
    rows = rows.selectExpr(*bound.keys, late, piece, *partials, "1L as dirty")
    return _run(bound, fields, rows, bound.grids)


def _give_events(bound: Placed, fields: Fields) -> DataFrame:
    """An event goes into each of its windows, which are all given when it has come.

    So the pieces are the windows of each query themselves, one long each and told by where they
    end: what ends a coordinate later is another piece.
    """
    events = select_to_copy(bound, fields)
    end = as_instant(bound.coordinate, first_event_end(bound.queries.deciding_grids))
    late = f"{end} as known"
    known = events.df.selectExpr("*", late).filter("known is not null")
    copies = events.with_df(known, *ENDS, "known").with_places(
        "known", windows_of_event(bound.grids), place=["known", "query", "number"]
    )
    copies = lift_copies(bound, fields, copies)
    names = [field.name for field in fields.all]
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
    monoids = (*(field.monoid for field in fields.all), DIRTY)

    def query(schema: pa.Schema, keys: int) -> OpenQuery:
        clock = clock_of(bound.df.sparkSession, bound.coordinate)
        return OpenQuery(schema, keys, monoids, grids, bound.early or 0, clock=clock)

    return run_operator(
        bound, fields, rows, query, what="windows given early", mode="update", which=which,
        numbers=["query", "start", "final"], values=[field.name for field in fields.all],
        every=bound.early,
    )  # fmt: skip
