"""The plan of a sliding window: which cut, which roll-up, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fanlight.plan import cost
from fanlight.plan.axis import Axis
from fanlight.plan.choice import cheapest, known
from fanlight.plan.cut import Cut, pairs, panes

Strategy = Literal["auto", "panes", "pairs", "expand", "differential"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "panes", "pairs", "expand", "differential")
Rollup = Literal["none", "scan", "blocks", "difference", "copies", "expand", "operator"]


@dataclass(frozen=True)
class FieldFacts:
    """What a choice has to know of one field of a partial."""

    label: str  # the aggregate that it belongs to
    running: bool
    invertible: bool
    why_not: str = ""  # why it cannot be taken back
    counted: bool = False  # keeps every distinct value with its count


@dataclass(frozen=True)
class Candidate:
    """One way to compute the windows, with its estimated cost a window."""

    strategy: Strategy
    cut: Cut | None
    rollup: Rollup
    cost: float
    refused: str = ""


@dataclass(frozen=True)
class SlidingPlan:
    """The chosen candidate beside the others."""

    axis: Axis
    streaming: bool
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    workload: cost.Workload
    forced: bool


_NO_PANES = "where a window ends at every row there are no panes to share"


def check_strategy(strategy: object) -> Strategy:
    """The strategy by its name; an error lists the names."""
    return known(strategy, STRATEGIES)


def plan_sliding(
    axis: Axis,
    fields: Sequence[FieldFacts],
    *,
    strategy: Strategy = "auto",
    workload: cost.Workload | None = None,
    streaming: bool = False,
    by_tuple: bool = False,
    ordered: bool = False,
) -> SlidingPlan:
    """Choose among the techniques by estimated cost, or take the one that is asked for."""
    work = workload or cost.Workload()
    if ordered and streaming:
        build = _operator
    elif by_tuple:
        build = _by_tuple
    else:
        build = _stream if streaming else _batch
    candidates = tuple(build(axis, fields, work))
    chosen = cheapest(candidates, strategy)
    return SlidingPlan(axis, streaming, chosen, candidates, work, strategy != "auto")


def _cuts(axis: Axis) -> list[tuple[Strategy, Cut]]:
    return [("panes", panes(axis.grid)), ("pairs", pairs(axis.grid))]


def _load(work: cost.Workload, cut: Cut) -> cost.Load:
    grid = cut.grid
    return cost.Load.of(work, cut.span, cut.step, min(grid.overlap, cut.span))


def _collected(fields: Sequence[FieldFacts]) -> int:
    return sum(not field.running for field in fields)


def _batch(axis: Axis, fields: Sequence[FieldFacts], work: cost.Workload) -> list[Candidate]:
    found = []
    collected = _collected(fields)
    # Rows that are numbered are slices already; there is nothing to count by value before.
    holistic = not axis.coordinate.counted and any(field.counted for field in fields)
    not_invertible = next((f for f in fields if not f.invertible), None)
    for name, cut in _cuts(axis):
        load = _load(work, cut)
        if cut.span == 1:
            found.append(Candidate(name, cut, "none", cost.slice_rows(load)))
            continue
        if holistic:
            found.append(Candidate(name, cut, "copies", cost.counts(load)))
            continue
        found.append(Candidate(name, cut, "scan", cost.scan(load, collected)))
        if any(field.running for field in fields):
            found.append(Candidate(name, cut, "blocks", cost.blocks(load, collected)))
    cut = pairs(axis.grid)
    refused = ""
    if not_invertible is not None:
        refused = f"{not_invertible.label} {not_invertible.why_not}"
    elif cut.span == 1:
        refused = "windows that do not overlap leave nothing to take back"
    load = _load(work, cut)
    found.append(Candidate("differential", cut, "difference", cost.difference(load), refused))
    expanded = _expand(axis, work)
    if holistic:
        expanded = replace(expanded, cost=cost.expanded_counts(_load(work, panes(axis.grid))))
    return [*found, expanded]


def _stream(axis: Axis, fields: Sequence[FieldFacts], work: cost.Workload) -> list[Candidate]:
    del fields
    found = []
    for name, cut in _cuts(axis):
        load = _load(work, cut)
        rollup: Rollup = "none" if cut.span == 1 else "copies"
        found.append(Candidate(name, cut, rollup, cost.copies(load)))
    refused = (
        "a stream's panes are combined in Spark's state store, which knows no order among windows "
        "to take one from the next"
    )
    found.append(Candidate("differential", None, "difference", 0.0, refused))
    found.append(_expand(axis, work))
    return found


def _operator(axis: Axis, fields: Sequence[FieldFacts], work: cost.Workload) -> list[Candidate]:
    """Rows counted in order over a stream: one operator numbers, cuts and rolls them up."""
    if not axis.coordinate.counted:
        names: tuple[Strategy, ...] = ("panes", "pairs", "expand", "differential")
        alone = Candidate("auto", None, "operator", 0.0)
        return [alone, *(Candidate(name, None, "operator", 0.0, _NO_PANES) for name in names)]
    del fields
    refused = "a stream's rows are put in order and counted by one operator, which has one way"
    found = []
    for name, cut in _cuts(axis):
        found.append(Candidate(name, cut, "operator", cost.difference(_load(work, cut))))
    other: tuple[Strategy, ...] = ("differential", "expand")
    return found + [Candidate(name, None, "operator", 0.0, refused) for name in other]


def _expand(axis: Axis, work: cost.Workload) -> Candidate:
    load = _load(work, panes(axis.grid))
    return Candidate("expand", panes(axis.grid), "expand", cost.expand(load))


def _by_tuple(axis: Axis, fields: Sequence[FieldFacts], work: cost.Workload) -> list[Candidate]:
    """Every row ends a window: there are no panes to share (Li et al., section 1, Query 2)."""
    del axis
    rows = max(work.rows_per_slide, 1.0)
    load = cost.Load(rows, max(int(rows), 2), 1, 1.0, 1.0)
    collected = _collected(fields)
    not_invertible = next((f for f in fields if not f.invertible), None)
    refused = "" if not_invertible is None else f"{not_invertible.label} {not_invertible.why_not}"
    found = [
        Candidate("panes", None, "scan", 0.0, _NO_PANES),
        Candidate("pairs", None, "scan", 0.0, _NO_PANES),
        Candidate("expand", None, "scan", cost.scan(load, collected)),
        Candidate("differential", None, "difference", cost.difference(load), refused),
    ]
    if any(field.running for field in fields):
        # No choice of its own to force: "auto" takes it where scanning would cost more.
        found.append(Candidate("auto", None, "blocks", cost.blocks(load, collected)))
    return found
