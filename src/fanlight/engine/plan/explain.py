"""The page that ``explain()`` prints: the request, facts about it, and why it runs as it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from fanlight.engine.plan.candidate import Candidate, Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.late_rows import BEHIND, OUTPUT, OUTPUT_EARLY, Lateness, late_fact
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


GROWS = "no key: state grows with the number of keys, unless forget_after= bounds it"


@dataclass(frozen=True)
class About:
    """What a page says of windows of any kind.

    ``time`` names the time column or columns; ``state`` says where an operator keeps state;
    ``silence`` is after how long a silence a key is forgotten; ``early`` says whether windows are
    given also while they are open; ``verbose`` adds every candidate with its cost.
    """

    spec: object
    time: str | tuple[str, str]
    by: Sequence[str]
    streaming: bool = False
    state: str = ""
    silence: Extent | None = None
    late: Lateness = field(default_factory=Lateness)
    options: str = ""
    early: bool = False
    verbose: bool = False

    @property
    def over(self) -> str:
        """The time column, or those of the start and stop of events."""
        time = self.time
        return repr(time) if isinstance(time, str) else f"events from {time[0]!r} to {time[1]!r}"

    @property
    def option_facts(self) -> list[Fact]:
        """What is asked of the windows, if anything is."""
        return [("options", self.options)] if self.options else []

    @property
    def rejected_facts(self) -> list[Fact]:
        """Which events are in no window, and how to see them."""
        if isinstance(self.time, str):
            return []
        start, stop = self.time
        text = f"events whose {stop!r} is before {start!r}, or null: rejected() lists them"
        return [("dropped", text)]

    def page(
        self,
        facts: Iterable[Fact],
        plan: Plan[Cut] | None = None,
        *,
        keeps: Iterable[Fact] = (),
        grows: bool = False,
        released: Iterable[Fact] = (),
        rule: str = BEHIND,
        per: str = "",
        over: str = "",
        picture: Picture | None = None,
    ) -> Explained:
        """The page: the request, and one line per fact; without a label it continues the last one.

        Of a stream there is also what it ``keeps``, whether that ``grows`` with the number of keys,
        and by which ``rule`` rows are late, if there is one. Costs are ``per`` window, SLIDE or the
        like.
        """
        facts = [*facts, *(keeps if self.streaming else ())]
        if self.silence is not None:
            text = f"a key that is silent for more than {self.silence}; it then counts as new"
            facts.append(("forgets", text))
        elif grows and self.streaming:
            facts.append(("forgets", GROWS))
        facts += released
        if self.streaming and rule:
            output = OUTPUT_EARLY if self.early else OUTPUT
            facts += [late_fact(rule, self.late), ("output mode", output)]
        width = max([11, *(len(label) + 1 for label, _ in facts)])
        shown = list(self.spec) if isinstance(self.spec, tuple) else self.spec
        keys = f" by {', '.join(self.by)}" if self.by else ""
        lines = [
            f"{shown!r} over {over or self.over}{keys}, {'stream' if self.streaming else 'batch'}"
        ]
        lines += [f"  {label:{width}} {text}" for label, text in facts]
        if self.verbose and plan is not None and len(plan.candidates) > 1:
            cost = f"estimated cost {per}, and relative to the chosen one" if per else ""
            lines.append(f"  {'candidates':{width}} {cost}".rstrip())
            ranked = sorted(plan.candidates, key=lambda c: (bool(c.refused), c.forced, c.cost))
            lines += ["    " + _list_candidate(candidate, plan.chosen) for candidate in ranked]
        return Explained("\n".join(lines), picture or Picture(self.spec))


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
