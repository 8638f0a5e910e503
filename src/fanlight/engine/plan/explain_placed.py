"""What ``explain()`` says about time windows, and about those counted in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fanlight.engine.algebra.sql_text import fill
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.cost.event_costs import Load, list_loads
from fanlight.engine.plan.explain import (
    About,
    Explained,
    Fact,
    strategy_facts,
    write_length,
)
from fanlight.engine.plan.granules import Branch, Cut, EveryRows, LastRows, Pieces, counts_rows
from fanlight.engine.plan.grid import Grid, Months, MonthsBack
from fanlight.engine.plan.late_rows import BEHIND
from fanlight.engine.plan.request import Event, Request
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.units import write_duration, write_units

_NO_CUT = "none: events differ only by the first and the last of their windows"
_KEPT = "by key, partials of {pieces}windows that the watermark has not passed, in Spark's store"
_ASSUMED = "assumed: give what you know with using("
_ENDS = {
    (0, 0): "", (1, 1): " with their ends, not their starts", (0, 1): " with both ends",
    (1, 0): " without their ends",
}  # fmt: skip
_FEW = 6  # windows of a row: with more of them Spark's copies cost more than a sort
_KEPT_BY_OPERATOR = "by key, the rows and partials of windows that are not final"


def explain_placed(
    plan: Plan[Pieces],
    request: Request,
    about: About,
    aggregates: Sequence[str],
    *,
    others: Sequence[str] = (),
    ttp: int | None = None,
) -> Explained:
    """The page of a plan.

    ``others`` are aggregates that are computed apart from these; ``ttp`` is in milliseconds.
    """
    computed = ", ".join(aggregates)
    if others:
        computed += f"; {', '.join(others)} separately, which is cheaper (below)"
    facts = [("computes", computed), *_window_facts(plan, request, verbose=about.verbose)]
    facts += [("how", _describe_way(plan, request)), *strategy_facts(plan, verbose=about.verbose)]
    facts += (
        _load_facts(request) if request.lasting else [("workload", _describe_points_load(request))]
    )
    if request.carried:
        facts.append(("carried", f"what holds when a window begins, from {request.carried} before"))
    facts += [*about.option_facts, *about.rejected_facts]
    facts += _plain_spark_facts(request)
    if about.verbose and not request.queries.several:
        facts.append(("cut", _describe_cut(plan, request)))
    released = []
    if request.unended:
        released.append(("running", "an event without a stop, at least up to the watermark"))
    if ttp is not None:
        released.append(("released", f"{write_duration(1000 * ttp)} (TTP) after a window's end"))
    return about.page(
        facts, plan, keeps=[("keeps", _describe_state(plan, request, about.state))],
        grows=request.event is Event.COUNTED or counts_rows(request.ends), released=released,
        rule=BEHIND if request.event.ordered else request.release.value,
        per=_cost_unit(request), picture=Picture(about.spec, _first_cut(plan), plan.chosen.name),
    )  # fmt: skip


def _plain_spark_facts(request: Request) -> Iterator[Fact]:
    """Say of a batch where Spark's own aggregates, which leave ties open, are faster."""
    tied = [one.label for one in request.fields if one.decides_ties]
    if tied and request.is_placed_batch and all(one.overlap <= _FEW for one in request.grids):
        which = " and ".join(dict.fromkeys(tied))
        yield "plain Spark", f"is faster, but leaves to chance on which of equal rows {which} falls"


def _first_cut(plan: Plan[Pieces]) -> Cut | None:
    """How the first of the windows is cut into slices; None if rows are copied instead."""
    chosen = plan.chosen
    return None if chosen.way.copied or chosen.cut is None else chosen.cut.branches[0].cut


def _cost_unit(request: Request) -> str:
    """What the costs are per."""
    queries = request.queries
    first = f"{queries.name} {queries.labels[0]}"
    if request.lasting:
        return f"per SLIDE of {first}" if queries.several else "per SLIDE"
    return f"per report of {first}" if queries.several else "per window"


def _window_facts(plan: Plan[Pieces], request: Request, *, verbose: bool) -> Iterator[Fact]:
    """How long windows are and how often there is one; of several queries, a line each."""
    queries, pieces = request.queries, plan.chosen.cut
    if not queries.several:
        yield "windows", _describe_grid(request, request.grids[0])
        return
    branches = pieces.branches if verbose and pieces and not request.lasting else ()
    rolled = {branch.number: _describe_branch(request, branch) for branch in branches}
    for number, (label, grid) in enumerate(zip(queries.labels, queries.grids, strict=True)):
        yield f"{queries.name} {label}", _describe_grid(request, grid) + rolled.get(number, "")


