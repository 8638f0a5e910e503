"""The page that ``explain()`` prints: the request, facts about it, and the candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Self

from fanlight.plan.candidate import Candidate, Plan
from fanlight.plan.coordinate import Coordinate
from fanlight.plan.late import OUTPUT
from fanlight.spec.drawing.model import Sketch
from fanlight.spec.drawing.svg import html
from fanlight.spec.units import spell


class Explained(str):
    """What ``explain()`` returns: text to print, which a notebook shows below a drawing."""

    __slots__ = ("_drawing",)
    _drawing: Sketch

    def __new__(cls, text: str, drawing: Sketch) -> Self:
        """The text, and the drawing of what it explains."""
        made = super().__new__(cls, text)
        made._drawing = drawing
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self._drawing)

    def _sketch_(self) -> Sketch:
        """The drawing, as data."""
        return self._drawing

    def _repr_html_(self) -> str:
        """The drawing, and the text as it is."""
        text = f'<pre style="font-size:12px;overflow-x:auto">{escape(self, quote=False)}</pre>'
        return html(self._drawing) + text


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


def chosen(plan: Plan[Any], how: str) -> tuple[str, str]:
    """The fact that names the strategy, how it works in words, and why it was chosen."""
    why = "asked for" if plan.forced else "cheapest by the cost model"
    return "strategy", f"{plan.chosen.strategy}: {how} ({why})"


def _line(candidate: Candidate[Any], chosen: Candidate[Any]) -> str:
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
