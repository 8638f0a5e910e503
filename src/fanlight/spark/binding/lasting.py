"""Events with a duration, bound to their windows: what a pair of times must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fanlight.plan.grid import Grid, gridded
from fanlight.spark.binding.placed import MOST_WINDOWS_A_ROW, Lasting, listed, queries_of
from fanlight.spark.binding.source import Source, schema_of, source_of
from fanlight.spark.numbers import limit
from fanlight.spark.sql import WATERMARK, reference
from fanlight.spec.errors import refuse
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding


def bind_lasting(df: Any, spec: Any, time: Any, by: Any, tiebreak: Any) -> Lasting:
    """Check the request of windows over events against the DataFrame."""
    kept, windows, labels, name = listed(spec)
    if isinstance(spec, MultiGranular) and spec.weights is not None:
        raise refuse(
            f"weights={list(spec.weights)} over time={tuple(time)!r}",
            "depend on the level a row belongs to, but an event with a duration belongs to several",
            "leave weights out, or name one column, for example the stop",
        )
    own = ("window", name) if name else ("window",)
    source, start, text = _events(df, windows, time, by, tiebreak, own)
    coordinate, grids = gridded(windows, source.time, source.time_type)
    for window, grid in zip(windows, grids, strict=True):
        _check_reach(window, grid, limit(grid, len(grids)))
    if isinstance(spec, MultiGranular) and spec.changes_only and source.df.isStreaming:
        raise refuse(
            "changes_only=True over a stream of events with a duration",
            "is not supported: an event is in windows far apart, which have no order in a stream",
            "compare the results afterwards, or leave it out",
        )
    return Lasting(
        **vars(source),
        coordinate=coordinate,
        spec=kept,
        queries=queries_of(labels, grids, name),
        start=start,
        start_sql=text,
        limit=min(limit(grid, len(grids)) for grid in grids),
    )


def _events(
    df: Any, specs: Sequence[Sliding], time: Any, by: Any, tiebreak: Any, own: Sequence[str]
) -> tuple[Source, str, str]:
    """The source with the stop as its time; the name of the start, and its SQL."""
    start, stop = _pair(time)
    for spec in specs:
        if spec.measure == "rows" or spec.slide_by_tuple:
            raise refuse(
                f"{spec!r} over time={(start, stop)!r}",
                "counts rows, but events with a duration overlap, so they have no single order",
                "write range and slide as durations, or name one column, for example "
                f"time={stop!r}",
            )
    source = source_of(df, stop, by, tiebreak, own)
    (began,) = schema_of(df, [("time", start)], "time")
    kind = began.dataType.simpleString()
    if kind != source.time_type:
        raise refuse(
            f"time={(start, stop)!r}",
            f"is of two types, {kind} and {source.time_type}",
            f"cast both to the same type, for example {start!r} to {source.time_type}",
        )
    # A type without windows is refused before a missing watermark.
    gridded(specs, stop, source.time_type)
    _check_stream(source, start, WATERMARK in began.metadata)
    return source, start, reference(df, start)


def _check_reach(spec: Sliding, grid: Grid, most: int) -> None:
    """Refuse windows that are too many, or too far away to be numbered."""
    if grid.overlap > MOST_WINDOWS_A_ROW:
        raise refuse(
            f"range={spec.range} with slide={spec.slide}",
            f"puts each instant into {grid.overlap:.0f} windows",
            "choose a longer slide",
        )
    if grid.range + abs(grid.offset) + grid.slide >= most:
        raise refuse(
            f"range={spec.range} with offset={spec.offset}",
            f"reaches farther than {most} units, beyond which windows are not numbered",
            "write shorter ones, or a longer slide",
        )


def _pair(time: Any) -> tuple[str, str]:
    names = tuple(time)
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise refuse(
            f"time={time!r}", "is not a pair of column names", "write time=('start', 'stop')"
        )
    if names[0] == names[1]:
        raise refuse(
            f"time={time!r}",
            "names one column for both ends",
            f"write time={names[0]!r} for events that are points",
        )
    return names


def _check_stream(source: Source, start: str, marked: bool) -> None:
    """Check that a stream has its watermark on the stop: an event is known when it ends."""
    if not source.df.isStreaming or source.delay is not None:
        return
    pair, stop = (start, source.time), source.time
    if marked:
        raise refuse(
            f"time={pair!r}",
            f"has its watermark on {start!r}, but an event is known only when it ends",
            f"write df.withWatermark({stop!r}, …) with a delay (TTP) longer than the longest event",
        )
    if source.time_type == "timestamp":
        raise refuse(
            f"time={pair!r}",
            f"has no watermark on {stop!r}, so a stream could not tell when a window is complete",
            f"write df.withWatermark({stop!r}, '1 hour') before fl.over; its delay is the time to "
            "postpone (TTP): choose it longer than the longest event",
        )
    what = (
        "are timestamps without time zone, on which Spark sets no watermark"
        if source.time_type == "timestamp_ntz"
        else "are numbers, and no watermark can be set on a number"
    )
    raise refuse(
        f"time={pair!r}",
        f"{what}, so a stream could not tell when a window is complete",
        f"cast both to timestamp before df.withWatermark({stop!r}, …)",
    )
