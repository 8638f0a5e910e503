"""Candidates of windows that rows cut: frames, and windows that widen.

Costs are a row's, in nanoseconds of one core, after ``python -m benchmarks --only frames``.
"""

from __future__ import annotations

from fanlight.plan.candidate import Candidate, Plan, choose
from fanlight.plan.frames import Scheme
from fanlight.plan.widening import Level, bound

FRAME_STRATEGIES = ("auto", "native", "arrow")
BY_PYTHON = ("distinct", "logical")

SORTED = 460.0  # a row shuffled by its key, and sorted
PASSED = 100.0  # through Arrow and a compiled loop
CALLED = 2_000.0  # through a loop in Python
RETURNED = 150.0  # out of Python again with its frame's number, and into its group
BESIDE = 280.0  # beside its neighbours, in the running count, and into its group


def frame_plan(
    scheme: Scheme, *, streaming: bool, by_spark: bool = False, strategy: str = "auto"
) -> Plan[Scheme]:
    """How frames are found: in the pass of rows through Python, or in Spark SQL alone.

    ``by_spark`` says whether aggregates are not put together in that pass, so that rows have to
    leave it with the numbers of their frames.
    """
    cost = SORTED + (CALLED if scheme.kind in BY_PYTHON else PASSED)
    cost += RETURNED if by_spark and not streaming else 0.0
    rollup = "operator" if streaming else "one pass"
    native = Candidate(
        "native", scheme, rollup="running count", cost=SORTED + BESIDE,
        refused=_not_native(scheme, streaming=streaming),
    )  # fmt: skip
    return choose([Candidate("arrow", scheme, rollup=rollup, cost=cost), native], strategy)


def _not_native(scheme: Scheme, *, streaming: bool) -> str:
    """Why frames are not seen from neighbouring rows alone; empty where they are."""
    if streaming:
        return "it is for batches: a stream's rows are put in order by a stateful operator"
    if scheme.overlapping:
        return "double-boundary frames share rows"
    if scheme.timing and (scheme.timing.cap is not None or scheme.kind != "every"):
        return "a row and those before it do not tell when their frame began"
    if scheme.kind not in ("every", "flags", "cells"):
        return (
            "only threshold and boundary frames, and sessions, are seen from a row and the one "
            "before it"
        )
    return ""


def widening_plan(
    levels: tuple[Level, ...], max_rows: int, strategy: str = "auto"
) -> Plan[tuple[Level, ...]]:
    """The one way to widen windows; its cost is that of the rows which a search may visit."""
    cost = PASSED * bound(levels, max_rows)
    return choose([Candidate("pages", levels, rollup="by level", cost=cost)], strategy)
