"""Events with a duration: Table 4 of Suzanne et al. for their techniques, and ours for our own.

A cost is that of a SLIDE of the first windows, in which one window of each key ends. Several
queries see the same events: each has its :class:`Load`, and the share of its SLIDEs in one of the
first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fanlight.engine.plan.cost.constants import (
    CELL,
    COLLECTED,
    COPY,
    COUNTED,
    DYADIC,
    ENTRY,
    EXPANDED_ROW,
    FILL,
    KEPT,
    ORDERS,
    PARTIAL,
    PYTHON_ROW,
    PYTHON_STEP,
    READ,
    STATE,
)
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.request import Request


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
        """The average number of windows per event."""
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

    @property
    def entries(self) -> float:
        """Distinct entries: a window begins the ranges of a few orders, and ends as many."""
        return min(2.0 * self.events, self.groups * 2.0 * min(self.orders, ORDERS))


Loads = Sequence[tuple[float, Load]]  # a query's SLIDEs in a SLIDE of the first, and its load


def list_loads(request: Request) -> list[Load]:
    """The load of each query, over the same rows."""
    first = request.grids[0]
    return [_load_of_grid(request, grid, first) for grid in request.grids]


def loads_with_shares(request: Request) -> Loads:
    """The load of each query, with its share."""
    shares = [request.grids[0].slide / grid.slide for grid in request.grids]
    return list(zip(shares, list_loads(request), strict=True))


def _load_of_grid(request: Request, grid: Grid, first: Grid) -> Load:
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


def entries(loads: Loads, *, running: bool) -> float:
    """The two entries of each event, then up their orders to windows.

    ``running`` says that all aggregates have running forms; else entries go down dyadic intervals.
    """
    events = loads[0][1].events
    return READ * events + sum(
        2.0 * ENTRY * events + share * _entry_roll_up(load, running=running)
        for share, load in loads
    )


def entry_sums(loads: Loads) -> float:
    """Each event added where it begins, and taken back where it is over: a running sum."""
    events = loads[0][1].events
    return READ * events + sum(
        2.0 * ENTRY * events
        + share * ((PARTIAL + FILL) * min(2.0 * load.events, load.groups) + COPY * load.groups)
        for share, load in loads
    )


def cell_entries(loads: Loads, *, running: bool) -> float:
    """Events combined in cells, whose entries then are those of events."""
    cells = _distinct_cells(loads)
    return _batch_cells(loads) + sum(
        2.0 * ENTRY * cells + share * _entry_roll_up(load, running=running) for share, load in loads
    )


def cell_copies(loads: Loads, *, running: bool) -> float:
    """Events combined in cells, each copied into all of its windows."""
    cells, copy = _distinct_cells(loads), COPY + (0.0 if running else COLLECTED)
    return _batch_cells(loads) + sum(
        copy * cells * load.windows + share * PARTIAL * load.groups for share, load in loads
    )


def pane_areas(request: Request, panes: Grid) -> float:
    """The ends of events to panes, what covers panes by the entries of events, panes to windows."""
    first = request.grids[0]
    several = first.slide / panes.slide
    work = replace(request.work, rows_per_slide=request.work.rows_per_slide / several)
    work = replace(work, duration=first.range if work.duration is None else work.duration)
    load = _load_of_grid(replace(request, work=work), panes, panes)
    covered = entries([(1.0, load)], running=True)
    ends = READ * load.events + 2.0 * EXPANDED_ROW * load.events
    return several * (covered + ends) + PARTIAL * load.groups * (several + len(request.grids))


def event_copies(loads: Loads, *, counted: bool, kept: bool = False) -> float:
    """Each event copied into each of its windows, and there, if ``counted``, counted by value.

    ``kept``: the copies are kept until all are there.
    """
    copy = EXPANDED_ROW + (COUNTED if counted else 0.0) + (KEPT if kept else 0.0)
    return READ * loads[0][1].events + sum(
        share * (copy * load.events * load.windows + PARTIAL * load.groups) for share, load in loads
    )


def stream_cell_copies(loads: Loads) -> float:
    """A stream's cells, each copied into all of its windows, which stay open in the state."""
    cells = _distinct_cells(loads)
    return _stream_cells(loads) + sum(
        COPY * cells * load.windows + share * STATE * load.groups for share, load in loads
    )


