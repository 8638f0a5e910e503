"""Slices: the pieces into which time is cut, and the fewest that several queries share.

Every window is a run of whole slices: they end wherever a window of any query begins or ends; no
fewer will do. From these *granules* each query makes its own, coarser slices, or takes those that a
finer query has made (Patroumpas and Sellis, III.B: the finer level feeds the coarser).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fanlight.engine.plan.grid import Grid, Months, MonthsBack, Number
from fanlight.engine.plan.ways import Rollup
from fanlight.engine.spec.sliding import Sliding

Edge = tuple[int, int]  # a series of edges: where one of them is, and how far apart they are


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
    by_months = any(isinstance(one.begins, (Months, MonthsBack)) for one in grids)
    if by_months or any(one.opened or one.closed for one in grids):
        return None
    lengths = [one.range for one in grids] + [one.slide for one in grids]
    width = math.gcd(*lengths, *(one.offset - first.offset for one in grids))
    return Grid(width, width, first.offset % width)


def cut_into_pairs(grid: Grid) -> Cut:
    """The widest slices that add up to every window: at most two per SLIDE."""
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


@dataclass(frozen=True)
class Granules:
    """The shared slices: time is cut at the edges of every series, and nowhere else."""

    edges: tuple[Edge, ...]

    def slice_start(self, coordinate: int) -> int:
        """Where the slice that a coordinate lies in begins."""
        return max(coordinate - (coordinate - first) % every for first, every in self.edges)

    @property
    def density(self) -> float:
        """An upper bound of the number of slices in a unit of the coordinate."""
        return sum(1 / every for _, every in self.edges)

    def is_coarser_than(self, finer: Granules) -> bool:
        """Whether every edge of these is also an edge of ``finer``."""
        return all(any(_is_part_of(edge, other) for other in finer.edges) for edge in self.edges)


def granules_of(grids: Sequence[Grid]) -> Granules:
    """The fewest slices of which the windows of all grids are runs."""
    cuts = granules_of_bounds(grids, starts=True), granules_of_bounds(grids, starts=False)
    return Granules(_drop_redundant([edge for cut in cuts for edge in cut.edges]))


def granules_of_bounds(grids: Sequence[Grid], *, starts: bool) -> Granules:
    """Time cut where windows of any of the grids start, or where they end."""
    lengths = [0 if starts else grid.range for grid in grids]
    pairs = zip(grids, lengths, strict=True)
    return Granules(
        _drop_redundant(
            [((grid.offset + length) % grid.slide, grid.slide) for grid, length in pairs]
        )
    )


def granules_of_cut(cut: Cut) -> Granules:
    """Time cut where the slices of one query begin."""
    grid = cut.grid
    if cut.span == 1 or cut.technique == "pairs":
        return granules_of([grid])
    return Granules(((grid.offset % cut.head, cut.head),))


def _is_part_of(edge: Edge, other: Edge) -> bool:
    """Whether each edge of a series is also one of another series."""
    return edge[1] % other[1] == 0 and (edge[0] - other[0]) % other[1] == 0


def _drop_redundant(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The series, without those that are part of another one."""
    kept: list[Edge] = []
    for edge in sorted(set(edges), key=lambda one: (one[1], one[0])):
        if not any(_is_part_of(edge, other) for other in kept):
            kept.append(edge)
    return tuple(kept)


@dataclass(frozen=True)
class Branch:
    """How the windows of one query are made from the granules."""

    number: int  # its place among the queries
    cut: Cut
    rollup: Rollup
    source: int | None  # number of the branch whose slices it is made from; None: the granules
    whole: bool  # whether it takes the slices of its source unchanged
    together: bool = False  # whether it is rolled up in one step with other short branches


@dataclass(frozen=True)
class Pieces:
    """The cut of points: granules, and the branches made from them, finest first."""

    granules: Granules
    branches: tuple[Branch, ...]

    @property
    def only_cut(self) -> Cut:
        """The slices of the only query."""
        (branch,) = self.branches
        return branch.cut


def single_branch(cut: Cut, rollup: Rollup) -> Pieces:
    """The pieces of a single query: its own slices."""
    return Pieces(granules_of_cut(cut), (Branch(0, cut, rollup, None, whole=True),))


def feed_branches(grids: Sequence[Grid], chosen: Sequence[tuple[Cut, Rollup]]) -> Pieces:
    """Make each query from the coarsest slices that its own cut allows.

    ``chosen`` is the (cut, roll-up) of each query.
    """
    granules = granules_of(grids)
    cuts = [cut for cut, _ in chosen]
    order = sorted(range(len(cuts)), key=lambda n: -granules_of_cut(cuts[n]).density)
    branches: list[Branch] = []
    for number in order:
        cut, rollup = chosen[number]
        edges = granules_of_cut(cut)
        whole = [one for one in branches if not one.cut.has_gaps]
        fitting = [one for one in whole if edges.is_coarser_than(granules_of_cut(one.cut))]
        source = min(fitting, key=lambda b: granules_of_cut(b.cut).density, default=None)
        finer = granules if source is None else granules_of_cut(source.cut)
        feeds = None if source is None else source.number
        branches.append(Branch(number, cut, rollup, feeds, whole=finer.is_coarser_than(edges)))
    return Pieces(granules, _group_short_branches(tuple(branches)))


def _group_short_branches(branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
    """Mark the branches whose windows have few slices, to be rolled up in the same steps.

    What a branch costs besides its rows, such as planning and sorting, is then paid once.
    """
    short: set[int] = set()
    feeding: set[int | None] = set()  # branches whose slices others are made from
    for branch in reversed(branches):
        finest = branch.whole and branch.source is None  # its slices are the granules themselves
        few = branch.rollup.short and not (finest or branch.cut.has_gaps)
        if few and branch.number not in feeding:
            short.add(branch.number)
        else:
            feeding.add(branch.source)
    if len(short) < 2:
        return branches
    return tuple(replace(branch, together=branch.number in short) for branch in branches)


Technique = Literal["panes", "pairs"]
