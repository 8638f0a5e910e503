"""What ``explain()`` says of windows over events that last."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.explain_sliding import cut_in_words
from fanlight.plan.spanning import SpanningCandidate, SpanningLoad, SpanningPlan
from fanlight.spec.sliding import Sliding
from fanlight.spec.units import spell

_HOW = {
    ("levels", "runs"): "two marks an event, then one pass along each power-of-two level",
    ("levels", "nodes"): "two marks an event, then down through power-of-two blocks",
    ("cells", "runs"): "events of the same windows added up first, then as levels",
    ("cells", "nodes"): "events of the same windows added up first, then through power-of-two "
    "blocks",
    ("cells", "copies"): "events of the same windows added up first, then copied into them",
    ("aggregate-buckets", "none"): "each event added to each of its windows",
    ("levels", "operator"): "two marks an event, in a Python operator",
    ("tuple-buckets", "operator"): "each event kept in each of its windows",
    ("cumulative-sweeping", "operator"): "events enter and leave counters in order of their ends",
    ("selective-sweeping", "operator"): "running events in a heap, their extreme on top",
    ("se-slicing", "operator"): "each slice keeps what ends in it apart from what goes on",
    ("se-ml-slicing", "operator"): "slices of growing width, so that a long event enters few",
}


def explain_spanning(
    plan: SpanningPlan,
    spec: Sliding,
    time: tuple[str, str],
    by: Sequence[str],
    labels: list[str],
    ttp: int | None = None,
) -> str:
    """The plan in words, with a table of the candidates' costs; ``ttp`` in milliseconds."""
    mode = "stream" if plan.streaming else "batch"
    keys = f" by {', '.join(by)}" if by else ""
    chosen = plan.chosen
    why = "asked for" if plan.forced else "cheapest by the cost model"
    lines = [
        f"{spec!r} over events from {time[0]!r} to {time[1]!r}{keys}, {mode}",
        f"  aggregates  {', '.join(labels)}",
        f"  cut         {_cut(plan, spec)}",
        f"  strategy    {chosen.strategy}: {_HOW[chosen.strategy, chosen.rollup]} ({why})",
        *release_in_words(ttp),
        f"  workload    {workload_in_words(plan.load)}",
        "  candidates  estimated cost a SLIDE, beside the chosen one",
    ]
    ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.cost))
    lines.extend("    " + candidate_line(candidate, chosen) for candidate in ranked)
    return "\n".join(lines)


def release_in_words(ttp: int | None) -> list[str]:
    """When a stream's windows are released, and which events are late for that."""
    if ttp is None:
        return []
    delay = spell(1000 * ttp)
    return [f"  released    {delay} (TTP) after a window's end; events that last longer are late"]


def _cut(plan: SpanningPlan, spec: Sliding) -> str:
    if plan.chosen.strategy in ("se-slicing", "se-ml-slicing"):
        height = f", {plan.height} levels" if plan.chosen.strategy == "se-ml-slicing" else ""
        return cut_in_words(plan.cut, spec, plan.axis.coordinate) + height
    return "none: events are told apart by the first and the last of their windows"


def workload_in_words(load: SpanningLoad) -> str:
    """How much there is to do a SLIDE."""
    told = "assumed in part; tell using(rate=, groups=, duration=)" if load.assumed else "as told"
    return (
        f"{load.events:,.0f} events a SLIDE, {load.groups:,.0f} groups, "
        f"{load.length:,.1f} SLIDEs an event ({told})"
    )


def candidate_line(candidate: SpanningCandidate, chosen: SpanningCandidate) -> str:
    """A candidate with its cost, or why there is none."""
    name = f"{candidate.strategy} ({candidate.rollup})"
    if candidate.refused:
        return f"{name:31} does not fit: {candidate.refused}"
    if candidate.cost == float("inf"):
        return f"{name:31} only where asked for"
    ratio = candidate.cost / max(chosen.cost, 1e-9)
    mark = "   <- chosen" if candidate is chosen else ""
    return f"{name:31} {candidate.cost / 1000:12,.1f} µs {ratio:8.2f} x{mark}"
