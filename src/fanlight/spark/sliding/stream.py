"""Sliding windows over a stream: chained native aggregations in append mode.

rows -> slices (PLQ) -> windows (WLQ), each a ``groupBy`` that Spark keeps in its state store and
emits once the watermark has passed. Spark drops and counts late rows, and resumes from the
checkpoint. State: the open slices, and a partial for each window of theirs that is still open.

Slices and windows are grouped by their end as an event-time column: computed timestamps carry the
watermark on in their metadata, so the next aggregation knows when it is complete.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut
from fanlight.plan.sliding import SlidingPlan
from fanlight.spark import result
from fanlight.spark.bound import Bound
from fanlight.spark.coordinates import coordinate, restored
from fanlight.spark.fields import Fields, merged, selected, types_of
from fanlight.spark.slices import lifted
from fanlight.spark.sliding.batch import window_starts
from fanlight.spark.sliding.binding import Ranged, SlidingBound
from fanlight.spark.sql import event_time, grouped
from fanlight.spark.times import in_window, slice_end, slice_start


def sliding(bound: SlidingBound, fields: Fields, plan: SlidingPlan) -> DataFrame:
    """One row a key and window, once the watermark has passed the window's end."""
    cut = plan.chosen.cut
    if cut is None:
        msg = "a plan without a cut reached the streaming path"
        raise AssertionError(msg)
    rows = selected(bound, fields)
    inside = in_window(cut, "t")
    rows = rows.filter(inside) if inside else rows
    values, keys = list(fields.values.values()), bound.keys
    if plan.chosen.strategy == "expand":
        rows = rows.selectExpr(*keys, f"explode({window_starts(cut, 't')}) as w", *values)
        rows = ending(bound, rows, f"w + {cut.grid.range}L", [*keys, *values])
        origin = f"({coordinate(bound.coordinate, 'end')} - {cut.grid.range}L)"
        return finished(bound, fields, lifted(rows, [*keys, "end"], fields.all, origin))
    rows = ending(bound, rows, slice_end(cut, "t"), [*keys, *values])
    slices = lifted(rows, [*keys, "end"], fields.all, _origin(bound, cut))
    if cut.span == 1:
        return finished(bound, fields, slices)
    return finished(bound, fields, _windows(bound, fields, slices, cut))


def _origin(bound: Bound, cut: Cut) -> str:
    """SQL: the start of the slice that ends at ``end``."""
    end = coordinate(bound.coordinate, "end")
    if cut.span == 1:
        return f"({end} - {cut.grid.range}L)"
    return slice_start(cut, f"({end} - 1L)")


def ending(bound: Bound, rows: DataFrame, end: str, others: Sequence[str]) -> DataFrame:
    """Rows with their window's or slice's end (coordinate ``end``) as event time."""
    ends = event_time(rows, restored(bound.coordinate, f"({end})"), "end", bound.delay)
    return rows.select(*others, ends)


def _windows(bound: SlidingBound, fields: Fields, slices: DataFrame, cut: Cut) -> DataFrame:
    """Each slice's partial joins the windows that it lies in."""
    keys, names = bound.keys, [field.name for field in fields.all]
    types = types_of(slices, fields.all)
    last = f"({coordinate(bound.coordinate, 'end')} - 1L)"
    copies = slices.selectExpr(*keys, f"explode({window_starts(cut, last)}) as w", *names)
    copies = ending(bound, copies, f"w + {cut.grid.range}L", [*keys, *names])
    results = [(field.name, merged(field, types[field.name])) for field in fields.all]
    return grouped(copies, [*keys, "end"], results)


def finished(bound: Ranged, fields: Fields, windows: DataFrame) -> DataFrame:
    """Partials lowered, of windows whose event time is ``end``."""
    start = f"({coordinate(bound.coordinate, 'end')} - {bound.axis.range}L)"
    begin = restored(bound.coordinate, start)
    return result.finished(bound, windows, begin, "end", result.lowered(fields, start))
