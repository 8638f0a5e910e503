"""Windows bound to a DataFrame of events that last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fanlight.plan.axis import Axis, axes_of, axis_of
from fanlight.spark.coordinates import boundary, coordinate, rejections
from fanlight.spark.sliding.binding import Ranged
from fanlight.spark.source import Source, schema_of, source_of
from fanlight.spark.spanning.ranges import limit
from fanlight.spark.sql import WATERMARK, reference
from fanlight.spec.errors import refuse
from fanlight.spec.sliding import Sliding

MOST_WINDOWS_AN_INSTANT = 1_000_000


@dataclass(frozen=True)
class Lasting(Ranged):
    """A source of events: ``time`` is the stop, at which an event is known; ``start`` beside it."""

    start: str
    start_sql: str

    @property
    def limit(self) -> int:
        """Coordinates must stay below this, either way."""
        return limit(self.axis)

    @property
    def ttp(self) -> int | None:
        """A stream's time to postpone in milliseconds: the watermark's delay on the stop."""
        return None if self.delay is None or not self.df.isStreaming else int(self.delay)

    @property
    def order(self) -> list[str]:
        """Events stand in the order of their stop (the paper's order of a stream), then start."""
        ends = ["u", "us"] if self.coordinate.celled else ["t", "s"]
        return [*ends, *self.breaks]

    @property
    def rejections(self) -> list[tuple[str, str]]:
        """Also a stop before the start."""
        found = []
        for name, column in ((self.start, self.start_sql), (self.time, self.time_sql)):
            found += rejections(self.coordinate, name, column)
            if self.coordinate.kind in ("timestamp", "integer"):
                number = coordinate(self.coordinate, column)
                far = f"{number} >= {self.limit}L or {number} <= -{self.limit}L"
                found.append((far, f"{name} is out of range"))
        reversed_ = f"{self.time_sql} < {self.start_sql}"
        return [*found, (reversed_, f"{self.time} is before {self.start}")]

    @property
    def coordinates(self) -> list[tuple[str, str]]:
        """Start ``s`` and stop ``t``; for doubles also the values themselves."""
        axis = self.axis
        found = [
            (coordinate(axis.coordinate, self.start_sql), "s"),
            (coordinate(axis.coordinate, self.time_sql), "t"),
        ]
        if axis.coordinate.celled:
            found.append((f"cast({self.start_sql} as double)", "us"))
            found.append((f"cast({self.time_sql} as double)", "u"))
        return found

    @property
    def placed(self) -> list[str]:
        """Start, stop, and the last coordinate that an event shares: ``s``, ``t``, ``l``.

        The stop itself is not part of an event, unless the event is nothing but an instant.
        """
        before = "t - 1L"
        if self.coordinate.celled:
            before = f"if(u = {boundary(self.coordinate, 't')}, t - 1L, t)"
        return ["s", "t", f"greatest(s, {before}) as l"]


@dataclass(frozen=True)
class SpanningBound(Lasting):
    """Events under one kind of sliding windows."""

    spec: Sliding


def bind(df: Any, spec: Sliding, time: Any, by: Any, tiebreak: Any) -> SpanningBound:
    """Check the request against the DataFrame before anything is built."""
    source, start, text = events_of(df, [spec], time, by, tiebreak)
    axis = axis_of(spec, source.time, source.time_type)
    check_reach(spec, axis, limit(axis))
    return SpanningBound(
        **vars(source),
        coordinate=axis.coordinate,
        axis=axis,
        start=start,
        start_sql=text,
        spec=spec,
    )


def events_of(
    df: Any,
    specs: Sequence[Sliding],
    time: Any,
    by: Any,
    tiebreak: Any,
    own: Sequence[str] = ("window",),
) -> tuple[Source, str, str]:
    """The source by its stop, and its start with the SQL of it."""
    start, stop = _pair(time)
    for spec in specs:
        if spec.measure == "rows" or spec.slide_by_tuple:
            raise refuse(
                f"{spec!r} over time={(start, stop)!r}",
                "counts rows, but events that last overlap and have no one place in a row order",
                f"give range and slide as durations, or name one column, for example time={stop!r}",
            )
    source = source_of(df, stop, by, tiebreak, own)
    (began,) = schema_of(df, [("time", start)], "time")
    kind = began.dataType.simpleString()
    if kind != source.time_type:
        raise refuse(
            f"time={(start, stop)!r}",
            f"pairs a {kind} with a {source.time_type}",
            f"cast them alike, for example {start!r} to {source.time_type}",
        )
    # What a type cannot be windowed by is said before what a stream lacks.
    axes_of(specs, stop, source.time_type)
    _check_stream(source, start, WATERMARK in began.metadata)
    return source, start, reference(df, start)


def check_reach(spec: Sliding, axis: Axis, most: int) -> None:
    """Refuse windows too many or too far for their numbers."""
    if axis.range / axis.slide > MOST_WINDOWS_AN_INSTANT:
        raise refuse(
            f"range={spec.range} with slide={spec.slide}",
            f"puts each instant into {axis.range / axis.slide:.0f} windows",
            "choose a longer slide",
        )
    if axis.range + abs(axis.offset) + axis.slide >= most:
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
    """The watermark stands on the stop: an event is known when it ends."""
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
            f"has no watermark on {stop!r}, so a stream would never know when a window is complete",
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
        f"{what}, so a stream would never know when a window is complete",
        f"cast both to timestamp before df.withWatermark({stop!r}, …)",
    )
