"""The plan of time windows: its candidates, and the choice between them.

Candidates of points are here: slices of one query, granules of several. Those of events with a
duration are in :mod:`fanlight.engine.plan.events`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fanlight.engine.algebra.ordering import Distinct, Reading
from fanlight.engine.plan import events, ways
from fanlight.engine.plan.candidate import (
    Candidate,
    Plan,
    choose_candidate,
    find_strategy,
    strategy_error,
)
from fanlight.engine.plan.cost import points
from fanlight.engine.plan.granules import (
    Cut,
    LastRows,
    Pieces,
    cut_into_pairs,
    cut_into_panes,
    feed_branches,
    granules_of,
    granules_of_cut,
    single_branch,
)
from fanlight.engine.plan.grid import Grid, MonthsBack
from fanlight.engine.plan.late_rows import EACH, WHOLE, Release
from fanlight.engine.plan.request import Event, Queries, Query, Request, Workload
from fanlight.engine.plan.ways import AUTO, Strategy
from fanlight.engine.spec.errors import FanlightError, refuse

Placing = Candidate[Pieces]

READ = frozenset({Distinct.kind, Reading.kind})  # what is read off ranks

_NO_TIMES_BACK = "when the first of the last rows is cannot be told by subtracting"
_NO_PANES = "windows end where rows are, so there are no panes to share"
_ONE_WAY = "in a stream one operator orders and counts the rows; there is no choice of roll-up"
_NO_VALUES = "it counts distinct values, and something else is asked for"
_NO_TIMES = "it is for time windows, not for those that end at rows"
_NO_RANKS = "it reads exact percentiles, frequent or distinct values, and something else is asked"
_ONE_OPERATOR = "windows given early, or of running events, are kept by one stateful operator"
_NO_OVERLAP = "windows that do not overlap have nothing to subtract"
_NONE_LEAVES = "windows begin together, so that no row leaves them"
_NO_LENGTH = "months differ in length, so that a day leaves several windows at once, or none"
_NO_LEAD = "it is for batches: in a stream a value's next row is not known"
_CARRIED = "what is carried into windows is known of pieces of time, not of single rows"
_NO_ORDER = (
    "a stream's panes are combined in Spark's state store, where windows have no order, so that "
    "none can be computed from the one before"
)


@dataclass(frozen=True)
class Proposal:
    """A source of candidates: for points or for events that last, for one query or for several.

    ``strategies`` are those that ``using(...)`` takes, ``candidates`` makes the candidates of a
    request.
    """

    strategies: tuple[Strategy, ...]
    candidates: Callable[[Request], Iterable[Placing]]
    lasting: bool = False
    one: bool = True
    several: bool = True

    def fits(self, *, lasting: bool, several: bool) -> bool:
        """Whether it is for such windows."""
        return self.lasting == lasting and (self.several if several else self.one)


def register_proposal(proposal: Proposal) -> None:
    """Register a further source of candidates."""
    PROPOSALS.append(proposal)


def find_proposals(*, lasting: bool, several: bool) -> list[Proposal]:
    """The proposals for such windows."""
    return [one for one in PROPOSALS if one.fits(lasting=lasting, several=several)]


def check_strategy(strategy: object, *, lasting: bool, several: bool) -> Strategy:
    """The strategy of a name; other names raise an error that lists all."""
    names = [
        one
        for proposal in find_proposals(lasting=lasting, several=several)
        for one in proposal.strategies
    ]
    if not lasting:
        return find_strategy(strategy, names)
    if several:
        others = find_proposals(lasting=True, several=False)
        alone = {one.name for other in others for one in other.strategies}
        events.refuse_for_several(strategy, alone, names)
    kind = "several windows" if several else "events with a duration"
    return find_strategy(strategy, names, of=f" for {kind}")


def plan_placed(request: Request, strategy: Strategy = AUTO) -> Plan[Pieces]:
    """The candidate with the lowest estimated cost, or the one that is asked for."""
    if request.early or request.unended:
        if strategy != AUTO:
            raise strategy_error(strategy, _ONE_OPERATOR)
        cost = points.row_pass(by_python=False, returned=True)
        return choose_candidate([Candidate(AUTO, ways.OPEN_IN_OPERATOR, None, cost)])
    apart = request.ruled_out.get(ways.SEPARATE, "")
    if request.opens_late_rows and apart:
        raise refuse(
            "late='open'",
            f"takes each query by itself, but {apart}",
            "leave it out; a late row is then in none of its windows",
        )
    return choose_candidate(list_candidates(request), strategy)


def list_candidates(request: Request) -> list[Placing]:
    """A candidate for every way to compute the windows, also for those that do not fit."""
    asked = find_proposals(lasting=request.lasting, several=request.queries.several)
    return [one for proposal in asked for one in proposal.candidates(request)]


def _add_fixed_costs(
    propose: Callable[[Request], Iterable[Placing]],
) -> Callable[[Request], Iterable[Placing]]:
    """Add to each candidate its fixed cost, which it has however few rows there are."""

    def with_fixed_cost(request: Request) -> Iterator[Placing]:
        for one in propose(request):
            native = one.lift == ways.SPARK_WINDOWS
            more = points.plan_overhead(
                request.work, native=native, shuffled=one.rollup.shuffled,
                compiled=one.way.compiled,
            )  # fmt: skip
            yield replace(one, cost=one.cost + more)

    return with_fixed_cost


def _propose_one(request: Request) -> Iterable[Placing]:
    """Candidates for one query over points, whatever the aggregates."""
    if request.event.ordered and request.streaming:
        return (
            _propose_every_row_stream()
            if request.event is Event.ENDING
            else _propose_counted_stream(request)
        )
    if request.event is Event.ENDING:
        return _propose_every_row(request)
    return _propose_stream(request) if request.streaming else _propose_batch(request)


def _propose_lifetimes(request: Request) -> Iterator[Placing]:
    """Distinct values as events that last: one pass for all queries."""
    why = "" if request.reads == {Distinct.kind} else _NO_VALUES
    cost = _cost_of_queries(request, points.lifetimes)
    way = ways.LIFETIMES_OF_ALL if request.queries.several else ways.VALUE_LIFETIMES
    yield Candidate(ways.LIFETIMES, way, None, cost, _why_not_placed(request) or why)


def _propose_ranks(request: Request) -> Iterator[Placing]:
    """Rank values, and read the results off the ranks in one pass over rows in order of time."""
    why = request.ruled_out.get(ways.RANKS, "") if request.reads <= READ else _NO_RANKS
    cost = _cost_of_queries(request, points.ranks)
    way = ways.RANKED_FOR_EACH if request.queries.several else ways.RANKED
    yield Candidate(ways.RANKS, way, None, cost, _why_not_placed(request) or why)


def _why_not_placed(request: Request) -> str:
    """Explain why a strategy for batches of time windows does not apply. Empty if it does."""
    if request.event.ordered:
        return _NO_TIMES
    why = next(filter(None, map(_why_anew, request.grids)), "")
    if why:
        return why
    return _NO_LEAD if request.streaming else ""


def _why_anew(grid: Grid) -> str:
    """Why no window is the one before it, less what leaves it and with what enters it."""
    if isinstance(grid.begins, MonthsBack):
        return _NO_LENGTH
    return _NONE_LEAVES if grid.begins else ""


def _cost_of_queries(request: Request, cost: Callable[[points.Load], float]) -> float:
    """What all queries cost in a SLIDE of the first; ``cost`` is that of one in its own SLIDE."""
    finest, whole = request.grids[0], 0.0
    for grid in request.grids:
        share = finest.slide / grid.slide
        work = replace(request.work, rows_per_slide=request.work.rows_per_slide / share)
        whole += cost(_load_of_cut(work, cut_into_panes(grid))) * share
    return whole


def _list_cuts(request: Request) -> list[tuple[Strategy, Cut]]:
    (grid,) = request.grids
    return [(ways.PANES, cut_into_panes(grid)), (ways.PAIRS, cut_into_pairs(grid))]


def _load_of_cut(work: Workload, cut: Cut) -> points.Load:
    return points.Load.of(work, cut.span, cut.step, min(cut.grid.overlap, cut.span))


def _propose_batch(request: Request) -> Iterator[Placing]:
    fields, work = request.fields, request.work
    collected = sum(not field.running for field in fields)
    # Rows that are numbered are slices already; there is nothing to count by value before.
    counts = not request.coordinate.counted and any(field.counted for field in fields)
    sketch = points.sketching([field.sketch for field in fields])
    for name, cut in _list_cuts(request):
        load = _load_of_cut(work, cut)
        if cut.span == 1 and counts and request.by_spark:
            yield _cut_candidate(name, ways.SPARK_AGGREGATES, cut, points.spark_aggregates(load))
        elif cut.span == 1:
            cost = points.counts(load, sketch) if counts else points.slicing(load, sketch)
            yield _cut_candidate(name, ways.SLICES, cut, cost)
        elif counts:
            yield _cut_candidate(name, ways.COUNT_COPIES, cut, points.counts(load, sketch))
        elif isinstance(cut.grid.begins, MonthsBack):
            yield _cut_candidate(name, ways.DAYS_COPIED, cut, points.copies(load, sketch))
        elif cut.grid.begins:
            yield _cut_candidate(
                name, ways.ACCUMULATED, cut, points.accumulate(load, collected, sketch)
            )
        else:
            yield _cut_candidate(name, ways.SCANNED, cut, points.scan(load, collected, sketch))
            if any(field.running for field in fields):
                yield _cut_candidate(
                    name, ways.STACKED, cut, points.two_stacks(load, collected, sketch)
                )
    cut = cut_into_pairs(request.grids[0])
    refused = _why_not_invertible(request)
    if not refused and (cut.span == 1 or cut.grid.begins):
        refused = _why_anew(cut.grid) or _NO_OVERLAP
    cost = points.difference(_load_of_cut(work, cut))
    yield _cut_candidate(ways.DIFFERENTIAL, ways.SUBTRACTED, cut, cost, refused)
    load = _load_of_cut(work, cut_into_panes(request.grids[0]))
    if request.native_windows and request.is_placed_batch:
        kept = counts or any(field.native and not field.registered for field in fields)
        registered = sum(field.native and field.registered for field in fields)
        sketch = points.sketching([field.sketch for field in fields if not field.native])
        cost = points.spark_windows(load, kept=kept, sketch=sketch, registered=registered)
        yield _expand_candidate(request, ways.SPARK_OWN, cost)
    else:
        cost = points.expanded_counts(load, sketch) if counts else points.expand(load, sketch)
        why = _CARRIED if request.carried else ""
        yield _expand_candidate(request, ways.EXPANDED, cost, why)


def _cut_candidate(
    name: Strategy, way: ways.Way, cut: Cut, cost: float, refused: str = ""
) -> Placing:
    return Candidate(name, way, single_branch(cut, way.rollup), cost, refused)


def _expand_candidate(request: Request, way: ways.Way, cost: float, refused: str = "") -> Placing:
    return _cut_candidate(ways.EXPAND, way, cut_into_panes(request.grids[0]), cost, refused)


def _propose_stream(request: Request) -> Iterator[Placing]:
    shared = request.grids[0].overlap > 1  # else a row is in one window, and the rules are one
    whole = WHOLE if shared and request.opens_late_rows else ""
    sketch = points.sketching([field.sketch for field in request.fields])
    for name, cut in _list_cuts(request):
        way = ways.SLICES if cut.span == 1 else ways.SLICE_COPIES
        cost = points.copies(_load_of_cut(request.work, cut), sketch)
        yield _cut_candidate(name, way, cut, cost, whole)
    yield Candidate(ways.DIFFERENTIAL, ways.UNFIT, refused=_NO_ORDER)
    cost = points.expand(_load_of_cut(request.work, cut_into_panes(request.grids[0])), sketch)
    each = EACH if shared and request.drops_late_rows else ""
    each = _CARRIED if request.carried else each
    yield _expand_candidate(request, ways.EXPANDED, cost, each)


def _propose_counted_stream(request: Request) -> Iterator[Placing]:
    """Windows counted in rows over a stream: one operator numbers, cuts and rolls up the rows."""
    for name, cut in _list_cuts(request):
        yield _cut_candidate(
            name, ways.ROWS_IN_OPERATOR, cut, points.difference(_load_of_cut(request.work, cut))
        )
    for name in (ways.DIFFERENTIAL, ways.EXPAND):
        yield Candidate(name, ways.ROWS_IN_OPERATOR, refused=_ONE_WAY)


def _propose_every_row_stream() -> Iterator[Placing]:
    yield Candidate(AUTO, ways.ROWS_IN_OPERATOR)
    for name in (ways.PANES, ways.PAIRS, ways.EXPAND, ways.DIFFERENTIAL):
        yield Candidate(name, ways.ROWS_IN_OPERATOR, refused=_NO_PANES)


def _propose_every_row(request: Request) -> Iterator[Placing]:
    """Rows end windows: there are no panes to share (Li et al., section 1, Query 2)."""
    rows = max(request.work.rows_per_slide, 1.0)
    load = points.Load(rows, max(int(rows), 2), 1, 1.0, 1.0)
    collected = sum(not field.running for field in request.fields)
    scanned, subtracted = ways.EVERY_ROW_SCANNED, ways.EVERY_ROW_SUBTRACTED
    yield Candidate(ways.PANES, scanned, refused=_NO_PANES)
    yield Candidate(ways.PAIRS, scanned, refused=_NO_PANES)
    yield Candidate(ways.EXPAND, scanned, None, points.scan(load, collected))
    cost, why = points.difference(load), _why_not_invertible(request)
    if isinstance(request.ends, LastRows):
        why = _NO_TIMES_BACK
    yield Candidate(ways.DIFFERENTIAL, subtracted, None, cost, why)
    if any(field.running for field in request.fields):
        # It has no name of its own: "auto" takes it if scanning would cost more.
        stacks = points.two_stacks(load, collected)
        yield Candidate(AUTO, ways.EVERY_ROW_STACKED, None, stacks)


def _why_not_invertible(request: Request) -> str:
    field = next((one for one in request.fields if not one.invertible), None)
    return "" if field is None else f"{field.label} {field.why_not}"


def _propose_several(request: Request) -> Iterator[Placing]:
    """Granules for all queries, a chain of them in a stateful operator, or each query alone."""
    finest, work = request.grids[0], request.work
    best = [_best_candidate(request, query) for query in request.queries.queries]
    pieces = feed_branches(request.grids, [(one.pieces.only_cut, one.rollup) for one in best])
    chain = events.FOLLOWED if request.followed else request.ruled_out.get(ways.CHAIN, "")
    chain = _CARRIED if request.carried else chain
    if not request.streaming and not chain:
        chain = "it is for streams; Spark rolls up a batch itself, and there is no state to keep"
    counts = any(branch.rollup == ways.COPIES for branch in pieces.branches)
    native = not request.streaming and request.event is not Event.COUNTED
    shared = ways.SHARED_COUNTS if counts and native else ways.SHARED_SLICES
    together = _shared_cost(request, pieces, best)
    slices = pieces.granules.density * finest.slide
    through = points.chain(work, slices, together)
    apart = sum(
        one.cost * finest.slide / grid.slide for one, grid in zip(best, request.grids, strict=True)
    )
    whole = WHOLE if request.opens_late_rows else ""
    why = request.ruled_out.get(ways.GRANULES, "") or whole
    yield Candidate(ways.GRANULES, shared, pieces, together, why)
    yield Candidate(ways.CHAIN, ways.STAIRWISE, pieces, through, chain or whole)
    # Together they never cost more, so each by itself only if asked for, or for open windows.
    why, only = request.ruled_out.get(ways.SEPARATE, ""), not whole
    yield Candidate(ways.SEPARATE, ways.ONE_BY_ONE, None, apart, why, forced=only)


def _best_candidate(request: Request, query: Query) -> Placing:
    """The best cut and roll-up of one query by itself."""
    rows = request.work.rows_per_slide * query.grid.slide / request.grids[0].slide
    counted = request.event is Event.COUNTED
    mine = replace(
        request,
        queries=Queries((query,)),
        work=replace(request.work, rows_per_slide=rows),
        # Rows that an operator numbers are cut as those of a batch.
        release=Release.of("drop", streaming=request.streaming and not counted),
        by_spark=False,
    )
    cuts = [one for one in list_candidates(mine) if one.strategy in (ways.PANES, ways.PAIRS)]
    fitting = [one for one in cuts if not one.refused]
    # Panes shorter than pairs would cut through granules, which end only where windows do.
    granules = granules_of([query.grid])
    whole = [
        one for one in fitting if granules_of_cut(one.pieces.only_cut).is_coarser_than(granules)
    ]
    return min(whole or fitting, key=lambda one: one.cost)


def _shared_cost(request: Request, pieces: Pieces, best: list[Placing]) -> float:
    """What granules and the roll-up of each branch cost in a SLIDE of the finest query."""
    work, finest = request.work, request.grids[0]
    slices = pieces.granules.density * finest.slide
    whole = points.granules(work, slices)
    for branch in pieces.branches:
        grid = request.grids[branch.number]
        share = finest.slide / grid.slide
        if request.streaming:
            whole += points.granule_copies(work, slices, grid.overlap)
        else:
            load = _load_of_cut(
                replace(work, rows_per_slide=work.rows_per_slide / share), branch.cut
            )
            whole += (best[branch.number].cost - points.slicing(load)) * share
    return whole


PROPOSALS = [
    Proposal(
        (ways.PANES, ways.PAIRS, ways.EXPAND, ways.DIFFERENTIAL),
        _add_fixed_costs(_propose_one), several=False,
    ),
    Proposal(
        (ways.GRANULES, ways.CHAIN, ways.SEPARATE), _add_fixed_costs(_propose_several), one=False,
    ),
    Proposal((ways.LIFETIMES,), _add_fixed_costs(_propose_lifetimes)),
    Proposal((ways.RANKS,), _add_fixed_costs(_propose_ranks)),
    Proposal(events.ONE, _add_fixed_costs(events.list_candidates), lasting=True, several=False),
    Proposal(events.SEVERAL, _add_fixed_costs(events.list_candidates), lasting=True, one=False),
]  # fmt: skip


def plan_in_parts(
    whole: Request, parts: Sequence[Request], strategy: ways.Strategy = ways.AUTO
) -> list[Plan[Pieces]] | None:
    """A plan for each part of the aggregates; None if all of them are better computed together."""
    if strategy.of_values:
        return _plan_for_values(parts, strategy)
    together = plan_placed(whole, strategy)
    if together.chosen.strategy == ways.SEPARATE:
        return None  # each query by itself plans its own aggregates
    plans = [plan_placed(part, strategy) for part in parts]
    joined = points.joined_results(whole.work) + points.plan_overhead(
        whole.work, native=True, shuffled=True
    )
    apart = sum(plan.chosen.cost for plan in plans) + joined * len(parts)
    return plans if apart < together.chosen.cost else None


def _plan_for_values(
    parts: Sequence[Request], strategy: ways.Strategy
) -> list[Plan[Pieces]] | None:
    """A plan for each part, by the strategy where it fits; None if it fits no part."""
    plans, fits = [], False
    for part in parts:
        try:
            plans.append(plan_placed(part, strategy))
            fits = True
        except FanlightError:
            plans.append(plan_placed(part))
    return plans if fits else None
