"""What ``explain()`` says, of every kind of windows: the request, facts, and the candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fanlight.plan.candidate import Candidate, Plan
from fanlight.plan.coordinate import Coordinate
from fanlight.spec.units import spell


def page(
    spec: object,
    over: str,
    by: Sequence[str],
    facts: Iterable[tuple[str, str]],
    plan: Plan[Any],
    *,
    streaming: bool,
    per: str = "",
) -> str:
    """The page: what was asked, a line a fact (label, text), and each candidate with its cost.

    ``over`` names the time column or columns; costs are ``per`` window, SLIDE or the like. A fact
    without a label goes on with the one before.
    """
    shown = list(spec) if isinstance(spec, tuple) else spec
    keys = f" by {', '.join(by)}" if by else ""
    lines = [f"{shown!r} over {over}{keys}, {'stream' if streaming else 'batch'}"]
    told = list(facts)
    width = max(11, *(len(label) + 1 for label, _ in told)) if told else 11
    lines += [f"  {label:{width}} {text}" for label, text in told]
    if len(plan.candidates) > 1:
        cost = f"estimated cost {per}, beside the chosen one" if per else ""
        lines.append(f"  {'candidates':{width}} {cost}".rstrip())
        ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.forced, c.cost))
        lines += ["    " + _line(candidate, plan.chosen) for candidate in ranked]
    return "\n".join(lines)


def chosen(plan: Plan[Any], how: str) -> tuple[str, str]:
    """The fact that names the strategy, says in words how it works, and why it was chosen."""
    why = "asked for" if plan.forced else "cheapest by the cost model"
    return "strategy", f"{plan.chosen.strategy}: {how} ({why})"


def _line(candidate: Candidate[Any], chosen: Candidate[Any]) -> str:
    name = f"{candidate.name:31}"
    if candidate.refused:
        return f"{name} does not fit: {candidate.refused}"
    mark = "   <- chosen" if candidate is chosen else ""
    mark = "   only where asked for" if candidate.forced and not mark else mark
    if not (candidate.cost and chosen.cost):
        return f"{name}{mark}"
    return f"{name} {candidate.cost / 1000:12,.1f} µs {candidate.cost / chosen.cost:8.2f} x{mark}"


def length(coordinate: Coordinate, units: int) -> str:
    """A length in coordinates, in words."""
    if coordinate.counted:
        return f"{units} rows"
    return spell(units) if coordinate.timed else f"{float(units * coordinate.unit):g}"
