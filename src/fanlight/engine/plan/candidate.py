"""Candidates: the ways to compute windows, each with its cost, and the choice between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from fanlight.engine.plan import ways
from fanlight.engine.plan.cost import points
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.ways import AUTO, Lift, Rollup, Strategy, Way, has_compiler
from fanlight.engine.plan.widening import Level, bound_on_work
from fanlight.engine.spec.errors import FanlightError, refuse

Cut = TypeVar("Cut")


@dataclass(frozen=True)
class Candidate(Generic[Cut]):
    """One way to compute windows, with its cut and estimated cost.

    ``strategy`` is what ``using(...)`` takes, ``cut`` what time (or the rows in order) is cut into,
    if it is. ``refused`` says why it cannot be used, and is empty if it can. One that is ``forced``
    is never chosen by ``"auto"``: it runs only if it is asked for.
    """

    strategy: Strategy
    way: Way
    cut: Cut | None = None
    cost: float = 0.0  # estimated, in nanoseconds of one core; only ratios matter
    refused: str = ""
    forced: bool = False

    @property
    def name(self) -> str:
        """The strategy and its roll-up, as ``explain()`` lists it."""
        return f"{self.strategy} ({self.rollup})" if self.rollup.name else self.strategy.name

    @property
    def is_automatic(self) -> bool:
        """Whether ``"auto"`` may choose it."""
        return not (self.refused or self.forced)

    @property
    def lift(self) -> Lift:
        """What rows become before they are rolled up."""
        return self.way.lift

    @property
    def rollup(self) -> Rollup:
        """How pieces become windows."""
        return self.way.rollup

    @property
    def pieces(self) -> Cut:
        """The cut; asked only of a way that has one."""
        if self.cut is None:
            raise AssertionError(self.name)
        return self.cut


@dataclass(frozen=True)
class Plan(Generic[Cut]):
    """All candidates, and the one that runs; ``forced`` if it was asked for."""

    candidates: tuple[Candidate[Cut], ...]
    chosen: Candidate[Cut]
    forced: bool

    @property
    def by_auto(self) -> Candidate[Cut]:
        """The candidate that ``"auto"`` chooses; the one that runs if no other fits."""
        fitting = [one for one in _list_for_auto(self.candidates) if one.is_automatic]
        return min(fitting, key=lambda candidate: candidate.cost, default=self.chosen)


def find_strategy(strategy: object, strategies: Sequence[Strategy], *, of: str = "") -> Strategy:
    """The strategy of a name; other names raise an error that lists all, and for what (``of``)."""
    known = {AUTO.name: AUTO, **{one.name: one for one in strategies}}
    if isinstance(strategy, str) and strategy in known:
        return known[strategy]
    raise refuse(
        f"using({strategy!r})",
        f"is not a strategy{of}",
        f"use one of {', '.join(map(repr, known))}",
    )


def choose_candidate(candidates: Sequence[Candidate[Cut]], strategy: Strategy = AUTO) -> Plan[Cut]:
    """The cheapest candidate of the strategy that fits; an error says why none does."""
    auto = strategy == AUTO
    candidates = _list_for_auto(candidates) if auto else candidates
    wanted = [c for c in candidates if c.strategy == strategy or (auto and not c.forced)]
    fitting = [c for c in wanted if not c.refused]
    if not fitting:
        raise strategy_error(strategy, wanted[0].refused)
    chosen = min(fitting, key=lambda candidate: candidate.cost)
    return Plan(tuple(candidates), chosen, not auto)


def _list_for_auto(candidates: Sequence[Candidate[Cut]]) -> Sequence[Candidate[Cut]]:
    """The candidates; without a compiler, those that need it are refused where another one fits."""
    if has_compiler() or all(one.way.compiled for one in candidates if one.is_automatic):
        return candidates
    why = "it needs numba, which is not installed here"
    return [
        replace(one, refused=one.refused or why) if one.way.compiled else one for one in candidates
    ]


def strategy_error(strategy: Strategy, why: str) -> FanlightError:
    """The error for a strategy that was asked for and cannot be used."""
    instead = "" if strategy == AUTO else "; use 'auto'"
    return FanlightError(f"using({strategy.name!r}) cannot compute this: {why}{instead}")


FRAME_STRATEGIES = (ways.NATIVE, ways.ARROW, ways.CHUNKS)
BY_PYTHON = ("distinct", "logical")
# What may be at a row of long before, and no other task finds by the rows at its ends.
ELSEWHERE = {
    "dwell": "a predicate may have begun to hold at",
    "latches": "whether a frame is open may have been decided by",
    "logical": "whether a frame is open may have been decided by",
}
# What of a row later ones decide.
LATER = {
    "dwell": "how long a predicate goes on holding",
    "pattern": "whether a row belongs to a match",
}
NEIGHBOURS = ("every", "flags", "cells", "states")  # a row and the one before say what it is in


def plan_frames(
    scheme: Scheme,
    *,
    streaming: bool,
    by_spark: bool = False,
    of_rows: bool = False,
    strategy: ways.Strategy = ways.AUTO,
    rows: float | None = None,
    keys: float | None = None,
    tasks: float | None = None,
    incomparable: str = "",
    undivided: str = "",
) -> Plan[Scheme]:
    """The plan of frames: found by a pass of the rows through Python, or by Spark SQL alone.

    ``by_spark`` says that aggregates are not computed in that pass, so that rows have to leave it
    with the numbers of their frames, and ``of_rows`` that these rows are the result; ``rows`` how
    many there are in a batch, ``keys`` how many keys they have, and ``tasks`` how many tasks run at
    a time, where that is known.
    ``incomparable`` says why rows cannot be compared in Python, and ``undivided`` why the rows of a
    key cannot be divided among tasks; empty if they can.
    """
    by_python, started = scheme.kind in BY_PYTHON, points.worker_overhead(rows)
    cost = points.row_pass(by_python=by_python, returned=by_spark and not streaming)
    # Where rows are divided, aggregates that are not numbers are combined in Python.
    divided = points.row_pass(by_python=by_python or by_spark, returned=False)
    idle = points.idle_share(keys, tasks)
    compared = points.comparison() * idle
    way = ways.FRAMES_IN_OPERATOR if streaming else ways.FRAMES_IN_A_PASS
    why = _why_not_native(scheme, streaming=streaming)
    return choose_candidate(
        [
            Candidate(ways.ARROW, way, scheme, cost * idle + started, incomparable),
            Candidate(ways.NATIVE, ways.FRAMES_COMPARED, scheme, compared, why),
            Candidate(
                ways.CHUNKS,
                ways.FRAMES_IN_CHUNKS,
                scheme,
                points.divided_pass(divided, rows, tasks, of_rows=of_rows) + started,
                incomparable or _why_not_divided(scheme, streaming=streaming) or undivided,
            ),
        ],
        strategy,
    )


def _why_not_divided(scheme: Scheme, *, streaming: bool) -> str:
    """Explain why frames of a chunk of rows cannot be joined with those of others.

    Empty if they can.
    """
    if streaming:
        return "it is for batches; in a stream the rows of a key come one after the other"
    far = bool(scheme.max_rows or (scheme.timing and scheme.timing.cap is not None))
    reasons = [
        (scheme.overlapping, "frames that overlap share rows"),
        (
            scheme.kind in ELSEWHERE,
            f"{ELSEWHERE.get(scheme.kind, '')} a row that another task has",
        ),
        (
            scheme.has_own_deadlines,
            (
                "each row has a gap of its own, as one in days of the calendar is, and the gap "
                "that reaches farthest may be that of a row that another task has"
            ),
        ),
        (
            far or scheme.kind not in NEIGHBOURS,
            (
                "where a frame began, or what its earlier rows say, decides where it ends, and "
                "another task may have those rows"
            ),
        ),
        (
            scheme.nulls in ("skip", "carry"),
            f"with nulls={scheme.nulls!r} the state of a row may be that of one long before it",
        ),
    ]
    return next((why for holds, why in reasons if holds), "")


def _why_not_native(scheme: Scheme, *, streaming: bool) -> str:
    """Explain why Spark SQL cannot find the frames by comparing rows. Empty if it can."""
    if streaming:
        return "it is for batches; in a stream a stateful operator puts rows in order"
    if scheme.kind in LATER:
        return f"only later rows say {LATER[scheme.kind]}"
    if scheme.overlapping:
        return "frames that overlap share rows"
    cut = scheme.timing and (scheme.timing.cap is not None or scheme.kind != "every")
    if cut or scheme.max_rows:
        return "a row and the rows before it do not say when their frame began"
    if scheme.kind not in NEIGHBOURS:
        return (
            "only threshold, boundary and state frames, and sessions, can be found by comparing a "
            "row with the one before"
        )
    return ""


def plan_widening(levels: tuple[Level, ...], max_rows: int) -> Plan[tuple[Level, ...]]:
    """The plan of progressive widening: one candidate, whose cost is the bound on its search."""
    cost = points.search(bound_on_work(levels, max_rows))
    return choose_candidate([Candidate(ways.PAGES, ways.SEARCHED_PAGES, levels, cost)])
