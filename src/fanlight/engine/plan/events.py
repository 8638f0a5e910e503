"""Candidates for windows over events with a duration: what each of them costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fanlight.engine.plan import cost
from fanlight.engine.plan.candidate import Candidate, known
from fanlight.engine.plan.cut import Cut, pairs
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.late import EACH, WHOLE
from fanlight.engine.plan.request import Request
from fanlight.engine.spec.errors import refuse

Way = Candidate[Cut | None]

PAPER = (
    "tuple-buckets",
    "aggregate-buckets",
    "cumulative-sweeping",
    "selective-sweeping",
    "se-slicing",
    "se-ml-slicing",
)
ONE = ("auto", "levels", "cells", *PAPER)
SEVERAL = ("auto", "levels", "cells", "aggregate-buckets", "separate")

# Costs in nanoseconds of one core, as those of plan/cost.py; only their ratios matter.
ENTRY = 70.0  # one of an event's two entries into its group
CELL = 130.0  # an event into its cell: cells are many, and seldom in the cache
PARTIAL = 540.0  # an entry's or a cell's partial through the shuffle
FILL = 900.0  # an entry along the dyadic intervals of its order
DYADIC = 900.0  # a cell's partial into its dyadic intervals
COPY = 60.0  # the partial of a dyadic interval, or of a cell, into a window
STATE = 9_000.0  # a group in a stream's state store, once a micro-batch
PYTHON_ROW = 12_000.0  # an event into a Python operator
PYTHON_STEP = 900.0  # two partials combined in Python


@dataclass(frozen=True)
class Load:
    """The workload in a SLIDE of one query, as the formulas of the paper's Table 4 take it."""

    events: float  # that stop in a SLIDE
    groups: float  # keys with events in a SLIDE
    length: float  # mean duration, in SLIDEs
    range: float  # RANGE, in SLIDEs
    slices: float  # slices a SLIDE: 1, or 2 where RANGE is not a multiple
    assumed: bool = True

    @property
    def windows(self) -> float:
        """In how many windows an event is, on average."""
        return max(self.length + self.range, 1.0)

    @property
    def orders(self) -> float:
        """How many orders of dyadic intervals there are."""
        return math.log2(self.windows) + 1.0

    @property
    def cells(self) -> float:
        """How many distinct cells; durations are assumed to vary by as much as their mean."""
        return min(self.events, self.groups * (1.0 + 2.0 * self.length))


def loads_of(request: Request) -> list[Load]:
    """The load of each query, over the same rows."""
    first = request.grids[0]
    return [_load(request, grid, first) for grid in request.grids]


def _load(request: Request, grid: Grid, first: Grid) -> Load:
    work = request.work
    events = work.rows_per_slide * grid.slide / first.slide
    mean = first.range if work.duration is None else work.duration
    return Load(
        events,
        min(work.groups, max(events, 1e-9)),
        mean / grid.slide,
        grid.overlap,
        1.0 if grid.range % grid.slide == 0 or grid.slide >= grid.range else 2.0,
        work.assumed or work.duration is None,
    )


def check_strategy(strategy: object, *, several: bool) -> str:
    """The strategy of this name; an error lists the names."""
    if several and isinstance(strategy, str) and strategy in set(PAPER) - set(SEVERAL):
        raise refuse(
            f"using({strategy!r})",
            "works for one kind of windows at a time",
            f"use one of {', '.join(map(repr, SEVERAL))}, or an fl.over for each fl.Sliding",
        )
    of = " for several windows" if several else " for events with a duration"
    return known(strategy, SEVERAL if several else ONE, of=of)


