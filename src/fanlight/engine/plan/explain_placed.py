"""What ``explain()`` says about windows that time places: cut, strategy, workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fanlight.engine.algebra.template import fill
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.cost.lasting import Load, loads_of
from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.explain import Explained, chosen, length, page
from fanlight.engine.plan.granules import Branch, Pieces
from fanlight.engine.plan.late import BEHIND
from fanlight.engine.plan.query import Queries
from fanlight.engine.plan.request import Request
from fanlight.engine.spec.pictured import Picture
from fanlight.engine.spec.units import spell

_NO_CUT = "none: events differ only by the first and the last of their windows"


@dataclass(frozen=True)
class About:
    """What a page says of a request besides its plan.

    ``ttp`` is in milliseconds, ``state`` as an operator keeps it, if any; ``others`` are aggregates
    that are computed apart from these.
    """

    spec: object
    time: str | tuple[str, str]
    by: Sequence[str]
    aggregates: Sequence[str]
    ttp: int | None = None
    state: str = ""
    others: Sequence[str] = ()


def explain_placed(plan: Plan[Pieces], request: Request, about: About) -> Explained:
    """The page of a plan."""
    facts = [("aggregates", ", ".join(about.aggregates))]
    if about.others:
        others = ", ".join(about.others)
        facts.append(("beside", f"{others}: computed apart, which is cheaper"))
    facts += _of_events(plan, request, about.ttp) if request.lasting else _of_points(plan, request)
    if request.streaming:
        facts += [("state", about.state)] if about.state else []
        facts.append(("late rows", BEHIND if request.ordered else request.release.value))
    time = about.time
    over = f"events from {time[0]!r} to {time[1]!r}" if isinstance(time, tuple) else repr(time)
    per = _per(request)
    text = page(about.spec, over, about.by, facts, plan, streaming=request.streaming, per=per)
    return Explained(text, Picture(about.spec, _cut_of(plan), plan.chosen.name))


def _cut_of(plan: Plan[Pieces]) -> Cut | None:
    """How the first of the windows is cut into slices; nothing if rows are copied instead."""
    chosen = plan.chosen
    return None if chosen.way.copied or chosen.cut is None else chosen.cut.branches[0].cut


def _per(request: Request) -> str:
    queries = request.queries
    first = f"{queries.name} {queries.labels[0]}"
    if request.lasting:
        return f"a SLIDE of {first}" if queries.several else "a SLIDE"
    return f"a report of {first}" if queries.several else "a window"


def _how(plan: Plan[Pieces], queries: Queries) -> tuple[str, str]:
    """The strategy and how it works, with the names that it takes."""
    each = f" and {queries.name}" if queries.several else ""
    return chosen(plan, fill(plan.chosen.way.how, each=each, what=queries.name))


def _of_points(plan: Plan[Pieces], request: Request) -> Iterator[tuple[str, str]]:
    queries, pieces = request.queries, plan.chosen.cut
    if queries.several:
        if pieces is not None:
            yield "granules", f"cut at {_edges(request.coordinate, pieces)}"
        yield _how(plan, queries)
        for branch in pieces.branches if pieces else ():
            yield f"{queries.name} {queries.labels[branch.number]}", _branch(request, branch)
    else:
        cut = pieces.only if pieces else None
        yield "cut", cut_in_words(cut, request.coordinate) if cut else plan.chosen.way.uncut
        yield _how(plan, queries)
    work = request.work
    source = "assumed; pass using(rate=, groups=)" if work.assumed else "as given"
    if work.rows is not None:
        source += f"; about {work.rows:,.0f} rows in all, as Spark estimates"
    of = f" of {queries.name} {queries.labels[0]}" if queries.several else ""
    yield (
        "workload",
        f"{work.rows_per_slide:,.0f} rows a SLIDE{of}, {work.groups:,.0f} groups ({source})",
    )


def cut_in_words(cut: Cut, coordinate: Coordinate) -> str:
    """How long slices are, and how many a window has."""
    if cut.span == 1:
        gaps = " with gaps between them" if cut.gaps else ""
        return f"windows of {length(coordinate, cut.grid.range)}{gaps}, one slice each"
    width = length(coordinate, cut.head)
    if cut.technique == "pairs":
        width = f"{width} and {length(coordinate, cut.grid.slide - cut.head)} in turn"
    return f"slices of {width}; {cut.span} a window, {cut.step} a SLIDE"


def _edges(coordinate: Coordinate, pieces: Pieces) -> str:
    parts = []
    for first, every in pieces.granules.edges:
        start = f" from {length(coordinate, first)}" if first else ""
        parts.append(f"every {length(coordinate, every)}{start}")
    return " and ".join(parts)


def _branch(request: Request, branch: Branch) -> str:
    coordinate, queries, grid = request.coordinate, request.queries, branch.cut.grid
    source = "the granules"
    if branch.source is not None:
        source = f"{queries.name} {queries.labels[branch.source]}"
    slices = f"{branch.cut.span} slices a window" if branch.cut.span > 1 else "one slice a window"
    how = f", {branch.rollup}" if branch.rollup.name else ""
    how = ", copied to its windows" if branch.together else how
    every = f"{length(coordinate, grid.range)} every {length(coordinate, grid.slide)}"
    return f"{every}, {slices}, from {source}{'' if request.streaming else how}"


def _of_events(plan: Plan[Pieces], request: Request, ttp: int | None) -> Iterator[tuple[str, str]]:
    queries = request.queries
    if not queries.several:
        yield "cut", _cut(plan, request)
    yield _how(plan, queries)
    if ttp is not None:
        yield "released", f"{spell(1000 * ttp)} (TTP) after a window's end"
    for label, load in zip(queries.labels, loads_of(request), strict=True):
        yield f"{queries.name} {label}" if queries.several else "workload", _load(load)


def _cut(plan: Plan[Pieces], request: Request) -> str:
    way = plan.chosen.way
    if not way.sliced:
        return _NO_CUT
    height = f", {request.height} levels" if way.tall else ""
    return cut_in_words(plan.chosen.pieces.only, request.coordinate) + height


def _load(load: Load) -> str:
    assumed = "assumed in part; pass using(rate=, groups=, duration=)"
    source = assumed if load.assumed else "as given"
    return (
        f"{load.events:,.0f} events a SLIDE, {load.groups:,.0f} groups, "
        f"{load.length:,.1f} SLIDEs an event ({source})"
    )
