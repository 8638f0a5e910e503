"""What ``explain()`` says: the cut, the choice, and why."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan import cost
from fanlight.plan.coordinate import Coordinate
from fanlight.plan.cut import Cut
from fanlight.plan.explain import length
from fanlight.plan.sliding import Candidate, SlidingPlan
from fanlight.spec.sliding import Sliding

_HOW = {
    "none": "each window is one slice",
    "scan": "each window scans its slices (formula 3.1)",
    "difference": "running totals, what comes less what goes (formula 3.2)",
    "blocks": "suffix of one block and prefix of the next, constant work a slice",
    "copies": "each slice's partials join the windows that it lies in",
    "operator": "an operator orders the rows, cuts and rolls them up, each partial touched twice",
    "expand": "each row is copied into each of its windows (formula 3.3)",
}


def explain_sliding(
    plan: SlidingPlan, spec: Sliding, time: str, by: Sequence[str], labels: Sequence[str]
) -> str:
    """The plan in words, with a table of the candidates' costs."""
    mode = "stream" if plan.streaming else "batch"
    keys = f" by {', '.join(by)}" if by else ""
    chosen = plan.chosen
    why = "asked for" if plan.forced else "cheapest by the cost model"
    lines = [
        f"{spec!r} over {time!r}{keys}, {mode}",
        f"  aggregates  {', '.join(labels)}",
        f"  cut         {cut_in_words(chosen.cut, spec, plan.axis.coordinate)}",
        f"  strategy    {chosen.strategy}: {_HOW[chosen.rollup]} ({why})",
        f"  workload    {_workload(plan.workload)}",
        "  candidates  estimated cost a window, beside the chosen one",
    ]
    ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.cost))
    lines.extend("    " + _line(candidate, chosen) for candidate in ranked)
    return "\n".join(lines)


def cut_in_words(cut: Cut | None, spec: Sliding, coordinate: Coordinate) -> str:
    """How wide slices are, and how many a window has."""
    if cut is None:
        return "none: every row ends a window, so no two rows share a slice"
    if cut.span == 1:
        gaps = " with gaps between them" if cut.gaps else ""
        return f"windows of {spec.range}{gaps}, one slice each"
    width = length(coordinate, cut.head)
    if cut.technique == "pairs":
        width = f"{width} and {length(coordinate, cut.grid.slide - cut.head)} in turn"
    return f"slices of {width}; {cut.span} a window, {cut.step} a SLIDE"


def _workload(work: cost.Workload) -> str:
    told = "assumed; tell using(rate=, groups=)" if work.assumed else "as told"
    return f"{work.rows_per_slide:,.0f} rows a SLIDE, {work.groups:,.0f} groups ({told})"


def _line(candidate: Candidate, chosen: Candidate) -> str:
    name = f"{candidate.strategy} ({candidate.rollup})"
    if candidate.refused:
        return f"{name:28} does not fit: {candidate.refused}"
    slices = "" if candidate.cut is None else f"   {candidate.cut.span} slices a window"
    ratio = candidate.cost / max(chosen.cost, 1e-9)
    mark = "   <- chosen" if candidate is chosen else ""
    return f"{name:28} {candidate.cost / 1000:12,.1f} µs {ratio:8.2f} x{slices}{mark}"
