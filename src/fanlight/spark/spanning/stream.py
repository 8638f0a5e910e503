"""Sliding windows over a stream of events that last: chained native aggregations in append mode.

    events -> cells (first window, last window) -> nodes -> windows

A cell is complete when the watermark has passed the end of its first window, and an event that
comes later than that is late: it is dropped whole and counted by Spark, never counted in some of
its windows only. The watermark stands on the stop, and its delay is the paper's time to postpone
(TTP): window ``[x, y)`` is released when an event has stopped at ``y + TTP``.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.plan.spanning import SpanningPlan
from fanlight.spark.fields import Fields
from fanlight.spark.sliding.stream import ending, finished
from fanlight.spark.spanning import ranges
from fanlight.spark.spanning.batch import ranged
from fanlight.spark.spanning.binding import SpanningBound
from fanlight.spark.spanning.rollup import again, first, last, noded, others, pushed


def spanning(bound: SpanningBound, fields: Fields, plan: SpanningPlan) -> DataFrame:
    """One row a key and window, once the watermark has passed the window's end."""
    axis, keys, kept = bound.axis, bound.keys, fields.all
    events = ranged(bound, fields)
    if plan.chosen.strategy == "aggregate-buckets":
        values = list(fields.values.values())
        copies = events.selectExpr(*keys, "explode(sequence(a, b)) as w", *values)
        copies = ending(bound, copies, _end(bound, "w"), [*keys, "w", *values])
        place = [*keys, "w", "end"]
        found = first(copies, place, kept, ranges.window_start(axis, "w"))
        return finished(bound, fields, last(found, place, kept))
    events = ending(bound, events, _end(bound, "a"), others(events, []))
    place, origin = [*keys, "a", "b", "end"], ranges.window_start(axis, "a")
    parts = first(events, place, kept, origin)
    if plan.chosen.rollup == "copies":
        rest = others(parts, place)
        copies = parts.selectExpr(*keys, "explode(sequence(a, b)) as w", *rest)
    else:
        levelled = parts.selectExpr("*", f"{ranges.level()} as h")
        spread = noded(levelled, keys)
        spread = ending(bound, spread, _end(bound, "shiftleft(node, j)"), others(spread, []))
        nodes = again(spread, [*keys, "j", "node", "end"], kept)
        copies = pushed(nodes, keys)
    copies = ending(bound, copies, _end(bound, "w"), others(copies, ["w"]))
    place = [*keys, "end"]
    return finished(bound, fields, last(again(copies, place, kept), place, kept))


def _end(bound: SpanningBound, window: str) -> str:
    """SQL: the end coordinate of a window."""
    return f"{ranges.window_start(bound.axis, window)} + {bound.axis.range}L"
