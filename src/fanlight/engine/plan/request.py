"""Requests: the windows, fields and workload of a plan, and what rules candidates out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction

from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.cost.constants import KEYS, ROWS, ROWS_OF_KEY, SLIDES
from fanlight.engine.plan.granules import LastRows, RowEnds
from fanlight.engine.plan.grid import Grid
from fanlight.engine.plan.late_rows import Release
from fanlight.engine.plan.ways import AUTO, CHAIN, GRANULES, SEPARATE, Strategy


class Event(Enum):
    """What a row is in time, and with it what decides which windows there are."""

    POINT = "a row at an instant"
    ENDING = "a row at an instant, which may end a window"
    COUNTED = "one of a key's rows in order, which are counted"
    LASTING = "from a start to a stop"

    @property
    def ordered(self) -> bool:
        """Whether rows in order, not time alone, decide which windows there are."""
        return self in (Event.ENDING, Event.COUNTED)


@dataclass(frozen=True)
class FieldFacts:
    """What the choice of a candidate needs to know of one field of a partial."""

    label: str  # the aggregate that it belongs to
    running: bool  # whether Spark can combine a running partial in O(1) a row
    invertible: bool
    why_not: str = ""  # why it has no exact inverse
    counted: bool = False  # keeps every distinct value with its count
    selective: bool = False  # one row's value decides it: a minimum or a maximum
    decides_ties: bool = False  # and which of several rows, where these are equal
    sketch: int = 0  # bytes of the sketch that it keeps of the values
    native: bool = False  # Spark has an aggregate of its own instead
    registered: bool = False  # the sketch, and Spark's own, are registers; others keep all values
    divided: bool = False  # of the part of an event that lies in a window
    additive: bool = False  # and of several parts it is the sum of what each has
    at_once: bool = False  # only how many events are running at each instant matters
    united: bool = False  # only when at least one event is running matters


@dataclass(frozen=True)
class Workload:
    """How much there is to do: rows a SLIDE of the first windows, keys, how long an event lasts.

    ``rows`` is how many there are in all, where that is known.
    """

    rows_per_slide: float = ROWS
    groups: float = KEYS
    assumed: bool = True
    duration: float | None = None  # in coordinates; None: as long as the first windows
    rows: float | None = None

    @property
    def slides(self) -> float:
        """How many SLIDEs of rows there are; infinite where that is not known."""
        return math.inf if self.rows is None else max(self.rows / self.rows_per_slide, 1e-9)


@dataclass(frozen=True)
class Hints:
    """What ``using(...)`` was given: a strategy, and the workload as far as it is known."""

    strategy: Strategy = AUTO
    rate: float | None = None
    groups: float | None = None
    duration: Fraction | None = None  # in the units of the windows
    height: int = 7

    def with_hints(self, strategy: Strategy, **hints: float | Fraction | None) -> Hints:
        """Override these hints by those that are given now."""
        known = {name: value for name, value in hints.items() if value is not None}
        return replace(self, strategy=strategy, **known)  # type: ignore[arg-type]

    def estimate_workload(
        self,
        coordinate: Coordinate,
        grid: Grid,
        *,
        keyed: bool,
        ends: RowEnds | None = None,
    ) -> Workload:
        """The workload in a SLIDE of the first windows, whose grid is given.

        Where rows end windows of time, it is the workload in a window.
        """
        groups = self.groups or (KEYS if keyed else 1.0)
        last = None if self.duration is None else float(self.duration / coordinate.unit)
        if coordinate.counted:
            return Workload(grid.slide * groups, groups, self.groups is None)
        if isinstance(ends, LastRows):
            return Workload(ends.count * groups, groups, self.groups is None)
        if self.rate is None:
            rows = ROWS_OF_KEY * groups if ends else ROWS
            return Workload(rows, groups, duration=last)
        length = grid.range if ends else grid.slide
        seconds = length * float(coordinate.unit) / coordinate.per_second
        return Workload(self.rate * seconds, groups, assumed=False, duration=last)


def rule_out(*, together: str = "", operator: str = "", native: str = "") -> Mapping[Strategy, str]:
    """Why strategies for several queries cannot be used; empty texts rule out none.

    ``together``: why queries cannot be computed one by one, ``operator``: why only a stateful
    operator can compute them, ``native``: why none can.
    """
    return {SEPARATE: together or operator, GRANULES: operator, CHAIN: native}


@dataclass(frozen=True)
class Request:
    """The requested windows, over points or events with a duration (``lasting``), and fields.

    ``ruled_out`` says why strategies cannot be used, for reasons that only the DataFrame or the
    aggregates know. ``height`` is that of ``se-ml-slicing``.
    ``reads`` names what is read off value counts, one name for each aggregate;
    ``""`` stands for anything else. ``by_spark``: Spark has an aggregate of its own for each that
    needs value counts. ``native_windows``: Spark has these windows, and an aggregate of its own for
    each of the others, too. ``early``: windows are given also while they are open.
    ``unended``: in a stream some events have no stop yet.
    ``ends``: which rows end a window, where rows and time place it together. ``followed``: windows
    without rows follow those of a stream. ``carried``: how old what was there before may be that
    counts in a window, where some does.
    """

    coordinate: Coordinate
    queries: Queries
    fields: Sequence[FieldFacts]
    work: Workload = field(default_factory=Workload)
    event: Event = Event.POINT
    release: Release = Release.AT_ONCE
    height: int = 7
    ruled_out: Mapping[Strategy, str] = field(default_factory=dict)
    reads: frozenset[str] = frozenset({""})
    by_spark: bool = False
    native_windows: bool = False
    followed: bool = False
    early: bool = False
    unended: bool = False
    ends: RowEnds | None = None
    carried: str = ""

    def with_rows(self, rows: float | None) -> Request:
        """The same request, over about ``rows`` rows in all; None if that is not known."""
        work = replace(self.work, rows=rows)
        if self.lasting and work.assumed and rows is not None:
            each = max(rows, 1.0) / SLIDES  # Spark may know that there is none
            work = replace(work, rows_per_slide=min(work.rows_per_slide, each))
        return replace(self, work=work)

    @property
    def streaming(self) -> bool:
        """Whether windows are released one after the other, as a stream does."""
        return self.release is not Release.AT_ONCE

    @property
    def drops_late_rows(self) -> bool:
        """Whether a late row must be in none of its windows."""
        return self.release is Release.DROPPING

    @property
    def opens_late_rows(self) -> bool:
        """Whether a late row must be in those of its windows that are open."""
        return self.release is Release.OPENING

    @property
    def lasting(self) -> bool:
        """Whether rows are events with a duration."""
        return self.event is Event.LASTING

    @property
    def divided(self) -> str:
        """The first aggregate over parts of events. Empty if there is none."""
        return next((field.label for field in self.fields if field.divided), "")

    @property
    def can_split_aggregates(self) -> bool:
        """Whether aggregates may be computed in parts: their windows are known by their place."""
        divided = self.lasting and not self.streaming and bool(self.divided)
        return (self.is_placed_batch or divided) and not self.ruled_out.get(SEPARATE)

    @property
    def is_placed_batch(self) -> bool:
        """Whether it is about points of a batch, in time windows."""
        return not (self.event.ordered or self.streaming or self.lasting)

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each query."""
        return self.queries.grids


@dataclass(frozen=True)
class Query:
    """Windows on one grid, and the number their results are labelled with."""

    label: int
    grid: Grid


@dataclass(frozen=True)
class Queries:
    """The windows of a request: one query for a sliding window, several for levels and lists.

    ``name`` is the output column that holds the labels; empty for a sliding window, which has none.
    ``asked`` are the grids of all queries of the request where one of them is taken by itself.
    """

    queries: tuple[Query, ...]
    name: str = ""
    asked: tuple[Grid, ...] = ()

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each query."""
        return tuple(query.grid for query in self.queries)

    @property
    def deciding_grids(self) -> tuple[Grid, ...]:
        """The grids whose windows decide whether a row is late."""
        return self.asked or self.grids

    def reaching(self, before: int) -> Queries:
        """The same windows, which begin as much earlier."""
        wide = (replace(one, grid=one.grid.reaching(before)) for one in self.queries)
        asked = (grid.reaching(before) for grid in self.asked)
        return replace(self, queries=tuple(wide), asked=tuple(asked))

    @property
    def labels(self) -> tuple[int, ...]:
        """The label of each query."""
        return tuple(query.label for query in self.queries)

    @property
    def several(self) -> bool:
        """Whether results have a label."""
        return bool(self.name)
