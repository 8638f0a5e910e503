"""The page that ``explain()`` prints: the request, facts about it, and why it runs as it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import BY_PYTHON, Candidate, Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.frames import Scheme
from fanlight.engine.plan.late_rows import BEHIND, OUTPUT, OUTPUT_EARLY, Lateness, late_fact
from fanlight.engine.plan.trailing import EVER, Horizon
from fanlight.engine.plan.ways import AUTO
from fanlight.engine.plan.widening import (
    Level,
    bound_on_work,
    most_kept_rows,
    most_window_rows,
    units_as_text,
)
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture, Pictured
from fanlight.engine.spec.trailing import Labelled
from fanlight.engine.spec.units import Extent, write_duration, write_units
from fanlight.engine.spec.widening import ProgressiveWidening

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
    given also while they are open; ``verbose`` adds every candidate with its cost; ``faster`` is a
    setting with which Spark sends rows to Python workers faster, if there is one.
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
    faster: str = ""

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
        """The page: the request, then a line per fact. A fact without a label continues the last.

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
        if self.faster and plan is not None and plan.chosen.way.in_python:
            facts.append(("faster", f"{self.faster}, if rows are small: see fl.doctor"))
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
    if not plan.forced:
        fitting = [one for one in plan.candidates if one.is_automatic]
        return f"{strategy}, {_describe_rank(len(fitting))}"
    auto = plan.by_auto
    other = "" if auto.strategy == chosen.strategy else f"; 'auto' would choose {auto.name}"
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


def explain_frames(
    spec: Frame, plan: Plan[Scheme], about: About, aggregates: Sequence[str], *, by_spark: bool
) -> Explained:
    """The page of frames: when one ends, and how frames are found.

    ``by_spark`` says whether Spark groups rows by their frame.
    """
    scheme = plan.chosen.pieces
    search = _describe_search(plan)
    if about.streaming:
        search += ", in one stateful operator, once the watermark has passed them"
    elif plan.chosen.way is ways.FRAMES_COMPARED or (
        by_spark and plan.chosen.way is not ways.FRAMES_IN_CHUNKS
    ):
        search += "; then Spark groups the rows of each frame"
    facts = [
        ("computes", ", ".join(aggregates) or "the bounds of frames"),
        ("a frame ends", spec.ends),
        ("how", search),
        *about.option_facts,
        *strategy_facts(plan, verbose=about.verbose),
    ]
    if about.verbose:
        facts.append(("guaranteed", ", ".join(sorted(spec.guarantees))))
    keeps = [("keeps", f"{_describe_frame_state(scheme)}; {about.state}")]
    if scheme.automaton is not None:
        keeps.insert(0, ("emits", _CERTAIN))
    return about.page(facts, plan, keeps=keeps, grows=True, per="per row")


_CERTAIN = "a match once no row that may yet come can change it"
_MAY_BEGIN = "for each key, the rows from the first one on that may still begin a match"
_KEPT = (
    "for each key, the rows that the watermark has not passed, and one partial of each aggregate"
)


def _describe_frame_state(scheme: Scheme) -> str:
    """What a stream of frames keeps, in words."""
    if scheme.automaton is not None:
        return _MAY_BEGIN
    return f"{_KEPT} for {_count_open(scheme)}{_describe_means(scheme)}"


def _count_open(scheme: Scheme) -> str:
    several = scheme.overlapping and scheme.kind == "logical"
    return "each open frame, of which there may be any number" if several else "the open frame"


def _describe_means(scheme: Scheme) -> str:
    """The state of means in limits, in words. Empty if limits have no means."""
    numbers = sum(mean.last for limit in scheme.limits if limit for mean in limit.means)
    return f", and up to {numbers:,} numbers for the means in its limits" if numbers else ""


def _describe_search(plan: Plan[Scheme]) -> str:
    if plan.chosen.way is ways.FRAMES_COMPARED:
        return "each row of a key is compared with those before it, in Spark SQL"
    if plan.chosen.way is ways.FRAMES_IN_CHUNKS:
        return plan.chosen.way.how
    how = "row by row in Python" if plan.chosen.pieces.kind in BY_PYTHON else "by a compiled loop"
    return f"the rows of a key are read once, in order of time, {how}"


_WINDOWS = "from each start or stop of a key to its next one, where an event is running"
_NATIVE = "by Spark, which numbers starts and stops by a sort, and enters an event twice"
_IN_PYTHON = "in one pass in Python over events in the order of their starts"
_STREAM = "by one operator, which keeps the events that the watermark has not passed"
_LATE = "dropped once the watermark has passed their start"


