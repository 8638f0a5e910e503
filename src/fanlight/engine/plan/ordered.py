"""Candidates for windows that rows decide: frames, and progressive widening.

Costs are those of a row, in nanoseconds of one core, measured by
``python -m benchmarks --only frames``.
"""

from __future__ import annotations

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate, Plan, choose
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.widening import Level, bound

FRAME_STRATEGIES = (ways.NATIVE, ways.ARROW)
BY_PYTHON = ("distinct", "logical")

SORTED = 460.0  # a row shuffled by its key, and sorted
PASSED = 100.0  # through Arrow and a compiled loop
CALLED = 2_000.0  # through a loop in Python
RETURNED = 150.0  # out of Python again with the number of its frame, and into its group
COMPARED = 280.0  # compared with its neighbours, counted, and into its group
STARTED = 200_000_000.0  # Python workers, and their first rows, however few there are


def frame_plan(
    scheme: Scheme,
    *,
    streaming: bool,
    by_spark: bool = False,
    strategy: ways.Strategy = ways.AUTO,
    rows: float | None = None,
) -> Plan[Scheme]:
    """How frames are found: in a pass of the rows through Python, or in Spark SQL alone.

    ``by_spark`` says that aggregates are not computed in that pass, so that rows have to leave it
    with the numbers of their frames; ``rows`` how many there are in a batch, where that is known.
    """
    cost = SORTED + (CALLED if scheme.kind in BY_PYTHON else PASSED)
    cost += RETURNED if by_spark and not streaming else 0.0
    cost += STARTED / max(rows, 1.0) if rows is not None else 0.0
    passed = ways.FRAMES_IN_OPERATOR if streaming else ways.FRAMES_IN_A_PASS
    why = _not_native(scheme, streaming=streaming)
    return choose(
        [
            Candidate(ways.ARROW, passed, scheme, cost),
            Candidate(ways.NATIVE, ways.FRAMES_COMPARED, scheme, SORTED + COMPARED, why),
        ],
        strategy,
    )


def _not_native(scheme: Scheme, *, streaming: bool) -> str:
    """Why Spark SQL cannot find the frames by comparing rows; empty if it can."""
    if streaming:
        return "it is for batches; in a stream a stateful operator puts rows in order"
    if scheme.overlapping:
        return "frames of a double boundary share rows"
    if scheme.timing and (scheme.timing.cap is not None or scheme.kind != "every"):
        return "a row and the rows before it do not say when their frame began"
    if scheme.kind not in ("every", "flags", "cells"):
        return (
            "only threshold and boundary frames, and sessions, can be found by comparing a row "
            "with the one before"
        )
    return ""


def widening_plan(levels: tuple[Level, ...], max_rows: int) -> Plan[tuple[Level, ...]]:
    """The only candidate of progressive widening; it costs what the search of its rows may cost."""
    cost = PASSED * bound(levels, max_rows)
    return choose([Candidate(ways.PAGES, ways.SEARCHED_PAGES, levels, cost)])
