"""The page that ``explain()`` prints: the request, facts about it, and why it runs as it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Self, TypeVar

from fanlight.engine.plan.candidate import Candidate, Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.late_rows import OUTPUT
from fanlight.engine.plan.ways import AUTO
from fanlight.engine.spec.pictures import Picture, Pictured
from fanlight.engine.spec.units import Extent, write_duration, write_units

Cut = TypeVar("Cut")
Fact = tuple[str, str]  # a line of the page: its label and its text


class Explained(Pictured, str):
    """What ``explain()`` returns: text to print, which a notebook shows below a drawing."""

    __slots__ = ("_shown",)
    _shown: Picture

    def __new__(cls, text: str, shown: Picture) -> Self:
        """The text, and what is drawn above it."""
        page = super().__new__(cls, text)
        page._shown = shown
        return page

    def with_text(self, text: str) -> Self:
        """The same drawing, and another text below it."""
        return type(self)(text, self._shown)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self._shown)

    def _picture_(self) -> Picture:
        """The drawing of what it explains, and the text as it is."""
        return replace(self._shown, text=str(self))


def write_page(
    spec: object,
    over: str,
    by: Sequence[str],
    facts: Iterable[Fact],
    plan: Plan[Cut],
    *,
    streaming: bool,
    per: str = "",
    verbose: bool = False,
    output: str = OUTPUT,
) -> str:
    """The page as text: the request, and one line a fact.

    ``over`` names the time column or columns. A fact without a label continues the one before.
    ``verbose`` adds every candidate with its cost, ``per`` window, SLIDE or the like;
    ``output`` tells the output mode of a stream.
    """
    listed = [*facts, *([("output mode", output)] if streaming else [])]
    lines = [write_facts(spec, over, by, listed, streaming=streaming)]
    if verbose and len(plan.candidates) > 1:
        width = _width(listed)
        cost = f"estimated cost {per}, and relative to the chosen one" if per else ""
        lines.append(f"  {'candidates':{width}} {cost}".rstrip())
        ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.forced, c.cost))
        lines += ["    " + _list_candidate(candidate, plan.chosen) for candidate in ranked]
    return "\n".join(lines)


def write_facts(
    spec: object, over: str, by: Sequence[str], facts: Sequence[Fact], *, streaming: bool
) -> str:
    """The request, with one line per fact, of windows that are computed in one way."""
    shown = list(spec) if isinstance(spec, tuple) else spec
    keys = f" by {', '.join(by)}" if by else ""
    first = f"{shown!r} over {over}{keys}, {'stream' if streaming else 'batch'}"
    width = _width(facts)
    return "\n".join([first, *(f"  {label:{width}} {text}" for label, text in facts)])


def _width(facts: Sequence[Fact]) -> int:
    return max([11, *(len(label) + 1 for label, _ in facts)])


GROWS = "no key: state grows with the number of keys, unless forget_after= bounds it"


def rejected_fact(start: str, stop: str) -> Fact:
    """Which events are in no window, and how to see them."""
    return ("dropped", f"events whose {stop!r} is before {start!r}, or null: rejected() lists them")


def forgetting_facts(silence: Extent | None, *, grows: bool) -> list[Fact]:
    """When keys are forgotten; ``grows``: whether state grows with their number if they are not."""
    if silence is not None:
        return [("forgets", f"a key that is silent for more than {silence}; it then counts as new")]
    return [("forgets", GROWS)] if grows else []


def strategy_facts(plan: Plan[Cut], *, verbose: bool) -> list[Fact]:
    """Which strategy was chosen and why, where there was a choice."""
    if len(plan.candidates) == 1:
        return []
    more = "" if verbose else "; explain(verbose=True) lists all, with their costs"
    return [("strategy", _explain_choice(plan) + more)]


def _explain_choice(plan: Plan[Cut]) -> str:
    chosen = plan.chosen
    strategy = chosen.rollup.name if chosen.strategy == AUTO else chosen.strategy.name
    fitting = [one for one in plan.candidates if not (one.refused or one.forced)]
    if not plan.forced:
        return f"{strategy}, {_describe_rank(len(fitting))}"
    cheapest = min(fitting, key=lambda one: one.cost, default=chosen)
    other = "" if cheapest.strategy == chosen.strategy else f"; 'auto' would choose {cheapest.name}"
    return f"{strategy}, as requested{other}"


def _describe_rank(candidates: int) -> str:
    if candidates == 1:
        return "the only one that fits"
    return f"the cheapest of {candidates} ways that fit, by the cost model"


def _list_candidate(candidate: Candidate[Cut], chosen: Candidate[Cut]) -> str:
    name = f"{candidate.name:31}"
    if candidate.refused:
        return f"{name} does not fit: {candidate.refused}"
    note = "   <- chosen" if candidate is chosen else ""
    note = "   only on request" if candidate.forced and not note else note
    if not (candidate.cost and chosen.cost):
        return f"{name}{note}"
    return f"{name} {candidate.cost / 1000:12,.1f} µs {candidate.cost / chosen.cost:8.2f} x{note}"


def write_length(coordinate: Coordinate, units: int) -> str:
    """A length in coordinates, as a user would write it."""
    if coordinate.counted:
        return f"{units} row" if units == 1 else f"{units} rows"
    if coordinate.calendar is not None:
        calendar = coordinate.calendar
        return write_units(units * calendar.count, in_months=calendar.in_months)
    return (
        write_duration(units) if coordinate.is_timestamp else f"{float(units * coordinate.unit):g}"
    )