def check_height(height: object) -> int:
    """The height of the pyramid of ``se-ml-slicing``: a whole number of levels, at least 1."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise refuse(
            f"height={height!r}",
            "is not a whole number of levels, at least 1",
            "write for example height=7; height 1 is se-slicing",
        )
    return height


def candidates(request: Request) -> list[Way]:
    """Every way to compute the windows; costs are those of a SLIDE of the first windows."""
    shares = [request.grids[0].slide / grid.slide for grid in request.grids]
    loads = list(zip(shares, loads_of(request), strict=True))
    found = list(_stream(request, loads) if request.streaming else _batch(request, loads))
    if request.queries.several:
        return [*found, _separate(request, loads)]
    return [*found, *_operators(request, loads[0][1])]


Loads = Sequence[tuple[float, Load]]  # a query's SLIDEs in a SLIDE of the first, and its load


def _batch(request: Request, loads: Loads) -> Iterator[Way]:
    fields = request.fields
    running = all(field.running for field in fields)
    rollup = "dyadic runs" if running else "dyadic"
    events, cells = loads[0][1].events, _cells(loads)
    rows = cost.READ * events
    shared = rows + CELL * events + PARTIAL * cells
    each, by_cell, copied, buckets = rows, shared, shared, rows
    collected = 0.0 if running else cost.COLLECTED
    for share, load in loads:
        rolled = PARTIAL * _entries(load) + _rolled(load, running=running)
        each += 2.0 * ENTRY * events + share * rolled
        by_cell += 2.0 * ENTRY * cells + share * rolled
        copied += (COPY + collected) * cells * load.windows + share * PARTIAL * load.groups
        buckets += share * _expanded(request, load)
    yield Candidate("levels", None, "entries", rollup, each)
    yield Candidate("cells", None, "cells", rollup, by_cell)
    yield Candidate("cells", None, "cells", "copies", copied)
    yield Candidate("aggregate-buckets", None, "rows", "", buckets)


def _stream(request: Request, loads: Loads) -> Iterator[Way]:
    cells, whole = _cells(loads), WHOLE if request.opening else ""
    copies = dyadic = CELL * loads[0][1].events + STATE * cells
    for share, load in loads:
        kept = share * STATE * load.groups
        copies += COPY * cells * load.windows + kept
        dyadic += DYADIC * cells + COPY * cells * load.orders + 5.0 * kept
    if request.queries.several:
        why = "the two entries of an event are complete at different times, so a stream keeps cells"
        yield Candidate("levels", None, refused=why)
    else:
        load = loads[0][1]
        python = PYTHON_ROW * load.events + PYTHON_STEP * operations("levels", load)
        yield Candidate("levels", pairs(request.grids[0]), "rows", "operator", python, whole)
    yield Candidate("cells", None, "cells", "copies", copies, whole)
    yield Candidate("cells", None, "cells", "dyadic", dyadic, whole)
    each = EACH if request.dropping else ""
    yield Candidate("aggregate-buckets", None, "rows", "", refused=each)


def _separate(request: Request, loads: Loads) -> Way:
    """Each query by itself; only if forced: what another pass over the source costs is unknown."""
    alone = 0.0
    if not request.streaming:
        for share, load in loads:
            alone += share * min(way.cost for way in _batch(request, [(1.0, load)]))
    return Candidate("separate", None, "", "", alone, request.alone, forced=True)


def _operators(request: Request, load: Load) -> Iterator[Way]:
    """The paper's other techniques, each in one Python operator."""
    for name in PAPER:
        if name == "aggregate-buckets":
            continue
        into = PYTHON_ROW * load.events + PYTHON_STEP * operations(name, load, request.height)
        why = _why_not(name, request)
        yield Candidate(name, pairs(request.grids[0]), "rows", "operator", into, why)


def _why_not(name: str, request: Request) -> str:
    """Why a technique cannot compute the aggregates, or take late events; only sweeping has limits.

    It subtracts the events that end (cumulative), or keeps the value of one event (selective).
    """
    if request.opening:
        return WHOLE
    for field in request.fields:
        if name == "cumulative-sweeping" and not field.invertible:
            why = field.why_not
            if field.counted:
                why = "is holistic: it has no counters that events could enter and leave"
            return f"{field.label} {why}"
        if name == "selective-sweeping" and not field.selective:
            return f"{field.label} is not a minimum or maximum: no single event decides it"
    return ""


def _cells(loads: Loads) -> float:
    """Distinct cells in a SLIDE of the first windows, by the query that has the fewest."""
    return min(share * load.cells for share, load in loads if share * load.cells > 0.0)


def _entries(load: Load) -> float:
    """Distinct entries: a window begins the ranges of a few orders, and ends as many."""
    return min(2.0 * load.events, load.groups * 2.0 * min(load.orders, 4.0))


def _rolled(load: Load, *, running: bool) -> float:
    """Entries to windows: along the dyadic intervals of each order, or down through them."""
    entries = _entries(load)
    into = COPY * load.orders * load.groups * load.windows / max(load.length, 1.0)
    if running:
        return FILL * entries + into + PARTIAL * load.groups
    down = DYADIC + (cost.COLLECTED + COPY) * load.orders / 2.0
    return down * entries + (into + cost.COLLECTED) * 2.0 + PARTIAL * load.groups


def _expanded(request: Request, load: Load) -> float:
    """Each event into each of its windows."""
    counted = any(field.counted for field in request.fields)
    copy = cost.EXPANDED_ROW + (cost.COUNTED if counted else 0.0)
    return copy * load.events * load.windows + PARTIAL * load.groups


def operations(name: str, load: Load, height: int = 1) -> float:
    """Steps a SLIDE: the event costs of the paper's Table 4, and its window costs once a SLIDE.

    The paper amortises them over the N events of a window; here they are those of a SLIDE, so that
    techniques can be compared. ``levels`` is ours: a constant number of steps to insert, ``log2``
    of the duration to release.
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
