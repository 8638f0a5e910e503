"""Several windows over one stream: the fewest shared slices, and who is made from whose.

Windows of every level (or query) are runs of slices that end wherever a window of any of them
begins or ends: no fewer will do. From these *granules* each level makes its own, coarser ones, or
takes those that a finer level has made already (Patroumpas and Sellis, III.B: the finer level feeds
the coarser one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fanlight.plan import cost
from fanlight.plan.axis import Axis
from fanlight.plan.choice import fitting, known
from fanlight.plan.cut import Cut
from fanlight.plan.grid import Grid
from fanlight.plan.sliding import Candidate, FieldFacts, Rollup, plan_sliding

Strategy = Literal["auto", "granules", "chain", "separate"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "granules", "chain", "separate")
Edge = tuple[int, int]  # where the first one is, and how far apart they are


@dataclass(frozen=True)
class Granules:
    """The shared slices: time is cut at each of the edges, and nowhere else."""

    edges: tuple[Edge, ...]

    def start_of(self, coordinate: int) -> int:
        """Where the slice begins that a coordinate lies in."""
        return max(coordinate - (coordinate - first) % every for first, every in self.edges)

    def end_of(self, coordinate: int) -> int:
        """Where the slice ends that a coordinate lies in."""
        return min(coordinate + every - (coordinate - first) % every for first, every in self.edges)

    @property
    def density(self) -> float:
        """At most so many slices a coordinate."""
        return sum(1 / every for _, every in self.edges)

    def within(self, finer: Granules) -> bool:
        """Whether every edge of these is also an edge of ``finer``."""
        return all(any(_among(edge, other) for other in finer.edges) for edge in self.edges)


def granules_of(grids: Sequence[Grid]) -> Granules:
    """The fewest slices from which the windows of all grids can be put together."""
    cuts = edges_of(grids, starts=True), edges_of(grids, starts=False)
    return Granules(_fewest([edge for cut in cuts for edge in cut.edges]))


def edges_of(grids: Sequence[Grid], *, starts: bool) -> Granules:
    """Time cut where windows of any of the grids start, or where they end."""
    lengths = [0 if starts else grid.range for grid in grids]
    pairs = zip(grids, lengths, strict=True)
    return Granules(
        _fewest([((grid.offset + length) % grid.slide, grid.slide) for grid, length in pairs])
    )


def _among(edge: Edge, other: Edge) -> bool:
    return edge[1] % other[1] == 0 and (edge[0] - other[0]) % other[1] == 0


def _fewest(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Without the edges that lie among others."""
    kept: list[Edge] = []
    for edge in sorted(set(edges), key=lambda one: (one[1], one[0])):
        if not any(_among(edge, other) for other in kept):
            kept.append(edge)
    return tuple(kept)


@dataclass(frozen=True)
class Branch:
    """How one level or query comes out of the granules."""

    number: int  # its place among the axes
    cut: Cut
    rollup: Rollup
    source: int | None  # the branch whose slices it is made from; None: the granules
    whole: bool  # whether it can do with the slices of its source as they stand
    together: bool = False  # whether its few slices are rolled up in one step with other branches'


@dataclass(frozen=True)
class Way:
    """One way to compute all levels, with its estimated cost a report of the finest level."""

    strategy: Strategy
    cost: float
    refused: str = ""


@dataclass(frozen=True)
class GranularPlan:
    """The granules and the branches, finest first, beside what the other ways would cost."""

    axes: tuple[Axis, ...]
    granules: Granules
    branches: tuple[Branch, ...]
    chosen: Way
    ways: tuple[Way, ...]
    workload: cost.Workload
    streaming: bool
    forced: bool


def check_strategy(strategy: object) -> Strategy:
    """The strategy by its name; an error lists the names."""
    return known(strategy, STRATEGIES)


def plan_granular(
    axes: Sequence[Axis],
    fields: Sequence[FieldFacts],
    *,
    strategy: Strategy = "auto",
    workload: cost.Workload | None = None,
    streaming: bool = False,
    only_operator: str = "",
    no_operator: str = "",
    shared_only: str = "",
) -> GranularPlan:
    """Cut, feed and choose.

    ``only_operator`` says why nothing but the chain operator will do, ``no_operator`` why it
    cannot, ``shared_only`` why the levels cannot be computed apart; empty where they can.
    """
    work = workload or cost.Workload()
    granules = granules_of([axis.grid for axis in axes])
    alone = [_alone(axis, fields, work, axes[0], streaming=streaming) for axis in axes]
    branches = _together(_fed(granules, alone))
    if not streaming and not no_operator:
        no_operator = "a batch is rolled up by Spark itself: there is no state to keep"
    shared = _shared_cost(axes, granules, branches, alone, work, streaming=streaming)
    chain = _per_report(axes, granules, work) + cost.FILL * work.groups
    separate = sum(one.cost * axes[0].slide / a.slide for one, a in zip(alone, axes, strict=True))
    ways = (
        Way("granules", shared, only_operator),
        Way("chain", chain + 2 * shared, no_operator),
        Way("separate", separate, only_operator or shared_only),
    )
    # Granules wherever they can: they are never dearer than each level by itself.
    chosen = fitting(ways, strategy)[0]
    return GranularPlan(
        tuple(axes), granules, branches, chosen, ways, work, streaming, strategy != "auto"
    )