def explain_snapshot(native: str, about: About) -> Explained:
    """The page; ``native`` says why a batch is left to Spark, and is empty if it is not."""
    how = f"{_NATIVE}: {native}" if native else _STREAM if about.streaming else _IN_PYTHON
    facts = [("windows", _WINDOWS), ("computed", how), *about.rejected_facts]
    about = replace(about, silence=None)  # keys are kept
    return about.page(facts, keeps=[("state", about.state)], rule=_LATE, over=repr(about.time))


_ASKING = "at(…) keeps them until the watermark, one for both streams, passes them"


def explain_trailing(
    spec: Labelled, plan: Plan[tuple[Horizon, ...]], about: About, aggregates: Sequence[str]
) -> Explained:
    """The page of trailing windows."""
    how = "by windows of Spark's (RANGE BETWEEN)"
    if plan.chosen.way is ways.LOOKED_BACK_IN_CHUNKS:
        how = plan.chosen.way.how
    elif plan.chosen.way is not ways.FOLDED:
        how = (
            "the rows of a key are read once, in order of time; each enters and leaves a "
            "window once, however long it is (two stacks; exact sums by difference)"
        )
    if about.streaming:
        how += ", in one stateful operator, once the watermark has passed them"
    facts = [
        ("computes", ", ".join(aggregates) or "nothing yet"),
        ("how", how),
        *about.option_facts,
        *strategy_facts(plan, verbose=about.verbose),
    ]
    horizons = plan.chosen.pieces
    kept = f"{_describe_kept(spec, horizons)}; {about.state}"
    return about.page(
        facts, plan, keeps=[("keeps", kept), ("other rows", _ASKING)],
        grows=any(horizon.first == EVER for horizon in horizons), per="per row",
    )  # fmt: skip


def _describe_kept(spec: Labelled, horizons: Sequence[Horizon]) -> str:
    """What a stream keeps of each key."""
    pairs = list(zip(spec.windows, horizons, strict=True))
    kept = []
    if any(horizon.first < EVER for _, horizon in pairs):
        longest, _ = max(
            ((w, h) for w, h in pairs if h.first < EVER), key=lambda pair: pair[1].first
        )
        kept.append(f"the rows of {longest.range}" + (" and the delay" if longest.delay else ""))
    if any(horizon.rows for horizon in horizons):
        kept.append(f"the last {max(horizon.rows for horizon in horizons)} rows")
    if any(horizon.whole for horizon in horizons):
        kept.append("one partial of all earlier rows")
    return f"for each key, as partials of one row: {', '.join(kept)}"


def explain_widening(
    spec: ProgressiveWidening, plan: Plan[tuple[Level, ...]], about: About, warning: str | None
) -> Explained:
    """The page: a line for each level, then what each may hold, and what the search may cost."""
    levels = plan.chosen.pieces
    limit = spec.max_rows
    facts = [
        ("levels", f"{len(levels)}; a window is two batches long, one every batch"),
        ("", "level  batch             window            rows per window, at most"),
    ]
    for level in levels:
        batch, window = (units_as_text(spec, n * level.duration) for n in (1, 2))
        most = f"{most_window_rows(level, limit):,}"
        facts.append(("", f"{level.number:5}  {batch:16}  {window:16}  {most}"))
    window = units_as_text(spec, 2 * levels[-1].duration)
    facts += [
        (
            "covers",
            f"every pattern of at most {limit} rows of a key and at most {spec.max_duration}",
        ),
        ("longest", f"{spec.max_duration} for an Episode; a function sees windows of {window}"),
        ("reports", "each match once, from the first window that ends with the whole match in it"),
    ]
    per_second = bound_on_work(levels, limit) * (1_000_000 if spec.measure == "time" else 1)
    unit = "second" if spec.measure == "time" else "unit of time"
    facts.append(("searches", f"at most {per_second:,.2f} rows per {unit} and key (Theorem 2)"))
    waiting = ", and those that the watermark has not passed" if about.streaming else ""
    facts += [
        ("keeps", f"at most {most_kept_rows(levels, limit):,} rows per key{waiting}"),
        ("assumes", f"a batch of level 0 has at most {limit:,} rows of a key (Theorem 2)"),
    ]
    facts += [("warning", warning)] if warning else []
    return about.page(facts, plan, keeps=[("state", about.state)])
