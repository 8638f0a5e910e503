"""What a plan is made for: windows, aggregates and workload, and what rules ways out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fanlight.plan.coordinate import Coordinate
from fanlight.plan.grid import Grid
from fanlight.plan.query import Queries

ROWS = 10_000.0  # a SLIDE, where nothing is told
KEYS = 100.0


@dataclass(frozen=True)
class FieldFacts:
    """What a choice has to know of one field of a partial."""

    label: str  # the aggregate that it belongs to
    running: bool  # whether a running merge costs O(1) a row
    invertible: bool
    why_not: str = ""  # why it cannot be taken back
    counted: bool = False  # keeps every distinct value with its count
    selective: bool = False  # one row's value decides it: a minimum or a maximum


@dataclass(frozen=True)
class Workload:
    """How much there is to do: rows a SLIDE of the first windows, keys, how long an event lasts."""

    rows_per_slide: float = ROWS
    groups: float = KEYS
    assumed: bool = True
    duration: float | None = None  # in coordinates; None: as long as the first windows


@dataclass(frozen=True)
class Hints:
    """The technique asked for, and the workload as far as it is told."""

    strategy: str = "auto"
    rate: float | None = None
    groups: float | None = None
    duration: Fraction | None = None  # in the units of the windows
    height: int = 7

    def told(self, strategy: str, **hints: float | Fraction | None) -> Hints:
        """These, where nothing else is told."""
        known = {name: value for name, value in hints.items() if value is not None}
        return replace(self, strategy=strategy, **known)  # type: ignore[arg-type]

    def workload(
        self, coordinate: Coordinate, grid: Grid, *, keyed: bool, at_every_row: bool = False
    ) -> Workload:
        """The workload, seen from the grid of the first windows."""
        groups = self.groups or (KEYS if keyed else 1.0)
        last = None if self.duration is None else float(self.duration / coordinate.unit)
        if coordinate.counted:
            return Workload(grid.slide * groups, groups, self.groups is None)
        if self.rate is None:
            rows = 100.0 * groups if at_every_row else ROWS
            return Workload(rows, groups, duration=last)
        length = grid.range if at_every_row else grid.slide
        seconds = length * float(coordinate.unit) / coordinate.per_second
        return Workload(self.rate * seconds, groups, assumed=False, duration=last)


@dataclass(frozen=True)
class Request:
    """A set of windows over points or over events that last, and what is kept of each window.

    ``alone`` says why the queries cannot be computed one by one, ``operator`` why nothing but a
    stateful operator will do, ``native`` why no operator can; empty where that is not so.
    """

    coordinate: Coordinate
    queries: Queries
    fields: Sequence[FieldFacts]
    work: Workload = field(default_factory=Workload)
    streaming: bool = False
    lasting: bool = False
    at_every_row: bool = False
    height: int = 7
    alone: str = ""
    operator: str = ""
    native: str = ""

    @property
    def grids(self) -> tuple[Grid, ...]:
        """The grid of each query."""
        return self.queries.grids
