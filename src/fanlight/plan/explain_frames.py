"""What ``explain()`` says of frames: what ends them, what is guaranteed, what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.frames import Scheme
from fanlight.spec.frames import Frame

_ENDS = {
    "flags": "at the first row for which the predicate does not hold",
    "latches": "at the first row for which close holds",
    "cells": "at the first row in another cell",
    "deltas": "once a value has changed by its delta",
    "limits": "once an aggregate has reached its limit",
    "distinct": "once an aggregate has reached its limit",
    "logical": "when the function close says so",
}
_BY_PYTHON = ("distinct", "logical")


def explain_frames(
    spec: Frame,
    scheme: Scheme,
    time: str,
    by: Sequence[str],
    *,
    streaming: bool,
    by_spark: bool,
    native: bool = False,
) -> str:
    """The framing in words."""
    keys = f" by {', '.join(by)}" if by else ""
    ends = _ENDS[scheme.kind]
    if scheme.overlapping:
        ends = "at the first row outside of two neighbouring cells; frames may overlap"
    if scheme.crossing:
        ends += "; the row that does it is the frame's last"
    how = "row by row in Python" if scheme.kind in _BY_PYTHON else "a compiled loop, O(1) a row"
    if streaming:
        run = (
            "one stateful operator; rows wait for the watermark and are put in order; it keeps one "
            "partial a key and field"
        )
    elif native:
        how = "each row beside the one before it, and a running count, in Spark SQL (asked for)"
        run = "one shuffle by key, one sort by key and time; no row goes through Python"
    else:
        run = "one shuffle by key, one sort by time, one pass"
    aggregates = "put together in the same pass"
    if native:
        aggregates = "grouped by Spark"
    elif by_spark and not streaming:
        aggregates = "grouped by Spark over rows that carry the number of their frame"
    return "\n".join((
        f"{spec!r} over {time!r}{keys}, {'stream' if streaming else 'batch'}",
        f"  a frame ends  {ends}",
        f"  guaranteed    {', '.join(sorted(spec.guarantees))}",
        f"  framing       {how}",
        f"  run           {run}",
        f"  aggregates    {aggregates}",
    ))  # fmt: skip
