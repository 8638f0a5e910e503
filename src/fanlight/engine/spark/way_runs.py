"""How each way of a plan runs: in a batch and in a stream.

A way that :mod:`fanlight.engine.plan.ways` names has its entry here, and nothing else asks which
way it is. A new one is registered by :func:`register_runs`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType

from pyspark.sql import DataFrame

from fanlight.engine.plan import ways
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.placed import plan_placed
from fanlight.engine.plan.request import Hints, Request
from fanlight.engine.plan.ways import Own, Way
from fanlight.engine.spark import result
from fanlight.engine.spark.binding.placed import Lasting, Placed
from fanlight.engine.spark.carried import walk_windows
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.ordered import (
    frame_chunks,
    frame_native,
    frames,
    ranked_values,
    trailing,
    widening,
    windows,
)
from fanlight.engine.spark.placed import areas, batch, levels, spark_windows, stream, united
from fanlight.engine.spark.placed.lifetimes import count_lasting_values
from fanlight.engine.spark.placed.numbered_rows import roll_up_row_ends


@dataclass(frozen=True)
class WayRequest:
    """The arguments of a way: the bound given, the fields of its aggregates, and its candidate.

    ``height`` is that of a pyramid of slices.
    """

    bound: Placed
    fields: Fields
    chosen: Candidate[Pieces]
    height: int = 7


Run = Callable[[WayRequest], DataFrame]  # keys, query, start, partials: a row a window

_BATCH: dict[Way, Run] = {}
_STREAM: dict[Way, Run] = {}


def register_runs(way: Way, *, batch: Run | None = None, stream: Run | None = None) -> None:
    """Register how a way runs, in a batch, in a stream, or in both."""
    if batch is not None:
        _BATCH[way] = batch
    if stream is not None:
        _STREAM[way] = stream


def run_windows(given: WayRequest) -> DataFrame:
    """Run the way and return its windows as partials."""
    bound = given.bound
    if not bound.df.isStreaming:
        return bound.keep_existing(_BATCH[given.chosen.way](given))
    wide = bound.reaching(given.fields.carries)
    windows = _STREAM[given.chosen.way](replace(given, bound=wide))
    windows = bound.keep_existing(wide.without_carried(windows))
    return walk_windows(bound, given.fields, windows) if given.fields.carries else windows


def run_results(given: WayRequest) -> DataFrame:
    """Run the way and return its results under their output names."""
    bound, fields, chosen = given.bound, given.fields, given.chosen
    if chosen.lift.own is Own.ALL:
        return spark_windows.aggregate_in_windows(bound, fields)
    if bound.changes_only and bound.df.isStreaming:
        return levels.keep_changed_of_stream(bound, fields, chosen)
    windows = run_windows(given)
    if bound.changes_only:
        return levels.keep_changed(bound, fields, windows)
    lowered = result.lower_outputs(fields.lowering(chosen.lift), bound.shown_start)
    return result.finish_windows(bound, windows, lowered)


def frames_module(way: Way) -> ModuleType:
    """The module with the functions ``frames`` and ``rows`` that find frames in this way."""
    return _FRAMES[way]


def attach_function(way: Way) -> Callable[..., DataFrame]:
    """The function that attaches to rows what they look back at, in this way."""
    return _LOOKED_BACK[way]


def search_function(way: Way) -> Callable[..., DataFrame]:
    """The function that searches the windows of progressive widening in this way."""
    return _SEARCHES[way]


def _run_technique(given: WayRequest) -> DataFrame:
    if not isinstance(given.bound, Lasting):
        raise TypeError(given.bound)
    return windows.run_technique(given.bound, given.fields, given.chosen, given.height)


def _run_plan(bound: Placed, fields: Fields) -> DataFrame:
    """The windows of a given inside another one, by the cheapest plan."""
    request = Request(
        bound.coordinate,
        bound.queries,
        [field.facts for field in fields.all],
        Hints().estimate_workload(bound.coordinate, bound.grid, keyed=bool(bound.by)),
        event=bound.event,
    )
    return run_windows(WayRequest(bound, fields, plan_placed(request).chosen))


def _run_panes(given: WayRequest) -> DataFrame:
    if not isinstance(given.bound, Lasting):
        raise TypeError(given.bound)
    give = _PANES[given.chosen.way]
    return give(given.bound, given.fields, _run_plan)


def _run_chain(given: WayRequest) -> DataFrame:
    bound, fields = given.bound, given.fields
    if bound.coordinate.counted:
        return windows.chain_rows(bound, fields)
    granules = stream.lift_granules(bound, fields, given.chosen)
    return windows.chain_granules(bound, granules.df, given.chosen.pieces.granules, fields)


def _roll_up_slices(given: WayRequest) -> DataFrame:
    return batch.roll_up_slices(given.bound, given.fields, given.chosen)


def _copy_counts(given: WayRequest) -> DataFrame:
    return batch.copy_counts(given.bound, given.fields, given.chosen)


def _roll_up_row_ends(given: WayRequest) -> DataFrame:
    return roll_up_row_ends(given.bound, given.fields, given.chosen.rollup)


def _roll_up_granules(given: WayRequest) -> DataFrame:
    return stream.roll_up_granules(given.bound, given.fields, given.chosen)


for _way in (ways.SLICES, ways.SHARED_SLICES):
    register_runs(_way, batch=_roll_up_slices, stream=_roll_up_granules)
for _way in (ways.SCANNED, ways.ACCUMULATED, ways.DAYS_COPIED, ways.STACKED, ways.SUBTRACTED):
    register_runs(_way, batch=_roll_up_slices)
for _way in (ways.EVERY_ROW_SCANNED, ways.EVERY_ROW_STACKED, ways.EVERY_ROW_SUBTRACTED):
    register_runs(_way, batch=_roll_up_row_ends)
for _way in (ways.COUNT_COPIES, ways.SHARED_COUNTS):
    register_runs(_way, batch=_copy_counts)
for _way in (ways.VALUE_LIFETIMES, ways.LIFETIMES_OF_ALL):
    register_runs(_way, batch=lambda given: count_lasting_values(given.bound, given.fields))
for _way in (ways.RANKED, ways.RANKED_FOR_EACH):
    register_runs(_way, batch=lambda given: ranked_values.read_windows(given.bound, given.fields))
register_runs(ways.SLICE_COPIES, stream=_roll_up_granules)
register_runs(
    ways.SPARK_AGGREGATES,
    batch=lambda given: batch.aggregate_in_spark(given.bound, given.fields),
)
register_runs(
    ways.SPARK_OWN,
    batch=lambda given: spark_windows.aggregate_by_start(given.bound, given.fields),
)
register_runs(
    ways.EXPANDED,
    batch=lambda given: batch.copy_rows(given.bound, given.fields),
    stream=lambda given: stream.copy_rows(given.bound, given.fields, given.chosen),
)
register_runs(
    ways.ROWS_IN_OPERATOR,
    stream=lambda given: windows.release_windows(given.bound, given.fields, given.chosen),
)
register_runs(ways.STAIRWISE, stream=_run_chain)
register_runs(
    ways.OPEN_IN_OPERATOR,
    stream=lambda given: windows.give_early(given.bound, given.fields),
)
for _way in (ways.ENTRY_RUNS, ways.ENTRY_DYADICS):
    register_runs(
        _way,
        batch=lambda given: batch.roll_up_entries(given.bound, given.fields, given.chosen),
    )
register_runs(ways.ENTRY_SUMS, batch=lambda given: batch.add_up_steps(given.bound, given.fields))
for _way in (ways.CELL_RUNS, ways.CELL_DYADICS, ways.CELL_COPIES):
    register_runs(
        _way,
        batch=lambda given: batch.roll_up_cells(given.bound, given.fields, given.chosen),
        stream=lambda given: stream.roll_up_cells(given.bound, given.fields, given.chosen),
    )
register_runs(
    ways.EVENT_COPIES,
    batch=lambda given: batch.fill_buckets(given.bound, given.fields),
    stream=lambda given: stream.fill_buckets(given.bound, given.fields, given.chosen),
)
register_runs(
    ways.CELL_EVENTS,
    stream=lambda given: stream.keep_events(given.bound, given.fields, given.chosen),
)
_PANES = {
    ways.EVENTS_IN_PANES: areas.add_up_panes,
    ways.EVENTS_AT_ONCE: areas.find_most,
    ways.EVENTS_UNITED: united.add_up_united,
}
for _way in _PANES:
    register_runs(_way, batch=_run_panes)
for _way in (ways.ENTRIES_IN_OPERATOR, ways.EVENTS_KEPT, ways.SWEPT, ways.SWEPT_BY_HEAP,
             ways.SE_SLICED, ways.SE_ML_SLICED):  # fmt: skip
    register_runs(_way, batch=_run_technique, stream=_run_technique)

_FRAMES: dict[Way, ModuleType] = {
    ways.FRAMES_IN_A_PASS: frames,
    ways.FRAMES_IN_OPERATOR: frames,
    ways.FRAMES_COMPARED: frame_native,
    ways.FRAMES_IN_CHUNKS: frame_chunks,
}

_LOOKED_BACK: dict[Way, Callable[..., DataFrame]] = {
    ways.LOOKED_BACK: trailing.attach_in_order,
    ways.FOLDED: trailing.attach_natively,
    ways.LOOKED_BACK_IN_CHUNKS: trailing.attach_in_chunks,
    ways.LOOKED_BACK_IN_OPERATOR: trailing.attach_in_order,
}

_SEARCHES: dict[Way, Callable[..., DataFrame]] = {ways.SEARCHED_PAGES: widening.detect_matches}
