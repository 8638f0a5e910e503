"""What ``explain()`` says about windows that time places: cut, strategy, workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fanlight.engine.algebra.template import fill
from fanlight.engine.plan.candidate import Plan
from fanlight.engine.plan.coordinate import Coordinate
from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.events import Load, loads_of
from fanlight.engine.plan.explain import Explained, chosen, length, page
from fanlight.engine.plan.granules import Branch, Pieces
from fanlight.engine.plan.late import BEHIND, PASSED
from fanlight.engine.plan.request import Request
from fanlight.engine.spec.pictured import Picture
from fanlight.engine.spec.units import spell

_POINTS = {
    "": "each window is one slice",
    "scan": "each window scans its slices (formula 3.1)",
    "difference": "a running total less the one a RANGE before (formula 3.2)",
    "two stacks": "a suffix of one run of slices and a prefix of the next, constant work a slice",
    "copies": "each slice's partial goes to the windows that it is in",
    "running sum": "a running sum of the values that begin and end",
    "pass": "one pass of the rows in order, which enter a count of ranks and leave it again",
    "operator": "an operator orders rows, cuts and rolls them up; each partial is touched twice",
    "expand": "each row is copied into each of its windows (formula 3.3)",
    "windows": "Spark's own plan, each row copied into each of its windows (formula 3.3)",
}
_UNCUT = {
    True: "none: every row ends a window, so no two rows share a slice",
    False: "slices that tell values apart; a value lasts from one to the next",
}
_RANKED = "none: rows enter and leave windows one by one"
_SEVERAL = {
    "granules": "rows into shared granules; each {what} from these or a finer one's slices",
    "chain": "granules into the stairwise chain: core and buffer nodes in one stateful operator",
    "separate": "each {what} by itself; the source is read once for each",
    "lifetimes": "values that last from slice to slice, for all in one pass",
    "ranks": "one pass of the rows in order for each {what}, over values ranked once",
}
_EVENTS = {
    (
        "levels",
        "dyadic runs",
    ): "two entries an event{each}, then one pass along the dyadic intervals of each order",
    ("levels", "dyadic"): "two entries an event{each}, then down through dyadic intervals",
    ("levels", "operator"): "two entries an event, in a Python operator",
    ("cells", "dyadic runs"): "events of the same windows combined first, then as levels",
    ("cells", "dyadic"): "events of the same windows combined first, then down dyadic intervals",
    ("cells", "copies"): "events of the same windows combined first, then copied into them",
    ("aggregate-buckets", ""): "each event copied into each of its windows",
    ("tuple-buckets", "operator"): "each event kept in each of its windows",
    ("cumulative-sweeping", "operator"): "events enter and leave counters in order of their ends",
    (
        "selective-sweeping",
        "operator",
    ): "the events that have begun in a heap, their extreme on top",
    ("se-slicing", "operator"): "each slice keeps what ends in it apart from what goes on",
    ("se-ml-slicing", "operator"): "slices of growing width, so that a long event enters few",
    ("separate", ""): "each {what} by itself",
}


def explain_placed(
    plan: Plan[Any],
    request: Request,
    spec: object,
    time: str | tuple[str, str],
    by: Sequence[str],
    aggregates: Sequence[str],
    ttp: int | None = None,
    state: str = "",
    others: Sequence[str] = (),
) -> Explained:
    """The page of a plan.

    ``ttp`` is in milliseconds, ``state`` as an operator keeps it, if any; ``others`` are aggregates
    that are computed apart from these.
    """
    facts = [("aggregates", ", ".join(aggregates))]
    if others:
        facts.append(("beside", f"{', '.join(others)}: computed apart, which is cheaper"))
    facts += _of_events(plan, request, ttp) if request.lasting else _of_points(plan, request)
    if request.streaming:
        facts += [("state", state)] if state else []
        facts.append(("late rows", BEHIND if request.ordered else PASSED[request.late]))
    over = f"events from {time[0]!r} to {time[1]!r}" if isinstance(time, tuple) else repr(time)
    text = page(spec, over, by, facts, plan, streaming=request.streaming, per=_per(request))
    return Explained(text, Picture(spec, _cut_of(plan), plan.chosen.name))


def _cut_of(plan: Plan[Any]) -> Cut | None:
    """How the first of the windows is cut into slices; nothing if rows are copied instead."""
    way = plan.chosen
    if way.lift == "windows" or way.strategy == "expand":
        return None
    cut = way.cut.branches[0].cut if isinstance(way.cut, Pieces) else way.cut
    return cut if isinstance(cut, Cut) else None


def _per(request: Request) -> str:
    queries = request.queries
    first = f"{queries.name} {queries.labels[0]}"
    if request.lasting:
        return f"a SLIDE of {first}" if queries.several else "a SLIDE"
    return f"a report of {first}" if queries.several else "a window"


def _of_points(plan: Plan[Any], request: Request) -> Iterator[tuple[str, str]]:
    queries, rollup = request.queries, plan.chosen.rollup
    pieces: Pieces | None = plan.chosen.cut
    if queries.several:
        if pieces is not None:
            yield "granules", f"cut at {_edges(request.coordinate, pieces)}"
        yield chosen(plan, fill(_SEVERAL[plan.chosen.strategy], what=queries.name))
        for branch in pieces.branches if pieces else ():
            yield f"{queries.name} {queries.labels[branch.number]}", _branch(request, branch)
    else:
        cut = pieces.branches[0].cut if pieces else None
        uncut = _RANKED if rollup == "pass" else _UNCUT[request.at_every_row]
        yield "cut", cut_in_words(cut, request.coordinate) if cut else uncut
        how = plan.chosen.lift if plan.chosen.lift == "windows" else rollup
        yield chosen(plan, _POINTS[how])
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
    how = f", {branch.rollup}" if branch.rollup else ""
    how = ", copied to its windows" if branch.together else how
    every = f"{length(coordinate, grid.range)} every {length(coordinate, grid.slide)}"
    return f"{every}, {slices}, from {source}{'' if request.streaming else how}"


def _of_events(plan: Plan[Any], request: Request, ttp: int | None) -> Iterator[tuple[str, str]]:
    queries, way = request.queries, plan.chosen
    if not queries.several:
        yield "cut", _cut(plan, request)
    each = f" and {queries.name}" if queries.several else ""
    yield chosen(plan, fill(_EVENTS[way.strategy, way.rollup], each=each, what=queries.name))
    if ttp is not None:
        yield "released", f"{spell(1000 * ttp)} (TTP) after a window's end"
    for label, load in zip(queries.labels, loads_of(request), strict=True):
        yield f"{queries.name} {label}" if queries.several else "workload", _load(load)


def _cut(plan: Plan[Any], request: Request) -> str:
    if plan.chosen.strategy in ("se-slicing", "se-ml-slicing"):
        height = f", {request.height} levels" if plan.chosen.strategy == "se-ml-slicing" else ""
        return cut_in_words(plan.chosen.cut, request.coordinate) + height
    return "none: events differ only by the first and the last of their windows"


def _load(load: Load) -> str:
    assumed = "assumed in part; pass using(rate=, groups=, duration=)"
    source = assumed if load.assumed else "as given"
    return (
        f"{load.events:,.0f} events a SLIDE, {load.groups:,.0f} groups, "
        f"{load.length:,.1f} SLIDEs an event ({source})"
    )
