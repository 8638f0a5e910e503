"""The plan of windows over events that last: which technique, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fanlight.plan import cost
from fanlight.plan.axis import Axis
from fanlight.plan.choice import cheapest, known
from fanlight.plan.cut import Cut, pairs
from fanlight.plan.sliding import FieldFacts
from fanlight.spec.errors import refuse

PAPER = (
    "tuple-buckets",
    "aggregate-buckets",
    "cumulative-sweeping",
    "selective-sweeping",
    "se-slicing",
    "se-ml-slicing",
)
STRATEGIES = ("auto", "levels", "cells", *PAPER)
Rollup = Literal["runs", "nodes", "copies", "none", "operator"]

# Costs in nanoseconds of one core, beside those of plan/cost.py; only their ratios matter.
MARK = 70.0  # one of an event's marks into its group
CELL = 130.0  # an event into the group of its range of windows: they are many, seldom cached
NODE = 900.0  # a partial taken apart into its nodes
STRETCH = 60.0  # a level's partial into a window
STATE = 9_000.0  # a group in a stream's state store, once a micro-batch
PYTHON_ROW = 12_000.0  # an event into a Python operator
PYTHON_STEP = 900.0  # one partial joined to another in Python


@dataclass(frozen=True)
class SpanningLoad:
    """The workload as the formulas of the paper's Table 4 see it, a SLIDE at a time."""

    events: float  # that stop in a SLIDE
    groups: float  # keys with events in a SLIDE
    length: float  # mean duration, in SLIDEs
    range: float  # RANGE, in SLIDEs
    slices: float  # slices a SLIDE: 1, or 2 where RANGE is no multiple
    assumed: bool = True

    @property
    def windows(self) -> float:
        """In how many windows an event is, on average."""
        return max(self.length + self.range, 1.0)

    @property
    def levels(self) -> float:
        """How many levels there are."""
        return math.log2(self.windows) + 1.0

    @property
    def cells(self) -> float:
        """How many distinct ranges of windows; durations are taken to spread by their mean."""
        return min(self.events, self.groups * (1.0 + 2.0 * self.length))


@dataclass(frozen=True)
class SpanningCandidate:
    """One way to compute the windows, with its estimated cost a SLIDE."""

    strategy: str
    rollup: Rollup
    cost: float
    refused: str = ""


@dataclass(frozen=True)
class SpanningPlan:
    """The chosen candidate beside the others."""

    axis: Axis
    cut: Cut
    streaming: bool
    chosen: SpanningCandidate
    candidates: tuple[SpanningCandidate, ...]
    load: SpanningLoad
    forced: bool
    height: int


def check_spanning_strategy(strategy: object, height: object) -> tuple[str, int]:
    """The strategy by its name; an error lists the names."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise refuse(
            f"height={height!r}",
            "is not a whole number of levels, at least 1",
            "write for example height=7; height 1 is se-slicing",
        )
    return known(strategy, STRATEGIES, of=" for events that last"), height


def load_of(
    axis: Axis,
    *,
    rate: float | None,
    groups: float,
    length: float | None,
    finest: Axis | None = None,
) -> SpanningLoad:
    """The load from hints: rows a second, keys, mean duration in coordinates.

    What is not told is assumed of the ``finest`` of several windows, so that all see one stream.
    """
    base = finest or axis
    seconds = axis.slide * float(axis.coordinate.unit) / axis.coordinate.per_second
    assumed = cost.Workload().rows_per_slide * axis.slide / base.slide
    events = assumed if rate is None else rate * seconds
    mean = base.range if length is None else length
    whole = axis.range % axis.slide == 0 or axis.slide >= axis.range
    return SpanningLoad(
        events,
        min(groups, max(events, 1e-9)),
        mean / axis.slide,
        axis.range / axis.slide,
        1.0 if whole else 2.0,
        rate is None or length is None,
    )


def plan_spanning(
    axis: Axis,
    fields: Sequence[FieldFacts],
    selective: Sequence[bool],
    load: SpanningLoad,
    *,
    strategy: str = "auto",
    height: int = 7,
    streaming: bool = False,
) -> SpanningPlan:
    """Choose among the techniques by estimated cost, or take the one that is asked for.

    ``selective`` says of each field whether one event's value decides it (min, max, argmax).
    """
    build = _stream if streaming else _batch
    candidates = (*build(fields, load), *_operators(fields, selective, load, height))
    chosen = cheapest(candidates, strategy)
    return SpanningPlan(
        axis, pairs(axis.grid), streaming, chosen, candidates, load, strategy != "auto", height
    )


def _batch(fields: Sequence[FieldFacts], load: SpanningLoad) -> list[SpanningCandidate]:
    running = all(field.running for field in fields)
    marked = marked_partials(load)
    way: Rollup = "runs" if running else "nodes"
    roll = rolled(load, running=running)
    insert = 2.0 * MARK * load.events + cost.PARTIAL * marked
    cells = CELL * load.events + cost.PARTIAL * load.cells
    copied = (cells + cost.PARTIAL * load.groups) + STRETCH * load.cells * load.windows
    if not running:
        copied += cost.COLLECTED * load.cells * load.windows
    again = cells + 2.0 * MARK * load.cells + cost.PARTIAL * marked
    return [
        SpanningCandidate("levels", way, insert + roll),
        SpanningCandidate("cells", way, again + roll),
        SpanningCandidate("cells", "copies", copied),
        SpanningCandidate("aggregate-buckets", "none", expanded(fields, load)),
    ]


def marked_partials(load: SpanningLoad) -> float:
    """Distinct marks: a window ends a few of its levels' ranges, and begins as many."""
    return min(2.0 * load.events, load.groups * 2.0 * min(load.levels, 4.0))


