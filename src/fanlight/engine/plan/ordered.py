"""Candidates for data-driven windows: frames, and progressive widening."""

from __future__ import annotations

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate, Plan, choose_candidate
from fanlight.engine.plan.cost import points
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.widening import Level, bound_on_work

FRAME_STRATEGIES = (ways.NATIVE, ways.ARROW)
BY_PYTHON = ("distinct", "logical")


def plan_frames(
    scheme: Scheme,
    *,
    streaming: bool,
    by_spark: bool = False,
    strategy: ways.Strategy = ways.AUTO,
    rows: float | None = None,
    incomparable: str = "",
) -> Plan[Scheme]:
    """The plan of frames: found by a pass of the rows through Python, or by Spark SQL alone.

    ``by_spark`` says that aggregates are not computed in that pass, so that rows have to leave it
    with the numbers of their frames; ``rows`` how many there are in a batch, where that is known.
    ``incomparable`` says why rows cannot be compared in Python; empty if they can.
    """
    returned = by_spark and not streaming
    cost = points.row_pass(by_python=scheme.kind in BY_PYTHON, returned=returned)
    cost += points.worker_overhead(rows)
    way = ways.FRAMES_IN_OPERATOR if streaming else ways.FRAMES_IN_A_PASS
    why = _why_not_native(scheme, streaming=streaming)
    return choose_candidate(
        [
            Candidate(ways.ARROW, way, scheme, cost, incomparable),
            Candidate(ways.NATIVE, ways.FRAMES_COMPARED, scheme, points.comparison(), why),
        ],
        strategy,
    )


def _why_not_native(scheme: Scheme, *, streaming: bool) -> str:
    """Explain why Spark SQL cannot find the frames by comparing rows. Empty if it can."""
    if streaming:
        return "it is for batches; in a stream a stateful operator puts rows in order"
    if scheme.kind == "dwell":
        return "only later rows say how long a predicate goes on holding"
    if scheme.overlapping:
        return "frames that overlap share rows"
    cut = scheme.timing and (scheme.timing.cap is not None or scheme.kind != "every")
    if cut or scheme.max_rows:
        return "a row and the rows before it do not say when their frame began"
    if scheme.kind not in ("every", "flags", "cells", "states"):
        return (
            "only threshold, boundary and state frames, and sessions, can be found by comparing a "
            "row with the one before"
        )
    return ""


def plan_widening(levels: tuple[Level, ...], max_rows: int) -> Plan[tuple[Level, ...]]:
    """The plan of progressive widening: one candidate, whose cost is the bound on its search."""
    cost = points.search(bound_on_work(levels, max_rows))
    return choose_candidate([Candidate(ways.PAGES, ways.SEARCHED_PAGES, levels, cost)])
