"""What ``explain()`` says of several windows over events that last."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.plan.explain_spanning import candidate_line, release_in_words, workload_in_words
from fanlight.plan.spanning_several import SeveralPlan

_HOW = {
    ("levels", "runs"): "two marks an event and {what}, then one pass along each power-of-two "
    "level",
    ("levels", "nodes"): "two marks an event and {what}, then down through power-of-two blocks",
    ("cells", "runs"): "events of the same windows added up once for all, then two marks a {what}",
    ("cells", "nodes"): "events of the same windows added up once for all, then through "
    "power-of-two blocks",
    ("cells", "copies"): "events of the same windows added up once for all, then copied into them",
    ("aggregate-buckets", "none"): "each event added to each of its windows",
    ("separate", "none"): "each {what} by itself",
}


def explain_several(
    plan: SeveralPlan,
    spec: object,
    what: str,
    numbers: Sequence[int],
    time: tuple[str, str],
    by: Sequence[str],
    labels: Sequence[str],
    ttp: int | None = None,
) -> str:
    """The plan in words, with a table of the candidates' costs; ``ttp`` in milliseconds."""
    mode = "stream" if plan.streaming else "batch"
    keys = f" by {', '.join(by)}" if by else ""
    chosen = plan.chosen
    why = "asked for" if plan.forced else "cheapest by the cost model"
    how = _HOW[chosen.strategy, chosen.rollup].format(what=what)
    lines = [
        f"{spec!r} over events from {time[0]!r} to {time[1]!r}{keys}, {mode}",
        f"  aggregates  {', '.join(labels)}",
        f"  strategy    {chosen.strategy}: {how} ({why})",
        *release_in_words(ttp),
        *(
            f"  {what:10}  {number}: {workload_in_words(load)}"
            for number, load in zip(numbers, plan.loads, strict=True)
        ),
        f"  candidates  estimated cost a SLIDE of {what} {numbers[0]}, beside the chosen one",
    ]
    ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.cost))
    lines.extend("    " + candidate_line(candidate, chosen) for candidate in ranked)
    return "\n".join(lines)
