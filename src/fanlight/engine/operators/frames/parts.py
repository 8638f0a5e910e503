"""Frames cut at report times: each part has the aggregates of its frame's rows so far.

A frame is given part by part, as time passes the report times, while it stays open. A row at a
report time belongs to what follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.clock import Steps, steps_of
from fanlight.engine.operators.frames.assembly import (
    Assembly,
    FrameNumbers,
    Frames,
    Rows,
    Stretches,
    rows_at_hand,
)
from fanlight.engine.plan.clock_changes import CalendarSteps
from fanlight.engine.spec.errors import refuse

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_MOST = 2**26  # parts made at a time, which must fit the worker's memory


@dataclass(frozen=True)
class _Parts:
    """Parts of pieces of frames, in order: of each its piece, its bounds, whether it is complete.

    The last part of a piece goes up to where the piece does; it is complete if the frame ends
    there. ``last`` has the place of each piece's last part.
    """

    piece: Ints
    start: Ints
    end: Ints
    complete: Bools
    last: Ints


def _cut_pieces(since: Ints, until: Ints, ends: Bools | bool, reports: Steps) -> _Parts:
    """Cut what is between ``since`` and ``until`` at report times."""
    first = reports.number(since)
    counts = reports.number(until) - first + 1
    last = np.cumsum(counts) - 1
    total = int(counts.sum())
    if total > _MOST:
        raise refuse(
            f"accumulate(…) into {total:,} parts at once",
            "makes more of them than memory holds: a frame has stayed open over too long a time",
            "give frames max_gap= or max_duration=, or make every= longer",
        )
    piece = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(total) - (last - counts + 1)[piece] + first[piece]
    start = np.maximum(since[piece], reports.instant(number))
    end = reports.instant(number + 1)
    end[last] = until
    complete = start < end  # a clock may skip a whole unit
    complete[last] = ends & (start[last] < until)
    return _Parts(piece, start, end, complete, last)


class PartAssembly(Assembly):
    """An assembly that gives frames in parts; ``since`` is where an open frame's next one begins.

    It is for frames that are given however small they are.
    """

    def __init__(self, *given: Any, every: int | CalendarSteps, **more: Any) -> None:
        super().__init__(*given, **more)
        self.counters = (*self.counters, "since")
        self.reports = steps_of(every)
        self.since = np.zeros(0, np.int64)

    @property
    def next_report(self) -> Ints:
        """The next report time of each key's open frame."""
        return self.reports.instant(self.reports.number(self.since) + 1)

    def _close_frames(
        self, rows: Rows, found: Stretches, frames: Frames, reported: Bools
    ) -> tuple[Frames, list[pa.Array]]:
        """The parts that rows complete, of frames that they close and of open ones."""
        del reported
        since = np.where(found.lo < 0, self.since[frames.slot], frames.start)
        parts = _cut_pieces(since, frames.end, found.ends, self.reports)
        hi = _ends_of_parts(rows, found, self.reports, since, parts)
        piece, last = parts.piece, parts.last[~found.ends]
        combined = self._combine(rows, found.group[piece], found.lo[piece], hi)
        given = replace(
            frames.take(piece), start=parts.start, end=parts.end,
            rows=frames.rows[piece] - found.hi[piece] + hi, partials=combined,
        )  # fmt: skip
        self.since[frames.slot[~found.ends]] = parts.start[last]
        return given.take(parts.complete), [one.take(pa.array(last)) for one in combined]

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Close the open frames of these slots whose deadline is ``now`` or before, at that."""
        closed, numbers = super().expire(due, now)
        return self._cut_frames(closed, ends=True), numbers

    def report(self, until: Ints) -> Frames:
        """The parts of open frames that end up to a time, given by slot; the frames stay open."""
        at = np.flatnonzero(self.opened & (self.next_report <= until))
        parts = self._cut_frames(self._frames_at(at, until), ends=False)
        self.since[at] = self.reports.instant(self.reports.number(until[at]))
        return parts

    def open_frames(self, over: Bools) -> Frames:
        """The last parts of the open frames of keys that are over."""
        found = super().open_frames(over)
        found = replace(found, start=self.since[found.slot])
        return found.take(found.start < found.end)

    def _cut_frames(self, frames: Frames, *, ends: bool) -> Frames:
        """The complete parts of frames that have no further rows."""
        parts = _cut_pieces(self.since[frames.slot], frames.end, ends, self.reports)
        given = replace(frames.take(parts.piece), start=parts.start, end=parts.end)
        return given.take(parts.complete)


def _ends_of_parts(
    rows: Rows, found: Stretches, reports: Steps, since: Ints, parts: _Parts
) -> Ints:
    """The first row after each part, of the rows of its piece, which begins at ``since``."""
    lengths, skipped, within = rows_at_hand(rows, found)
    opening = np.append(0, parts.last[:-1] + 1)[: len(lengths)]
    first = reports.number(since)
    place = reports.number(rows.t[within]) + np.repeat(opening - first, lengths)
    counted = np.searchsorted(place, np.arange(len(parts.piece)), "right")
    ends: Ints = counted + skipped[parts.piece]
    return ends