def _alone(
    axis: Axis, fields: Sequence[FieldFacts], work: cost.Workload, finest: Axis, *, streaming: bool
) -> Candidate:
    """The best cut and roll-up of one level by itself."""
    rows = work.rows_per_slide * axis.slide / finest.slide
    mine = cost.Workload(rows, work.groups, work.assumed)
    # Rows that an operator numbers are cut as a batch's are.
    native = streaming and not axis.coordinate.counted
    found = plan_sliding(axis, fields, workload=mine, streaming=native)
    fitting = [c for c in found.candidates if c.strategy in ("panes", "pairs") and not c.refused]
    # Panes narrower than the pairs would cut through granules, which end where windows do.
    whole = [c for c in fitting if c.cut and _edges(c.cut).within(granules_of([axis.grid]))]
    return min(whole or fitting, key=lambda one: one.cost)


def _edges(cut: Cut) -> Granules:
    grid = cut.grid
    if cut.span == 1 or cut.technique == "pairs":
        ends = [(grid.offset % grid.slide, grid.slide)]
        ends.append(((grid.offset + grid.range) % grid.slide, grid.slide))
        return Granules(_fewest(ends))
    return Granules(((grid.offset % cut.head, cut.head),))


def _fed(granules: Granules, alone: Sequence[Candidate]) -> tuple[Branch, ...]:
    """Each branch is fed by the coarsest slices that it can be made from."""
    cuts = [_cut(one) for one in alone]
    order = sorted(range(len(cuts)), key=lambda n: -_edges(cuts[n]).density)
    made: list[Branch] = []
    for number in order:
        edges = _edges(cuts[number])
        fitting = [b for b in made if not b.cut.gaps and edges.within(_edges(b.cut))]
        source = min(fitting, key=lambda b: _edges(b.cut).density, default=None)
        fed = granules if source is None else _edges(source.cut)
        whole = fed.within(edges)
        cut = cuts[number]
        made.append(
            Branch(
                number, cut, alone[number].rollup, None if source is None else source.number, whole
            )
        )
    return tuple(made)


def _together(branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
    """Branches of short windows over slices of their own need no steps of their own.

    What a branch costs beside its rows, such as planning and sorting, is paid once for all of them.
    """
    short: set[int] = set()
    feeding: set[int | None] = set()  # branches of their own, whose slices others are made from
    for branch in reversed(branches):
        finest = branch.whole and branch.source is None  # its slices are the granules themselves
        few = branch.rollup in ("scan", "none") and not (finest or branch.cut.gaps)
        if few and branch.number not in feeding:
            short.add(branch.number)
        else:
            feeding.add(branch.source)
    if len(short) < 2:
        return branches
    return tuple(replace(branch, together=branch.number in short) for branch in branches)


def _cut(candidate: Candidate) -> Cut:
    if candidate.cut is None:
        msg = "a level without a cut"
        raise AssertionError(msg)
    return candidate.cut


def _per_report(axes: Sequence[Axis], granules: Granules, work: cost.Workload) -> float:
    """Rows into granules, a report of the finest level: ``a * T + b * G``."""
    slices = granules.density * axes[0].slide
    return cost.ROW * work.rows_per_slide + cost.PARTIAL * work.groups * slices


def _shared_cost(
    axes: Sequence[Axis],
    granules: Granules,
    branches: Sequence[Branch],
    alone: Sequence[Candidate],
    work: cost.Workload,
    *,
    streaming: bool,
) -> float:
    """Granules once, then each branch's roll-up, a report of the finest level."""
    whole = _per_report(axes, granules, work)
    for branch in branches:
        axis = axes[branch.number]
        share = axes[0].slide / axis.slide
        rows = work.rows_per_slide / share
        load = cost.Load.of(
            cost.Workload(rows, work.groups), branch.cut.span, branch.cut.step,
            min(axis.range / axis.slide, branch.cut.span),
        )  # fmt: skip
        if streaming:
            slices = granules.density * axes[0].slide
            whole += cost.COPY * work.groups * slices * axis.range / axis.slide
        else:
            whole += (alone[branch.number].cost - cost.slice_rows(load)) * share
    return whole
