"""Candidates for windows over events with a duration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.cost import event_costs, points
from fanlight.engine.plan.cost.event_costs import Load, Loads, Steps
from fanlight.engine.plan.granules import Pieces, cut_into_pairs, panes_of, single_branch
from fanlight.engine.plan.late_rows import EACH, WHOLE
from fanlight.engine.plan.request import FieldFacts, Request
from fanlight.engine.plan.ways import Strategy
from fanlight.engine.spec.errors import refuse

Placing = Candidate[Pieces]


@dataclass(frozen=True)
class Technique:
    """A technique of the paper, in a Python operator; ``refuses`` says why a field does not fit."""

    strategy: Strategy
    way: ways.Way
    steps: Steps
    refuses: Callable[[FieldFacts], str] = lambda _: ""


def _why_no_counters(field: FieldFacts) -> str:
    """Explain why ended events cannot be subtracted from a field. Empty if they can."""
    if field.invertible and not field.counted:
        return ""
    why = field.why_not
    if field.counted:
        why = "is holistic: it has no counters that events could enter and leave"
    return f"{field.label} {why}"


def _why_no_heap(field: FieldFacts) -> str:
    """Explain why a heap of events cannot compute the field. Empty if it can."""
    if field.selective:
        return ""
    return f"{field.label} is not a minimum or maximum: no single event decides it"


TECHNIQUES = (
    Technique(ways.TUPLE_BUCKETS, ways.EVENTS_KEPT, event_costs.TUPLE_BUCKETS),
    Technique(ways.CUMULATIVE, ways.SWEPT, event_costs.CUMULATIVE_SWEEPING, _why_no_counters),
    Technique(ways.SELECTIVE, ways.SWEPT_BY_HEAP, event_costs.SELECTIVE_SWEEPING, _why_no_heap),
    Technique(ways.SE_SLICING, ways.SE_SLICED, event_costs.SE_SLICING),
    Technique(ways.SE_ML_SLICING, ways.SE_ML_SLICED, event_costs.SE_ML_SLICING),
)
ANEW = "an operator keeps no windows that begin together"
FOLLOWED = "windows without rows are given by an operator that follows Spark's own"
CALENDAR = "this operator compares the watermark with microseconds, not with a calendar"
NO_PANES = "windows that a calendar, a double or closed= ends have no panes of one length"
NOT_ADDED_UP = "is not the sum of what it is for parts of events"
NOT_AT_ONCE = "is not of how many events are running at once"
NOT_UNITED = "is not of when at least one event is running"
ONCE = "an event that ends later would change panes that a stream has given"
DIVIDED = "is of the part of each event that lies in a window, so that no two windows share it"
OF_PARTS = (
    ways.EVENT_COPIES,
    ways.EVENTS_IN_PANES,
    ways.EVENTS_AT_ONCE,
    ways.EVENTS_UNITED,
    ways.CELL_EVENTS,
    ways.EVENTS_ONE_BY_ONE,
)
BY_LEVELS = Technique(ways.LEVELS, ways.ENTRIES_IN_OPERATOR, event_costs.LEVELS)

PAPER = (
    ways.TUPLE_BUCKETS,
    ways.AGGREGATE_BUCKETS,
    ways.CUMULATIVE,
    ways.SELECTIVE,
    ways.SE_SLICING,
    ways.SE_ML_SLICING,
)
ONE = (ways.LEVELS, ways.CELLS, ways.PANES, *PAPER)
SEVERAL = (ways.LEVELS, ways.CELLS, ways.PANES, ways.AGGREGATE_BUCKETS, ways.SEPARATE)


def refuse_for_several(strategy: object, alone: set[str], several: Sequence[Strategy]) -> None:
    """Refuse, for several kinds of windows, a strategy that is only for one of them."""
    if isinstance(strategy, str) and strategy in alone - {one.name for one in several}:
        names = (ways.AUTO, *several)
        raise refuse(
            f"using({strategy!r})",
            "works for one kind of windows at a time",
            f"use one of {', '.join(repr(one.name) for one in names)}, or an fl.over for each "
            "fl.Sliding",
        )


def check_height(height: object) -> int:
    """Return a height for the pyramid of ``se-ml-slicing`` if it is a number of levels."""
    if isinstance(height, bool) or not isinstance(height, int) or height < 1:
        raise refuse(
            f"height={height!r}",
            "is not a whole number of levels, at least 1",
            "write for example height=7; height 1 is se-slicing",
        )
    return height


def list_candidates(request: Request) -> list[Placing]:
    """A candidate for every way to compute the windows, also for those that do not fit."""
    found = _list_candidates(request)
    if not request.divided:
        return [one for one in found if one.way is not ways.CELL_EVENTS]
    why = f"{request.divided} {DIVIDED}"
    return [
        one if one.way in OF_PARTS else replace(one, refused=one.refused or why) for one in found
    ]


def _list_candidates(request: Request) -> list[Placing]:
    loads = event_costs.loads_with_shares(request)
    candidates = list(
        _propose_stream(request, loads) if request.streaming else _propose_batch(request, loads)
    )
    if request.queries.several:
        return [*candidates, _propose_separate(request, loads)]
    return [*candidates, *_propose_operators(request, loads[0][1])]


def _propose_batch(request: Request, loads: Loads) -> Iterator[Placing]:
    fields = request.fields
    running = all(field.running for field in fields)
    counted = any(field.counted for field in fields)
    entry_way, cell_way = ways.ENTRY_DYADICS, ways.CELL_DYADICS
    if running:
        entry_way, cell_way = ways.ENTRY_RUNS, ways.CELL_RUNS
    by_entry = event_costs.entries(loads, running=running)
    by_cell = event_costs.cell_entries(loads, running=running)
    copied = event_costs.cell_copies(loads, running=running)
    kept = any(field.at_once or field.united for field in fields)
    buckets = event_costs.event_copies(loads, counted=counted, kept=kept)
    yield Candidate(ways.LEVELS, entry_way, None, by_entry)
    left = next(filter(None, map(_why_no_counters, fields)), "")
    yield Candidate(ways.LEVELS, ways.ENTRY_SUMS, None, event_costs.entry_sums(loads), left)
    yield Candidate(ways.CELLS, cell_way, None, by_cell)
    yield Candidate(ways.CELLS, ways.CELL_COPIES, None, copied)
    yield Candidate(ways.AGGREGATE_BUCKETS, ways.EVENT_COPIES, None, buckets)
    yield from _propose_panes(request)


def _propose_panes(request: Request) -> Iterator[Placing]:
    """Parts of events in panes: what adds up, how many are running at once, and if any is."""
    adding = next((field.label for field in request.fields if not field.additive), "")
    at_once = next((field.label for field in request.fields if not field.at_once), "")
    united = next((field.label for field in request.fields if not field.united), "")
    found = (
        (ways.EVENTS_IN_PANES, adding and f"{adding} {NOT_ADDED_UP}"),
        (ways.EVENTS_AT_ONCE, at_once and f"{at_once} {NOT_AT_ONCE}"),
        (ways.EVENTS_UNITED, united and f"{united} {NOT_UNITED}"),
    )  # fmt: skip
    panes = None if request.coordinate.is_unit_number else panes_of(request.grids)
    if request.streaming or panes is None:
        why = ONCE if request.streaming else NO_PANES
        yield from (Candidate(ways.PANES, way, refused=why) for way, _ in found)
        return
    more = points.plan_overhead(request.work, native=False, shuffled=True)
    cost = event_costs.pane_areas(request, panes) + more + more
    yield from (Candidate(ways.PANES, way, None, cost, why) for way, why in found)


def _propose_stream(request: Request, loads: Loads) -> Iterator[Placing]:
    yield from _propose_panes(request)
    whole = WHOLE if request.opens_late_rows else ""
    if request.queries.several:
        why = "the two entries of an event are complete at different times, so a stream keeps cells"
        yield Candidate(ways.LEVELS, ways.UNFIT, refused=why)
    else:
        yield _operator_candidate(request, BY_LEVELS, loads[0][1], whole)
    copies, dyadic = event_costs.stream_cell_copies(loads), event_costs.stream_cell_dyadics(loads)
    yield Candidate(ways.CELLS, ways.CELL_COPIES, None, copies, whole)
    yield Candidate(ways.CELLS, ways.CELL_DYADICS, None, dyadic, whole)
    yield Candidate(ways.CELLS, ways.CELL_EVENTS, None, copies, whole)
    each = EACH if request.drops_late_rows else ""
    yield Candidate(ways.AGGREGATE_BUCKETS, ways.EVENT_COPIES, refused=each)


def _propose_separate(request: Request, loads: Loads) -> Placing:
    """Each query by itself; only if asked for, as reading the source again costs unknown time."""
    apart = 0.0
    if not request.streaming:
        for share, load in loads:
            alone = _propose_batch(request, [(1.0, load)])
            apart += share * min(one.cost for one in alone if not one.refused)
    why = request.ruled_out.get(ways.SEPARATE, "")
    return Candidate(ways.SEPARATE, ways.EVENTS_ONE_BY_ONE, None, apart, why, forced=True)


def _propose_operators(request: Request, load: Load) -> Iterator[Placing]:
    """The paper's other techniques, each in one Python operator."""
    for technique in TECHNIQUES:
        refusals = map(technique.refuses, request.fields)
        why = WHOLE if request.opens_late_rows else next(filter(None, refusals), "")
        yield _operator_candidate(request, technique, load, why)


def _operator_candidate(request: Request, technique: Technique, load: Load, why: str) -> Placing:
    if request.streaming and request.coordinate.calendar is not None:
        why = CALENDAR
    if any(grid.begins for grid in request.grids):
        why = ANEW
    if request.followed:
        why = FOLLOWED
    cost = technique.steps.cost(load, request.height)
    cut = single_branch(cut_into_pairs(request.grids[0]), technique.way.rollup)
    return Candidate(technique.strategy, technique.way, cut, cost, why)
