"""Several windows over a stream of events that last: one state of cells for all queries.

    events -> cells -> (nodes ->) windows of every query

A cell is complete when the watermark has passed the end of the first window, of any query, that its
events are in. So an event is late in all of its windows or in none.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.plan.spanning_several import SeveralPlan
from fanlight.spark.fields import Fields
from fanlight.spark.granular.results import start_column
from fanlight.spark.sliding.stream import ending
from fanlight.spark.spanning.rollup import again, first, last, noded, others, pushed
from fanlight.spark.spanning.several.binding import SeveralBound
from fanlight.spark.spanning.several.events import (
    ENDS,
    apart,
    copies,
    end_by,
    events,
    slotted,
    soonest,
    start_by,
)


def windows(bound: SeveralBound, fields: Fields, plan: SeveralPlan) -> DataFrame:
    """One row a key, query and window, once complete: keys, ``q``, ``end``, ``w``, partials."""
    keys, kept = bound.keys, fields.all
    rows, place = events(bound, fields), [*keys, "q", "end"]
    if plan.chosen.strategy == "aggregate-buckets":
        found = copies(bound, rows)
        found = ending(bound, found, end_by(bound, "w"), others(found, []))
        parts = first(found, [*place, "w"], kept, start_by(bound, "w"))
        return last(parts, [*place, "w"], kept).selectExpr(*_columns(bound, fields))
    rows = slotted(bound, rows)
    rows = ending(bound, rows, soonest(bound), others(rows, []))
    rows = rows.filter("end is not null")
    parts = first(rows, [*keys, *ENDS, "end"], kept, "l")
    if plan.chosen.rollup == "copies":
        found = copies(bound, parts)
    else:
        spread = noded(apart(bound, parts), [*keys, "q"])
        at = end_by(bound, "shiftleft(node, j)")
        spread = ending(bound, spread, at, others(spread, []))
        nodes = again(spread, [*keys, "q", "j", "node", "end"], kept)
        found = pushed(nodes, [*keys, "q"])
    found = ending(bound, found, end_by(bound, "w"), others(found, ["w"]))
    parts = last(again(found, place, kept), place, kept)
    return parts.selectExpr(*_columns(bound, fields))


def _columns(bound: SeveralBound, fields: Fields) -> list[str]:
    names = [field.name for field in fields.all]
    return [*bound.keys, "q", "end", f"{start_column(bound)} as w", *names]
