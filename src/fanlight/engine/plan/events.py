"""Candidates for windows over events with a duration: what each of them costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fanlight.engine.plan import cost, ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.cut import pairs
from fanlight.engine.plan.granules import Pieces, alone
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.late import EACH, WHOLE
from fanlight.engine.plan.request import FieldFacts, Request
from fanlight.engine.plan.ways import Strategy
from fanlight.engine.spec.errors import refuse

Placing = Candidate[Pieces]

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
    def span(self) -> float:
        """Slices a window."""
        return self.range * self.slices

    @property
    def touched(self) -> float:
        """Slices that an event lies in."""
        return self.length * self.slices + 1.0

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


@dataclass(frozen=True)
class Technique:
    """One of the paper's, in a Python operator: how it works, and how many steps it takes.

    Those of an event that enters (``inserts``) and of a SLIDE that is released (``releases``) are
    by the paper's Table 4; the second argument is the height of a pyramid.
    """

    strategy: Strategy
    way: ways.Way
    inserts: Callable[[Load, int], float]
    releases: Callable[[Load, int], float]
    refuses: Callable[[FieldFacts], str] = lambda _: ""


def _of_counters(field: FieldFacts) -> str:
    """Why events cannot enter and leave counters: the events that end are subtracted."""
    if field.invertible:
        return ""
    why = field.why_not
    if field.counted:
        why = "is holistic: it has no counters that events could enter and leave"
    return f"{field.label} {why}"


def _of_heaps(field: FieldFacts) -> str:
    """Why no heap can keep the value of one event."""
    if field.selective:
        return ""
    return f"{field.label} is not a minimum or maximum: no single event decides it"


TECHNIQUES = (
    Technique(
        ways.TUPLE_BUCKETS,
        ways.EVENTS_KEPT,
        lambda load, _: load.windows,
        lambda load, _: load.events * load.windows,
    ),
    Technique(
        ways.CUMULATIVE,
        ways.SWEPT,
        lambda load, _: 2.0 * _log(load.events * load.windows),
        lambda load, _: load.events * 2.0,
        _of_counters,
    ),
    Technique(
        ways.SELECTIVE,
        ways.SWEPT_BY_HEAP,
        lambda load, _: 2.0 * _log(load.events * load.windows),
        lambda load, _: load.events * _log(load.events * load.windows),
        _of_heaps,
    ),
    Technique(
        ways.SE_SLICING,
        ways.SE_SLICED,
        lambda load, _: load.touched,
        lambda load, _: load.groups * load.span,
    ),
    Technique(
        ways.SE_ML_SLICING,
        ways.SE_ML_SLICED,
        lambda load, height: math.ceil(load.touched / height),
        lambda load, height: load.groups * height * (load.span + (height - 1) / 2.0),
    ),
)
# Ours, which is not in the paper: a constant number of steps to insert, ``log2`` of the duration to
# release.
BY_LEVELS = Technique(
    ways.LEVELS,
    ways.ENTRIES_IN_OPERATOR,
    lambda _, __: 3.0,
    lambda load, _: load.groups * load.slices * (2.0 * _log(load.touched) + 3.0),
)

PAPER = (
    ways.TUPLE_BUCKETS,
    ways.AGGREGATE_BUCKETS,
    ways.CUMULATIVE,
    ways.SELECTIVE,
    ways.SE_SLICING,
    ways.SE_ML_SLICING,
)
ONE = (ways.LEVELS, ways.CELLS, *PAPER)
SEVERAL = (ways.LEVELS, ways.CELLS, ways.AGGREGATE_BUCKETS, ways.SEPARATE)


def check_alone(strategy: object, alone: set[str], several: Sequence[Strategy]) -> None:
    """Refuse, for several kinds of windows, a strategy that is only for one of them."""
    if isinstance(strategy, str) and strategy in alone - {one.name for one in several}:
        names = (ways.AUTO, *several)
        raise refuse(
            f"using({strategy!r})",
            "works for one kind of windows at a time",
            f"use one of {', '.join(repr(one.name) for one in names)}, or an fl.over for each "
            "fl.Sliding",
        )


def check_height(height: object) -> int:
    """The height of the pyramid of ``se-ml-slicing``: a whole number of levels, at least 1."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise refuse(
            f"height={height!r}",
            "is not a whole number of levels, at least 1",
            "write for example height=7; height 1 is se-slicing",
        )
    return height


