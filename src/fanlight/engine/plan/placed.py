"""The plan of windows that time places: its candidates, and the choice between them.

Candidates of points are here: slices of one query, granules of several. Those of events with a
duration are in :mod:`fanlight.engine.plan.events`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fanlight.engine.algebra.readings import Distinct, Reading
from fanlight.engine.plan import cost, events
from fanlight.engine.plan.candidate import Candidate, Plan, choose, known
from fanlight.engine.plan.cut import Cut, pairs, panes
from fanlight.engine.plan.granules import Pieces, alone, edges_of_cut, fed, granules_of
from fanlight.engine.plan.late import EACH, WHOLE
from fanlight.engine.plan.query import Queries, Query
from fanlight.engine.plan.request import Request, Workload
from fanlight.engine.spec.errors import refuse

Way = Candidate[Pieces | None]

READ = frozenset({Distinct.kind, Reading.kind})  # what is read off ranks

ONE = ("auto", "panes", "pairs", "expand", "differential", "lifetimes", "ranks")
SEVERAL = ("auto", "granules", "chain", "separate", "lifetimes", "ranks")

_ONE_STEP = ("", "expand")  # roll-ups without a shuffle of their own

_NO_PANES = "a window ends at every row, so there are no panes to share"
_ONE_WAY = "in a stream one operator orders and counts the rows; there is no choice of roll-up"
_NO_VALUES = "it counts distinct values, and something else is asked for"
_NO_TIMES = "it is for windows that time places, not for those that end at rows"
_NO_RANKS = "it reads exact percentiles, frequent or distinct values, and something else is asked"
_NO_LEAD = "it is for batches: in a stream a value's next row is not known"
_NO_ORDER = (
    "a stream's panes are combined in Spark's state store, where windows have no order, so that "
    "none can be computed from the one before"
)


def check_strategy(strategy: object, *, lasting: bool, several: bool) -> str:
    """The strategy of this name; an error lists the names."""
    if lasting:
        return events.check_strategy(strategy, several=several)
    return known(strategy, SEVERAL if several else ONE)


def plan_placed(request: Request, strategy: str = "auto") -> Plan[Any]:
    """The candidate with the lowest estimated cost, or the one that is asked for."""
    if request.opening and request.alone:
        raise refuse(
            "late='open'",
            f"takes each query by itself, but {request.alone}",
            "leave it out; a late row is then in none of its windows",
        )
    found: list[Candidate[Any]] = []
    found += events.candidates(request) if request.lasting else candidates(request)
    return choose(found, strategy)


def candidates(request: Request) -> list[Way]:
    """Every way to compute windows over points."""
    found = [*_of_any(request), _lifetimes(request), _ranks(request)]
    return [replace(way, cost=way.cost + _fixed(request, way)) for way in found]


def _fixed(request: Request, way: Way) -> float:
    native, shuffled = way.lift == "windows", way.rollup not in _ONE_STEP
    return cost.fixed(request.work, native=native, shuffled=shuffled)


def _of_any(request: Request) -> list[Way]:
    """Those that are for any aggregates."""
    if request.queries.several:
        return _several(request)
    if request.ordered and request.streaming:
        return list(_every_row_stream() if request.at_every_row else _counted_stream(request))
    if request.at_every_row:
        return list(_every_row(request))
    return list(_stream(request) if request.streaming else _batch(request))


def _lifetimes(request: Request) -> Way:
    """Distinct values as events that last: one pass for all queries."""
    why = "" if request.reads == {Distinct.kind} else _NO_VALUES
    taken = _each(request, cost.lifetimes)
    return Candidate("lifetimes", None, "values", "running sum", taken, _unplaced(request) or why)


def _ranks(request: Request) -> Way:
    """Values ranked, and what is asked read off them in one pass of rows in order of time."""
    why = request.unranked if request.reads <= READ else _NO_RANKS
    taken = _each(request, cost.ranks)
    return Candidate("ranks", None, "values", "pass", taken, _unplaced(request) or why)


def _unplaced(request: Request) -> str:
    """Why windows are not those of a batch that time places."""
    if request.ordered:
        return _NO_TIMES
    return _NO_LEAD if request.streaming else ""


def _each(request: Request, taken: Callable[[cost.Load], float]) -> float:
    """What all queries take, a SLIDE of the first."""
    finest, whole = request.grids[0], 0.0
    for grid in request.grids:
        share = finest.slide / grid.slide
        work = replace(request.work, rows_per_slide=request.work.rows_per_slide / share)
        whole += taken(_load(work, panes(grid))) * share
    return whole


def _cuts(request: Request) -> list[tuple[str, Cut]]:
    (grid,) = request.grids
    return [("panes", panes(grid)), ("pairs", pairs(grid))]


def _load(work: Workload, cut: Cut) -> cost.Load:
    return cost.Load.of(work, cut.span, cut.step, min(cut.grid.overlap, cut.span))


def _batch(request: Request) -> Iterator[Way]:
    fields, work = request.fields, request.work
    collected = sum(not field.running for field in fields)
    # Rows that are numbered are slices already; there is nothing to count by value before.
    counts = not request.coordinate.counted and any(field.counted for field in fields)
    sketches = sum(field.sketch for field in fields)
    for name, cut in _cuts(request):
        load = _load(work, cut)
        if cut.span == 1 and counts and request.by_spark:
            yield Candidate(name, alone(cut, ""), "results", "", cost.collected(load))
        elif cut.span == 1:
            price = cost.counts(load, sketches) if counts else cost.slice_rows(load)
            yield Candidate(name, alone(cut, ""), "partials", "", price)
        elif counts:
            price = cost.counts(load, sketches)
            yield Candidate(name, alone(cut, "copies"), "counts", "copies", price)
        else:
            scan = cost.scan(load, collected)
            yield Candidate(name, alone(cut, "scan"), "partials", "scan", scan)
            if any(field.running for field in fields):
                stacks = cost.two_stacks(load, collected)
                yield Candidate(name, alone(cut, "two stacks"), "partials", "two stacks", stacks)
    cut = pairs(request.grids[0])
    refused = _not_invertible(request)
    if not refused and cut.span == 1:
        refused = "windows that do not overlap have nothing to subtract"
    taken = cost.difference(_load(work, cut))
    pieces = alone(cut, "difference")
    yield Candidate("differential", pieces, "partials", "difference", taken, refused)
    expanded, load = _expand(request), _load(work, panes(request.grids[0]))
    if request.native_windows and request.placed_batch:
        expanded = replace(expanded, lift="windows", cost=cost.native(load, kept=counts))
    elif counts:
        expanded = replace(expanded, cost=cost.expanded_counts(load, sketches))
    yield expanded


def _stream(request: Request) -> Iterator[Way]:
    shared = request.grids[0].overlap > 1  # else a row is in one window, and the rules are one
    whole = WHOLE if shared and request.opening else ""
    for name, cut in _cuts(request):
        rollup = "" if cut.span == 1 else "copies"
        price = cost.copies(_load(request.work, cut))
        yield Candidate(name, alone(cut, rollup), "partials", rollup, price, whole)
    yield Candidate("differential", None, refused=_NO_ORDER)
    yield replace(_expand(request), refused=EACH if shared and request.dropping else "")


def _counted_stream(request: Request) -> Iterator[Way]:
    """Windows counted in rows over a stream: one operator numbers, cuts and rolls up the rows."""
    for name, cut in _cuts(request):
        price = cost.difference(_load(request.work, cut))
        yield Candidate(name, alone(cut, "operator"), "rows", "operator", price)
    for name in ("differential", "expand"):
        yield Candidate(name, None, "rows", "operator", refused=_ONE_WAY)


def _every_row_stream() -> Iterator[Way]:
    yield Candidate("auto", None, "rows", "operator")
    for name in ("panes", "pairs", "expand", "differential"):
        yield Candidate(name, None, "rows", "operator", refused=_NO_PANES)


def _every_row(request: Request) -> Iterator[Way]:
    """Every row ends a window: there are no panes to share (Li et al., section 1, Query 2)."""
    rows = max(request.work.rows_per_slide, 1.0)
    load = cost.Load(rows, max(int(rows), 2), 1, 1.0, 1.0)
    collected = sum(not field.running for field in request.fields)
    yield Candidate("panes", None, "rows", "scan", refused=_NO_PANES)
    yield Candidate("pairs", None, "rows", "scan", refused=_NO_PANES)
    yield Candidate("expand", None, "rows", "scan", cost.scan(load, collected))
    taken = cost.difference(load)
    yield Candidate("differential", None, "rows", "difference", taken, _not_invertible(request))
    if any(field.running for field in request.fields):
        # It has no name of its own: "auto" takes it if scanning would cost more.
        yield Candidate("auto", None, "rows", "two stacks", cost.two_stacks(load, collected))


def _not_invertible(request: Request) -> str:
    found = next((field for field in request.fields if not field.invertible), None)
    return "" if found is None else f"{found.label} {found.why_not}"


def _expand(request: Request) -> Way:
    cut = panes(request.grids[0])
    return Candidate(
        "expand", alone(cut, "expand"), "rows", "expand", cost.expand(_load(request.work, cut))
    )


def _several(request: Request) -> list[Way]:
    """Granules for all queries, a chain of them in a stateful operator, or each query alone."""
    finest, work = request.grids[0], request.work
    best = [_best(request, query) for query in request.queries.queries]
    cuts = [(way.cut.branches[0].cut, way.rollup) for way in best if way.cut is not None]
    pieces = fed(request.grids, cuts)
    chain = request.native
    if not request.streaming and not chain:
        chain = "it is for streams; Spark rolls up a batch itself, and there is no state to keep"
    counts = any(branch.rollup == "copies" for branch in pieces.branches)
    native = not (request.streaming or request.coordinate.counted)
    lift = "counts" if counts and native else "partials"
    shared = _shared_cost(request, pieces, best)
    through = _per_report(request, pieces) + cost.FILL * work.groups + 2 * shared
    apart = sum(
        way.cost * finest.slide / grid.slide for way, grid in zip(best, request.grids, strict=True)
    )
    why, whole = request.operator, WHOLE if request.opening else ""
    # Together they never cost more, so each by itself only if asked for, or for open windows.
    only = not whole
    return [
        Candidate("granules", pieces, lift, "", shared, why or whole),
        Candidate("chain", pieces, "partials", "operator", through, chain or whole),
        Candidate("separate", None, "", "", apart, why or request.alone, forced=only),
    ]


def _best(request: Request, query: Query) -> Way:
    """The best cut and roll-up of one query by itself."""
    rows = request.work.rows_per_slide * query.grid.slide / request.grids[0].slide
    mine = replace(
        request,
        queries=Queries((query,)),
        work=replace(request.work, rows_per_slide=rows),
        # Rows that an operator numbers are cut as those of a batch.
        streaming=request.streaming and not request.coordinate.counted,
        late="drop",
        by_spark=False,
    )
    fitting = [way for way in candidates(mine) if way.strategy in ("panes", "pairs")]
    fitting = [way for way in fitting if not way.refused]
    # Panes shorter than pairs would cut through granules, which end only where windows do.
    granules = granules_of([query.grid])
    whole = [w for w in fitting if w.cut and edges_of_cut(w.cut.branches[0].cut).within(granules)]
    return min(whole or fitting, key=lambda way: way.cost)


def _per_report(request: Request, pieces: Pieces) -> float:
    """Rows into granules, in a SLIDE of the finest query: ``a * T + b * G``."""
    slices = pieces.granules.density * request.grids[0].slide
    work = request.work
    return cost.ROW * work.rows_per_slide + cost.PARTIAL * work.groups * slices


def _shared_cost(request: Request, pieces: Pieces, best: list[Way]) -> float:
    """Granules once, then the roll-up of each branch, in a SLIDE of the finest query."""
    work, finest = request.work, request.grids[0]
    whole = _per_report(request, pieces)
    for branch in pieces.branches:
        grid = request.grids[branch.number]
        share = finest.slide / grid.slide
        if request.streaming:
            slices = pieces.granules.density * finest.slide
            whole += cost.COPY * work.groups * slices * grid.overlap
        else:
            load = _load(replace(work, rows_per_slide=work.rows_per_slide / share), branch.cut)
            whole += (best[branch.number].cost - cost.slice_rows(load)) * share
    return whole
