"""The plan of several windows over events that last: what they share, and what that saves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.plan import cost
from fanlight.plan.axis import Axis
from fanlight.plan.choice import cannot, known
from fanlight.plan.sliding import FieldFacts
from fanlight.plan.spanning import (
    CELL,
    MARK,
    NODE,
    PAPER,
    STATE,
    STRETCH,
    Rollup,
    SpanningCandidate,
    SpanningLoad,
    expanded,
    marked_partials,
    rolled,
)
from fanlight.spec.errors import refuse

STRATEGIES = ("auto", "levels", "cells", "aggregate-buckets", "separate")


@dataclass(frozen=True)
class SeveralPlan:
    """The chosen candidate beside the others; costs are those of a SLIDE of the first windows."""

    axes: tuple[Axis, ...]
    streaming: bool
    chosen: SpanningCandidate
    candidates: tuple[SpanningCandidate, ...]
    loads: tuple[SpanningLoad, ...]
    forced: bool


def check_several_strategy(strategy: object) -> str:
    """The strategy by its name; an error lists the names."""
    if strategy in PAPER and strategy not in STRATEGIES:
        names = ", ".join(map(repr, STRATEGIES))
        raise refuse(
            f"using({strategy!r})",
            "works for one kind of windows at a time",
            f"use one of {names}, or an fl.over for each fl.Sliding",
        )
    return known(strategy, STRATEGIES, of=" for several windows")


def plan_several(
    axes: Sequence[Axis],
    fields: Sequence[FieldFacts],
    loads: Sequence[SpanningLoad],
    *,
    strategy: str = "auto",
    streaming: bool = False,
    together: str = "",
) -> SeveralPlan:
    """Choose by estimated cost; ``together`` says why the windows cannot be computed apart."""
    shares = [axes[0].slide / axis.slide for axis in axes]  # slides of theirs a slide of the first
    parts = list(zip(shares, loads, strict=True))
    candidates = (_stream if streaming else _batch)(fields, parts)
    alone = math.inf if streaming else _separate(fields, parts)
    candidates = (*candidates, SpanningCandidate("separate", "none", alone, together))
    # Apart only where it is asked for: what another pass over the source costs is not known.
    wanted = STRATEGIES[1:-1] if strategy == "auto" else (strategy,)
    fitting = [c for c in candidates if c.strategy in wanted and not c.refused]
    if not fitting:
        why = together
        if strategy == "levels":
            why = "the two marks of an event become due at different times, so a stream keeps cells"
        raise cannot(strategy, why)
    chosen = min(fitting, key=lambda candidate: candidate.cost)
    return SeveralPlan(tuple(axes), streaming, chosen, candidates, tuple(loads), strategy != "auto")


Parts = Sequence[tuple[float, SpanningLoad]]


def _batch(fields: Sequence[FieldFacts], parts: Parts) -> tuple[SpanningCandidate, ...]:
    running = all(field.running for field in fields)
    way: Rollup = "runs" if running else "nodes"
    events, cells = parts[0][1].events, _cells(parts)
    counted = cost.COLLECTED if any(field.counted for field in fields) else 0.0
    rows = cost.READ * events
    shared = rows + CELL * events + cost.PARTIAL * cells
    levels, marks, copied, buckets = rows, shared, shared, rows
    for share, load in parts:
        roll = cost.PARTIAL * marked_partials(load) + rolled(load, running=running)
        levels += 2.0 * MARK * events + share * roll
        marks += 2.0 * MARK * cells + share * roll
        copied += (STRETCH + counted) * cells * load.windows + share * cost.PARTIAL * load.groups
        buckets += share * expanded(fields, load)
    return (
        SpanningCandidate("levels", way, levels),
        SpanningCandidate("cells", way, marks),
        SpanningCandidate("cells", "copies", copied),
        SpanningCandidate("aggregate-buckets", "none", buckets),
    )


def _stream(fields: Sequence[FieldFacts], parts: Parts) -> tuple[SpanningCandidate, ...]:
    del fields
    cells = _cells(parts)
    copies = nodes = CELL * parts[0][1].events + STATE * cells
    for share, load in parts:
        kept = share * STATE * load.groups
        copies += STRETCH * cells * load.windows + kept
        nodes += NODE * cells + STRETCH * cells * load.levels + 5.0 * kept
    return (
        SpanningCandidate("cells", "copies", copies),
        SpanningCandidate("cells", "nodes", nodes),
        # Late events would count in some of their windows: never chosen, only asked for.
        SpanningCandidate("aggregate-buckets", "none", math.inf),
    )


def _separate(fields: Sequence[FieldFacts], parts: Parts) -> float:
    """Each by itself, the best way that it knows; the source is read once for each."""
    alone = 0.0
    for part in parts:
        one = min(candidate.cost for candidate in _batch(fields, [(1.0, part[1])]))
        alone += part[0] * one
    return alone


def _cells(parts: Parts) -> float:
    """Distinct cells a SLIDE of the first windows: slots are as wide as the shortest slide."""
    return min(share * load.cells for share, load in parts if share * load.cells > 0.0)
