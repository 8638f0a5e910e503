"""The page that ``explain()`` prints: the request, facts about it, and the candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self, TypeVar

from fanlight.engine.plan.candidate import Candidate, Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.late import OUTPUT
from fanlight.engine.spec.pictured import Picture, Pictured
from fanlight.engine.spec.units import spell

Cut = TypeVar("Cut")


class Explained(Pictured, str):
    """What ``explain()`` returns: text to print, which a notebook shows below a drawing."""

    __slots__ = ("_shown",)
    _shown: Picture

    def __new__(cls, text: str, shown: Picture) -> Self:
        """The text, and what is drawn above it."""
        made = super().__new__(cls, text)
        made._shown = shown
        return made

    def with_text(self, text: str) -> Self:
        """The same drawing, and another text below it."""
        return type(self)(text, self._shown)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self._shown)

    def _picture_(self) -> Picture:
        """The drawing of what it explains, and the text as it is."""
        return replace(self._shown, text=str(self))


def page(
    spec: object,
    over: str,
    by: Sequence[str],
    facts: Iterable[tuple[str, str]],
    plan: Plan[Cut],
    *,
    streaming: bool,
    per: str = "",
) -> str:
    """The page: the request, one line for each fact (label, text), each candidate with its cost.

    ``over`` names the time column or columns; costs are ``per`` window, SLIDE or the like. A fact
    without a label continues the one before.
    """
    shown = list(spec) if isinstance(spec, tuple) else spec
    keys = f" by {', '.join(by)}" if by else ""
    lines = [f"{shown!r} over {over}{keys}, {'stream' if streaming else 'batch'}"]
    listed = [*facts, *([("output mode", OUTPUT)] if streaming else [])]
    width = max(11, *(len(label) + 1 for label, _ in listed)) if listed else 11
    lines += [f"  {label:{width}} {text}" for label, text in listed]
    if len(plan.candidates) > 1:
        cost = f"estimated cost {per}, and relative to the chosen one" if per else ""
        lines.append(f"  {'candidates':{width}} {cost}".rstrip())
        ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.forced, c.cost))
        lines += ["    " + _line(candidate, plan.chosen) for candidate in ranked]
    return "\n".join(lines)


def chosen(plan: Plan[Cut], how: str) -> tuple[str, str]:
    """The fact that names the strategy, how it works in words, and why it was chosen."""
    why = "asked for" if plan.forced else "cheapest by the cost model"
    return "strategy", f"{plan.chosen.strategy}: {how} ({why})"


def _line(candidate: Candidate[Cut], chosen: Candidate[Cut]) -> str:
    name = f"{candidate.name:31}"
    if candidate.refused:
        return f"{name} does not fit: {candidate.refused}"
    note = "   <- chosen" if candidate is chosen else ""
    note = "   only if asked for" if candidate.forced and not note else note
    if not (candidate.cost and chosen.cost):
        return f"{name}{note}"
    return f"{name} {candidate.cost / 1000:12,.1f} µs {candidate.cost / chosen.cost:8.2f} x{note}"


def length(coordinate: Coordinate, units: int) -> str:
    """A length in coordinates, as a user would write it."""
    if coordinate.counted:
        return f"{units} rows"
    return spell(units) if coordinate.timed else f"{float(units * coordinate.unit):g}"
