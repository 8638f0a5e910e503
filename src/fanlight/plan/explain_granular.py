"""What ``explain()`` says of several windows over one stream."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.explain import length
from fanlight.plan.granular import Branch, GranularPlan

_HOW = {
    "granules": "rows to shared granules, each level from the slices of a finer one",
    "chain": "granules into the stairwise chain: core and buffer nodes in one stateful operator",
    "separate": "each by itself; the source is read once for each",
}


def explain_granular(
    plan: GranularPlan,
    spec: object,
    label: str,
    labels: Sequence[int],
    time: str,
    by: Sequence[str],
    aggregates: Sequence[str],
) -> str:
    """The plan in words: granules, branches, and the estimated cost of each way."""
    mode = "stream" if plan.streaming else "batch"
    keys = f" by {', '.join(by)}" if by else ""
    shown = list(spec) if isinstance(spec, tuple) else spec
    why = "asked for" if plan.forced else "the first that fits"
    lines = [
        f"{shown!r} over {time!r}{keys}, {mode}",
        f"  aggregates  {', '.join(aggregates)}",
        f"  granules    cut at {_edges(plan)}",
        f"  strategy    {plan.chosen.strategy}: {_HOW[plan.chosen.strategy]} ({why})",
    ]
    lines += [
        f"    {label} {labels[branch.number]}  {_branch(plan, branch, label, labels)}"
        for branch in plan.branches
    ]
    told = "assumed; tell using(rate=, groups=)" if plan.workload.assumed else "as told"
    lines.append(
        f"  workload    {plan.workload.rows_per_slide:,.0f} rows a SLIDE of the finest, "
        f"{plan.workload.groups:,.0f} groups ({told})"
    )
    lines.append("  candidates  estimated cost a report of the finest, beside the chosen one")
    for way in plan.ways:
        if way.refused:
            lines.append(f"    {way.strategy:12} does not fit: {way.refused}")
            continue
        ratio = way.cost / max(plan.chosen.cost, 1e-9)
        mark = "   <- chosen" if way is plan.chosen else ""
        lines.append(f"    {way.strategy:12} {way.cost / 1000:12,.1f} µs {ratio:8.2f} x{mark}")
    return "\n".join(lines)


def _edges(plan: GranularPlan) -> str:
    axis = plan.axes[0]
    parts = []
    for first, every in plan.granules.edges:
        start = f" from {length(axis.coordinate, first)}" if first else ""
        parts.append(f"every {length(axis.coordinate, every)}{start}")
    return " and ".join(parts)


def _branch(plan: GranularPlan, branch: Branch, label: str, labels: Sequence[int]) -> str:
    axis = plan.axes[branch.number]
    source = "the granules" if branch.source is None else f"{label} {labels[branch.source]}"
    slices = f"{branch.cut.span} slices a window" if branch.cut.span > 1 else "one slice a window"
    how = f", {branch.rollup}" if branch.rollup != "none" else ""
    if branch.together:
        how = ", copied to its windows"
    how = "" if plan.streaming else how
    every = f"{length(axis.coordinate, axis.range)} every {length(axis.coordinate, axis.slide)}"
    return f"{every}, {slices}, from {source}{how}"
