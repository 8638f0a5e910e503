"""Items that recur: seen in every interval [t_k, t_{k-1}) of the levels (IV.C of the paper).

An item's rows are counted by granule. In each window of the widest level that a granule is in, it
sets the bit of the finest level that holds it there. An item recurs if all bits are set.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import schema_of
from fanlight.engine.spark.coordinates import as_instant
from fanlight.engine.spark.cuts import slice_end, slice_start, window_end, window_starts
from fanlight.engine.spark.equality import (
    INSTEAD,
    WHY_NOT,
    collated,
    has_collation,
    has_normal_form,
    normal_form,
)
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_points
from fanlight.engine.spark.placed import stream
from fanlight.engine.spark.placed.aging import level_of_piece, subwindow_start
from fanlight.engine.spark.placed.sealing import seal
from fanlight.engine.spark.sql import group_rows, type_text
from fanlight.engine.spec.errors import refuse


def find_recurring(
    bound: Placed, chosen: Candidate[Pieces], column: Any, *, counts: bool
) -> DataFrame:
    """Results: keys, ``level``, ``start`` and ``upto`` of the window, ``item``, ``n``."""
    fields = Fields()
    fields.add_argument(column)
    (item,) = schema_of(bound.df, [("recurring", column)], "recurring")
    kind, streaming = item.dataType, bound.df.isStreaming
    if streaming and not has_normal_form(kind):
        raise refuse(
            f"recurring({item.name!r})", f"is of type {type_text(kind)}, {WHY_NOT}", INSTEAD
        )
    # Spark's state store refuses keys that have a collation.
    fields.values[normal_form("x0", kind, bare=streaming)] = "v0"
    cut, bound = (
        chosen.pieces.granules,
        seal(bound, fields, chosen, recurring=column, counts=counts),
    )
    keys = bound.keys
    levels = len(bound.levels.ranges)
    widest = bound.grids[levels - 1]
    rows = select_points(bound, fields)
    count = [("n", "count(v0)")]  # 0 for nulls, which are not items but move the watermark
    if streaming:
        rows = stream.place_in_pieces(bound, rows, cut, fields.lifting)
        seen = group_rows(rows, [*keys, "v0", "piece", "ending"], count)
    else:
        rows = rows.selectExpr(*keys, *fields.lifting, f"{slice_start(cut, 't')} as piece")
        seen = group_rows(rows, [*keys, "v0", "piece"], count)
    last = f"{slice_end(cut, 'piece')} - 1L as last_at"
    seen = seen.filter("n > 0").selectExpr(*keys, "v0", "n", "piece", last)
    ends = f"transform({window_starts(widest, 'last_at')}, w -> {window_end(widest, 'w')})"
    copies = seen.selectExpr(*keys, "v0", "n", "piece", f"explode({ends}) as upto")
    copies = copies.selectExpr(
        *keys, "v0", "n", "upto", f"{level_of_piece(bound, 'piece', 'upto')} as ring"
    )
    copies = copies.filter("ring is not null")
    group = [*keys, "v0", "upto"]
    if streaming:
        at = as_instant(bound.coordinate, "upto")
        copies = stream.select_with_ending(bound, copies, at, copies.columns)
        group = [*group, "ending"]
    texts = [("bits", "bit_or(shiftleft(1L, ring))")]
    if counts:
        texts += [(f"n{k}", f"sum(if(ring <= {k}, n, 0L))") for k in range(levels)]
    recurring = group_rows(copies, group, texts).filter(f"bits = {2**levels - 1}L")
    reported = range(levels) if counts else [levels - 1]
    seen_rows = {k: f"n{k}" if counts else "1L" for k in reported}
    reports = ", ".join(
        f"named_struct('level', {k}, 'start', {_subwindow_start(bound, k)}, 'n', {n})"
        for k, n in seen_rows.items()
    )
    if streaming and has_collation(kind):
        recurring = recurring.withColumn("v0", collated(recurring, "v0", kind))
    kept = [*keys, "upto", "v0 as item"]
    return recurring.selectExpr(*kept, f"inline(array({reports}))")


def _subwindow_start(bound: Placed, level: int) -> str:
    start = subwindow_start(bound, level, "upto")
    return start if bound.since is None else f"greatest({start}, {bound.since}L)"