def candidates(request: Request) -> list[Placing]:
    """Every way to compute the windows; costs are those of a SLIDE of the first windows."""
    shares = [request.grids[0].slide / grid.slide for grid in request.grids]
    loads = list(zip(shares, loads_of(request), strict=True))
    found = list(_stream(request, loads) if request.streaming else _batch(request, loads))
    if request.queries.several:
        return [*found, _separate(request, loads)]
    return [*found, *_operators(request, loads[0][1])]


Loads = Sequence[tuple[float, Load]]  # a query's SLIDEs in a SLIDE of the first, and its load


def _batch(request: Request, loads: Loads) -> Iterator[Placing]:
    fields = request.fields
    running = all(field.running for field in fields)
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
    entered, combined = ways.ENTRY_DYADICS, ways.CELL_DYADICS
    if running:
        entered, combined = ways.ENTRY_RUNS, ways.CELL_RUNS
    yield Candidate(ways.LEVELS, entered, None, each)
    yield Candidate(ways.CELLS, combined, None, by_cell)
    yield Candidate(ways.CELLS, ways.CELL_COPIES, None, copied)
    yield Candidate(ways.AGGREGATE_BUCKETS, ways.EVENT_COPIES, None, buckets)


def _stream(request: Request, loads: Loads) -> Iterator[Placing]:
    cells, whole = _cells(loads), WHOLE if request.opening else ""
    copies = dyadic = CELL * loads[0][1].events + STATE * cells
    for share, load in loads:
        kept = share * STATE * load.groups
        copies += COPY * cells * load.windows + kept
        dyadic += DYADIC * cells + COPY * cells * load.orders + 5.0 * kept
    if request.queries.several:
        why = "the two entries of an event are complete at different times, so a stream keeps cells"
        yield Candidate(ways.LEVELS, ways.UNFIT, refused=why)
    else:
        yield _in_operator(request, BY_LEVELS, loads[0][1], whole)
    yield Candidate(ways.CELLS, ways.CELL_COPIES, None, copies, whole)
    yield Candidate(ways.CELLS, ways.CELL_DYADICS, None, dyadic, whole)
    each = EACH if request.dropping else ""
    yield Candidate(ways.AGGREGATE_BUCKETS, ways.EVENT_COPIES, refused=each)


def _separate(request: Request, loads: Loads) -> Placing:
    """Each query by itself; only if forced: what another pass over the source costs is unknown."""
    apart = 0.0
    if not request.streaming:
        for share, load in loads:
            apart += share * min(one.cost for one in _batch(request, [(1.0, load)]))
    why = request.ruled_out.get(ways.SEPARATE, "")
    return Candidate(ways.SEPARATE, ways.EVENTS_ONE_BY_ONE, None, apart, why, forced=True)


def _operators(request: Request, load: Load) -> Iterator[Placing]:
    """The paper's other techniques, each in one Python operator."""
    for technique in TECHNIQUES:
        refusals = map(technique.refuses, request.fields)
        why = WHOLE if request.opening else next(filter(None, refusals), "")
        yield _in_operator(request, technique, load, why)


def _in_operator(request: Request, technique: Technique, load: Load, why: str) -> Placing:
    steps = operations(technique, load, request.height)
    price = PYTHON_ROW * load.events + PYTHON_STEP * steps
    cut = alone(pairs(request.grids[0]), technique.way.rollup)
    return Candidate(technique.strategy, technique.way, cut, price, why)


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


def operations(technique: Technique, load: Load, height: int = 1) -> float:
    """Steps a SLIDE: the event costs of the paper's Table 4, and its window costs once a SLIDE.

    The paper amortises them over the N events of a window; here they are those of a SLIDE, so that
    techniques can be compared.
    """
    return technique.inserts(load, height) * load.events + technique.releases(load, height)


def _log(number: float) -> float:
    return math.log2(max(number, 1.0))