def _describe_grid(request: Request, grid: Grid) -> str:
    length = grid.range + grid.opened - grid.closed
    long, slide = (write_length(request.coordinate, n) for n in (length, grid.slide))
    if isinstance(request.ends, LastRows):
        return f"the last {request.ends.count} rows before the end of each {slide} with a row"
    if isinstance(request.ends, EveryRows):
        rows = f"{request.ends.every} rows" if counts_rows(request.ends) else "row"
        return f"{long} long, one that ends at every {rows}"
    if isinstance(grid.begins, MonthsBack):
        return f"{write_units(grid.begins.count, in_months=True)} long, one that ends every {slide}"
    if grid.begins:
        size = long
        if isinstance(grid.begins, Months):
            size = write_units(grid.begins.count, in_months=True)
        return f"up to {size} long, all from its start, one that ends every {slide}"
    ends = _ENDS[grid.opened, grid.closed]
    if length == grid.slide:
        return f"{long} long{ends}, one after the other"
    gaps = ", with gaps between them" if length < grid.slide else ""
    return f"{long} long{ends}, one every {slide}{gaps}"


def _describe_way(plan: Plan[Pieces], request: Request) -> str:
    """How rows become windows, in words."""
    queries, way, pieces = request.queries, plan.chosen.way, plan.chosen.cut
    each = f" and {queries.name}" if queries.several else ""
    how = fill(way.how, each=each, what=queries.name)
    if request.lasting or way.copied or pieces is None:
        return how
    if queries.several:
        edges = _describe_edges(request.coordinate, pieces)
        return f"rows are combined in slices, cut at {edges}; {how}"
    if pieces.only_cut.span == 1:
        return "rows are combined in their window; no two windows share a row"
    return f"rows are combined in {_describe_slices(pieces.only_cut, request.coordinate)}; {how}"


def _describe_state(plan: Plan[Pieces], request: Request, state: str) -> str:
    """What a stream keeps, and where."""
    if plan.chosen.rollup.in_operator:
        return f"{_KEPT_BY_OPERATOR}; {state}"
    copied = plan.chosen.way.copied
    pieces = "" if copied else "events and " if request.lasting else "slices and "
    return fill(_KEPT, pieces=pieces)


def _describe_points_load(request: Request) -> str:
    queries, work = request.queries, request.work
    of = f" of {queries.name} {queries.labels[0]}" if queries.several else ""
    load = f"{work.rows_per_slide:,.0f} rows per SLIDE{of}, {work.groups:,.0f} keys"
    given = f"{load}, {_ASSUMED}rate=, groups=)" if work.assumed else f"{load}, as given"
    return _describe_rows(request, "rows") + given


def _describe_rows(request: Request, what: str) -> str:
    """The total number of rows in words. Empty if it is not known."""
    rows = request.work.rows
    return "" if rows is None else f"about {rows:,.0f} {what} in all, as Spark estimates; "


def _describe_cut(plan: Plan[Pieces], request: Request) -> str:
    """How long slices are, how many a window and a SLIDE have; or why there are none."""
    way, pieces = plan.chosen.way, plan.chosen.cut
    if request.lasting and not way.sliced:
        return _NO_CUT
    if pieces is None:
        return way.uncut
    cut = pieces.only_cut
    if cut.span == 1:
        gaps = " with gaps between them" if cut.has_gaps else ""
        return (
            f"windows of {write_length(request.coordinate, cut.grid.range)}{gaps}, one slice each"
        )
    height = f", {request.height} levels" if way.tall else ""
    return f"{_describe_slices(cut, request.coordinate)}, {cut.step} per SLIDE{height}"


def _describe_slices(cut: Cut, coordinate: Coordinate) -> str:
    width = write_length(coordinate, cut.head)
    if cut.technique == "pairs":
        width = f"{width} and {write_length(coordinate, cut.grid.slide - cut.head)} in turn"
    return f"slices of {width}, {cut.span} per window"


def _describe_edges(coordinate: Coordinate, pieces: Pieces) -> str:
    parts = []
    for first, every in pieces.granules.edges:
        start = f" from {write_length(coordinate, first)}" if first else ""
        parts.append(f"every {write_length(coordinate, every)}{start}")
    return " and ".join(parts)


def _describe_branch(request: Request, branch: Branch) -> str:
    """The slices of a query's windows, and how the windows are made of them."""
    queries = request.queries
    source = "the slices"
    if branch.source is not None:
        source = f"{queries.name} {queries.labels[branch.source]}"
    slices = (
        f"{branch.cut.span} slices per window" if branch.cut.span > 1 else "one slice per window"
    )
    how = f", {branch.rollup}" if branch.rollup.name else ""
    how = ", copied to its windows" if branch.together else how
    return f"; {slices}, from {source}{'' if request.streaming else how}"


def _load_facts(request: Request) -> Iterator[Fact]:
    """How much there is to do over events that last, for each query."""
    queries, known = request.queries, _describe_rows(request, "events")
    for label, load in zip(queries.labels, list_loads(request), strict=True):
        text = known + _describe_events_load(load)
        yield f"load of {label}" if queries.several else "workload", text


def _describe_events_load(load: Load) -> str:
    known = f"{load.events:,.0f} events per SLIDE, {load.groups:,.0f} keys"
    text = f"{known}, an event lasts {load.length:,.1f} SLIDEs"
    assumed = f"{text}; in part {_ASSUMED}rate=, groups=, duration=)"
    return assumed if load.assumed else f"{text}, as given"
