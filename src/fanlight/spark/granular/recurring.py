"""Items that recur: seen in every interval [t_k, t_{k-1}) of the levels (IV.C of the paper).

An item's granules are counted once; where a granule joins the windows of the widest level, it sets
the bit of the level that it lies in there. An item recurs where all bits are set. Every set bit is
a row of Spark's hash table or state store; no item has an object of its own.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from fanlight.plan.granular import GranularPlan
from fanlight.spark.fields import Fields
from fanlight.spark.granular import stream
from fanlight.spark.granular.aging import rear, ring
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.granular.slices import end_of, rows_of, start_of
from fanlight.spark.sliding.batch import window_starts
from fanlight.spark.sql import grouped


def items(bound: GranularBound, plan: GranularPlan, column: Any, *, counts: bool) -> DataFrame:
    """Results: keys, ``l`` (level), ``a`` and ``x`` (start and end of the window), ``item``, ``n``.

    ``end`` beside them in a stream.
    """
    from fanlight.plan.cut import panes

    fields = Fields()
    fields.arguments[column] = "x0"
    fields.values["x0"] = "v0"
    keys, streaming = bound.keys, bound.df.isStreaming
    levels = len(bound.levels.ranges)
    widest = bound.axes[levels - 1]
    rows = rows_of(bound, fields)
    count = [("n", "count(v0)")]  # 0 for nulls, which are no items but move the watermark
    if streaming:
        rows = stream.ending(bound, rows, end_of(plan.granules, "t"), [*keys, "v0"])
        seen = grouped(rows, [*keys, "v0", "end"], count)
        place, last = stream.place(bound, plan), stream.last(bound)
        seen = seen.filter("n > 0").selectExpr(*keys, "v0", "n", f"{place} as p", f"{last} as z")
    else:
        rows = rows.selectExpr(*keys, "v0", f"{start_of(plan.granules, 't')} as p")
        seen = grouped(rows, [*keys, "v0", "p"], count)
        seen = seen.filter("n > 0").selectExpr("*", f"{end_of(plan.granules, 'p')} - 1L as z")
    ends = f"transform({window_starts(panes(widest.grid), 'z')}, w -> w + {widest.range}L)"
    copies = seen.selectExpr(*keys, "v0", "n", "p", f"explode({ends}) as x")
    copies = copies.selectExpr(*keys, "v0", "n", "x", f"{ring(bound, 'p', 'x')} as ring")
    copies = copies.filter("ring is not null")
    group = [*keys, "v0", "x"]
    if streaming:
        copies = stream.ending(bound, copies, "x", [*keys, "v0", "n", "ring"])
        group = [*keys, "v0", "end"]
    texts = [("bits", "bit_or(shiftleft(1L, ring))")]
    if counts:
        texts += [(f"n{k}", f"sum(if(ring <= {k}, n, 0L))") for k in range(levels)]
    found = grouped(copies, group, texts).filter(f"bits = {2**levels - 1}L")
    if streaming:
        from fanlight.spark.coordinates import coordinate

        found = found.selectExpr("*", f"{coordinate(bound.coordinate, 'end')} as x")
    told = range(levels) if counts else [levels - 1]
    starts = [_start(bound, k) for k in told]
    reports = ", ".join(
        f"named_struct('l', {k}, 'a', {start}, 'n', {f'n{k}' if counts else '1L'})"
        for k, start in zip(told, starts, strict=True)
    )
    kept = [*keys, "x", "v0 as item", *(["end"] if streaming else [])]
    return found.selectExpr(*kept, f"inline(array({reports}))")


def _start(bound: GranularBound, level: int) -> str:
    start = rear(bound, level, "x")
    return start if bound.since is None else f"greatest({start}, {bound.since}L)"
