"""Slices: the pieces into which time is cut, so that every window is a run of whole slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fanlight.engine.plan.grid import Grid, Number
from fanlight.engine.spec.sliding import Sliding

Technique = Literal["panes", "pairs"]


@dataclass(frozen=True)
class Cut:
    """Slices numbered in order of time; window ``m`` is slices ``m*step`` to ``m*step + span - 1``.

    ``panes``: slices of equal width, the greatest common divisor of RANGE and SLIDE (Li et al.,
    3.1). ``pairs``: two slices a SLIDE, of RANGE mod SLIDE and the rest, however small the divisor
    is (Krishnamurthy et al.). If windows do not overlap, each window is one slice.

        RANGE 9, SLIDE 6     0     3     6     9    12    15
        panes (3 | 3 | …)    |--0--|--1--|--2--|--3--|--4--|
        windows                [0 ------------- 9)
                                         [6 ------------ 15)
    """

    technique: Technique
    grid: Grid
    head: int  # width of a slice; of the first of each pair
    span: int  # slices a window
    step: int  # slices a SLIDE

    @property
    def has_gaps(self) -> bool:
        """Whether rows may lie in no window (SLIDE longer than RANGE)."""
        return self.grid.has_gaps

    def slice_of(self, at: Number) -> Number:
        """The slice that a coordinate lies in; in a gap, the slice before it."""
        slide = self.grid.last_window(at)
        if self.span == 1:
            return slide
        if self.technique == "pairs":
            return 2 * slide + (at - self.grid.window_start(slide) >= self.head)
        return (at - self.grid.offset) // self.head

    def slice_start(self, number: int) -> int:
        """The coordinate at which a slice begins."""
        if self.span == 1:
            return self.grid.window_start(number)
        if self.technique == "pairs":
            return self.grid.window_start(number // 2) + number % 2 * self.head
        return self.grid.offset + number * self.head


def cut_into_panes(grid: Grid) -> Cut:
    """Slices as wide as the greatest common divisor of RANGE and SLIDE."""
    if grid.slide >= grid.range:
        return Cut("panes", grid, grid.slide, 1, 1)
    width = math.gcd(grid.range, grid.slide)
    return Cut("panes", grid, width, grid.range // width, grid.slide // width)


def panes_of(grids: Sequence[Grid]) -> Grid | None:
    """Panes of one width of which the windows of all grids are made; None if there are none."""
    first = grids[0]
    if any(one.opened or one.closed or not isinstance(one.anew, bool) for one in grids):
        return None
    lengths = [one.range for one in grids] + [one.slide for one in grids]
    width = math.gcd(*lengths, *(one.offset - first.offset for one in grids))
    return Grid(width, width, first.offset % width)


def cut_into_pairs(grid: Grid) -> Cut:
    """At most two slices per SLIDE."""
    whole, head = divmod(grid.range, grid.slide)
    if grid.slide >= grid.range or head == 0:
        cut = cut_into_panes(grid)
        return Cut("pairs", grid, cut.head, cut.span, cut.step) if cut.span == 1 else cut
    return Cut("pairs", grid, head, 2 * whole + 1, 2)


@dataclass(frozen=True)
class EveryRows:
    """A window, as long as RANGE, ends at the instant of every so many rows of a key.

    ``shift`` is the number of rows before the first of them are counted.
    """

    every: int = 1
    shift: int = 0


@dataclass(frozen=True)
class LastRows:
    """A window holds the last ``count`` rows of a key before the end of a SLIDE with a row."""

    count: int


RowEnds = EveryRows | LastRows


def row_ends_of(spec: Sliding) -> RowEnds | None:
    """Which rows end the windows; None where time alone or rows alone place them."""
    if spec.slide_by_tuple:
        return EveryRows(int(spec.slide.value), int(spec.offset.value) % int(spec.slide.value))
    return LastRows(int(spec.range.value)) if spec.range_of_tuples else None


def counts_rows(ends: RowEnds | None) -> bool:
    """Whether a key's rows have to be counted from its first on."""
    return ends is not None and ends != EveryRows()
