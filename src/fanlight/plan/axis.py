"""A coordinate and a grid in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fanlight.plan.coordinate import Coordinate
from fanlight.plan.grid import Grid, gridded
from fanlight.spec.sliding import Sliding


@dataclass(frozen=True)
class Axis:
    """A coordinate and a grid on it."""

    coordinate: Coordinate
    grid: Grid

    @property
    def range(self) -> int:
        """RANGE."""
        return self.grid.range

    @property
    def slide(self) -> int:
        """SLIDE."""
        return self.grid.slide

    @property
    def offset(self) -> int:
        """The offset."""
        return self.grid.offset


def axis_of(spec: Sliding, time: str, time_type: str) -> Axis:
    """The axis of a spec over a time column of a Spark type; errors name the column."""
    return axes_of([spec], time, time_type)[0]


def axes_of(specs: Sequence[Sliding], time: str, time_type: str) -> list[Axis]:
    """One axis a spec, all in the same coordinates, so that slices of one serve another."""
    coordinate, grids = gridded(specs, time, time_type)
    return [Axis(coordinate, grid) for grid in grids]