def rolled(load: SpanningLoad, *, running: bool) -> float:
    """Marks to windows: along the levels, or down through the nodes."""
    marked = marked_partials(load)
    into = STRETCH * load.levels * load.groups * load.windows / max(load.length, 1.0)
    if running:
        return cost.FILL * marked + into + cost.PARTIAL * load.groups
    down = NODE + (cost.COLLECTED + STRETCH) * load.levels / 2.0
    return down * marked + (into + cost.COLLECTED) * 2.0 + cost.PARTIAL * load.groups


def expanded(fields: Sequence[FieldFacts], load: SpanningLoad) -> float:
    """Each event into each of its windows."""
    copy = cost.EXPANDED_ROW + (cost.COUNTED if any(field.counted for field in fields) else 0.0)
    return copy * load.events * load.windows + cost.PARTIAL * load.groups


def _stream(fields: Sequence[FieldFacts], load: SpanningLoad) -> list[SpanningCandidate]:
    del fields
    cells = CELL * load.events + STATE * load.cells
    kept = STATE * load.groups
    copies = cells + STRETCH * load.cells * load.windows + kept
    nodes = cells + NODE * load.cells + STRETCH * load.cells * load.levels
    nodes += 2.0 * STATE * load.groups * 2.0 + kept
    python = PYTHON_ROW * load.events + PYTHON_STEP * operations("levels", load)
    return [
        SpanningCandidate("levels", "operator", python),
        SpanningCandidate("cells", "copies", copies),
        SpanningCandidate("cells", "nodes", nodes),
        # Late events would count in some of their windows: never chosen, only asked for.
        SpanningCandidate("aggregate-buckets", "none", math.inf),
    ]


def _operators(
    fields: Sequence[FieldFacts], selective: Sequence[bool], load: SpanningLoad, height: int
) -> list[SpanningCandidate]:
    """The paper's other techniques, each in one Python operator."""
    found = []
    for name in PAPER:
        if name == "aggregate-buckets":
            continue
        refused = _why_not(name, fields, selective)
        steps = operations(name, load, height)
        into = PYTHON_ROW * load.events + PYTHON_STEP * steps
        found.append(SpanningCandidate(name, "operator", into, refused))
    return found


def _why_not(name: str, fields: Sequence[FieldFacts], selective: Sequence[bool]) -> str:
    """Why a technique cannot do the aggregates: sweeping takes back, or keeps one event's value."""
    if name == "cumulative-sweeping":
        for field in fields:
            if not field.invertible:
                why = field.why_not
                if field.counted:
                    why = "is holistic: it has no counters that events could enter and leave"
                return f"{field.label} {why}"
    if name == "selective-sweeping":
        for field, one in zip(fields, selective, strict=True):
            if not one:
                return f"{field.label} is no minimum or maximum: no single event decides it"
    return ""


def operations(name: str, load: SpanningLoad, height: int = 1) -> float:
    """Steps a SLIDE: the event costs of the paper's Table 4, and its window costs once a SLIDE.

    The paper writes them amortised over the N events of a window; here they are a SLIDE's, so that
    techniques compare. ``levels`` is ours: constant insertions, ``log2`` of the duration to
    release.
    """
    per_slide, length, span = load.slices, load.length * load.slices, load.range * load.slices
    touched = length + 1.0
    inserts = {
        "tuple-buckets": load.windows,
        "aggregate-buckets": load.windows,
        "cumulative-sweeping": 2.0 * _log(load.events * load.windows),
        "selective-sweeping": 2.0 * _log(load.events * load.windows),
        "se-slicing": touched,
        "se-ml-slicing": math.ceil(touched / height),
        "levels": 3.0,
    }[name]
    releases = {
        "tuple-buckets": load.events * load.windows,
        "aggregate-buckets": load.groups,
        "cumulative-sweeping": load.events * 2.0,
        "selective-sweeping": load.events * _log(load.events * load.windows),
        "se-slicing": load.groups * span,
        "se-ml-slicing": load.groups * height * (span + (height - 1) / 2.0),
        "levels": load.groups * per_slide * (2.0 * _log(touched) + 3.0),
    }[name]
    return inserts * load.events + releases


def _log(number: float) -> float:
    return math.log2(max(number, 1.0))