def stream_cell_dyadics(loads: Loads) -> float:
    """A stream's cells down dyadic intervals, by five aggregations that follow each other."""
    cells = _distinct_cells(loads)
    return _stream_cells(loads) + sum(
        (DYADIC + COPY * load.orders) * cells + 5.0 * share * STATE * load.groups
        for share, load in loads
    )


def _distinct_cells(loads: Loads) -> float:
    """Distinct cells in a SLIDE of the first windows, by the query that has the fewest."""
    return min(share * load.cells for share, load in loads if share * load.cells > 0.0)


def _batch_cells(loads: Loads) -> float:
    """A batch's events into their cells, and these through the shuffle."""
    return (READ + CELL) * loads[0][1].events + PARTIAL * _distinct_cells(loads)


def _stream_cells(loads: Loads) -> float:
    """A stream's events into their cells, and these into the state."""
    return CELL * loads[0][1].events + STATE * _distinct_cells(loads)


def _entry_roll_up(load: Load, *, running: bool) -> float:
    """Entries to windows: along the dyadic intervals of each order, or down through them."""
    through = PARTIAL * (load.entries + load.groups)
    into = COPY * load.orders * load.groups * load.windows / max(load.length, 1.0)
    if running:
        return through + FILL * load.entries + into
    down = DYADIC + (COLLECTED + COPY) * load.orders / 2.0
    return through + down * load.entries + (into + COLLECTED) * 2.0


@dataclass(frozen=True)
class Steps:
    """How many times a technique combines partials, in a stateful operator in Python.

    ``inserts`` counts them for an event that enters, ``releases`` for a SLIDE that is released: the
    event costs and window costs of the paper's Table 4. The second argument of both is the height
    of a pyramid. The paper amortises window costs over the N events of a window; here they are
    those of a SLIDE, so that techniques can be compared.
    """

    inserts: Callable[[Load, int], float]
    releases: Callable[[Load, int], float]

    def total_steps(self, load: Load, height: int = 1) -> float:
        """All steps in a SLIDE."""
        return self.inserts(load, height) * load.events + self.releases(load, height)

    def cost(self, load: Load, height: int = 1) -> float:
        """The cost of a SLIDE: its steps, and its events on their way into Python."""
        return PYTHON_ROW * load.events + PYTHON_STEP * self.total_steps(load, height)


def _log2(number: float) -> float:
    return math.log2(max(number, 1.0))


TUPLE_BUCKETS = Steps(
    lambda load, _: load.windows,
    lambda load, _: load.events * load.windows,
)
CUMULATIVE_SWEEPING = Steps(
    lambda load, _: 2.0 * _log2(load.events * load.windows),
    lambda load, _: load.events * 2.0,
)
SELECTIVE_SWEEPING = Steps(
    lambda load, _: 2.0 * _log2(load.events * load.windows),
    lambda load, _: load.events * _log2(load.events * load.windows),
)
SE_SLICING = Steps(
    lambda load, _: load.touched,
    lambda load, _: load.groups * load.span,
)
SE_ML_SLICING = Steps(
    lambda load, height: math.ceil(load.touched / height),
    lambda load, height: load.groups * height * (load.span + (height - 1) / 2.0),
)
# Ours, which is not in the paper: a constant number of steps to insert, ``log2`` of the duration to
# release.
LEVELS = Steps(
    lambda _, __: 3.0,
    lambda load, _: load.groups * load.slices * (2.0 * _log2(load.touched) + 3.0),
)
