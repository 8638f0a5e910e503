"""Frames cut at report times: each part has the aggregates of its frame's rows so far.

A frame is given part by part, as time passes the multiples of ``every``, while it stays open. A row
at a report time belongs to what follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames, Pieces, Rows
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


def _cut_pieces(since: Ints, until: Ints, ends: Bools | bool, every: int) -> _Parts:
    """Cut what is between ``since`` and ``until`` at the multiples of ``every``."""
    counts = until // every - since // every + 1
    last = np.cumsum(counts) - 1
    total = int(counts.sum())
    if total > _MOST:
        raise refuse(
            f"accumulate(…) into {total:,} parts at once",
            "makes more of them than memory holds: a frame has stayed open over too long a time",
            "give frames max_gap= or max_duration=, or make every= longer",
        )
    piece = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(total) - (last - counts + 1)[piece] + (since // every)[piece]
    start = np.maximum(since[piece], number * every)
    end = (number + 1) * every
    end[last] = until
    complete = np.ones(total, np.bool_)
    complete[last] = ends & (start[last] < until)
    return _Parts(piece, start, end, complete, last)


class PartAssembly(Assembly):
    """An assembly that gives frames in parts; ``since`` is where an open frame's next one begins.

    It is for frames that are given however small they are.
    """

    def __init__(self, *given: Any, every: int, **more: Any) -> None:
        super().__init__(*given, **more)
        self.counters = (*self.counters, "since")
        self.every = every
        self.since = np.zeros(0, np.int64)

    @property
    def next_report(self) -> Ints:
        """The next report time of each key's open frame."""
        report: Ints = (self.since // self.every + 1) * self.every
        return report

    def _close_and_store(self, made: Pieces, rows: Rows) -> Frames:
        """Return the parts that rows complete, of frames that they close and of open ones."""
        since = self.since[made.slot]
        since[made.begins] = made.start[made.begins]
        until = np.where(made.ends, made.end, made.last)
        parts = _cut_pieces(since, until, made.ends, self.every)
        piece = parts.piece
        hi = _ends_of_parts(made, rows.t // self.every, since // self.every, parts)
        before = np.where(made.begins, 0, self.rows[made.slot])
        combined = self._combine_pieces(
            rows, (made.lo[piece], hi, made.group[piece], made.begins[piece])
        )
        given = Frames(
            made.slot[piece], made.number[piece], parts.start, parts.end,
            hi - made.lo[piece] + before[piece], combined,
        )  # fmt: skip
        left = ~made.ends
        self._store_open_frames(made, rows, [one.take(pa.array(parts.last)) for one in combined])
        self.since[made.slot[left]] = parts.start[parts.last[left]]
        return _take_frames(given, np.flatnonzero(parts.complete))

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | None]:
        """Close the open frames of these slots whose deadline is ``now`` or before, at that."""
        closed, numbers = super().expire(due, now)
        return self._cut_frames(closed, ends=True), numbers

    def report(self, until: Ints) -> Frames:
        """The parts of open frames that end up to a time, given by slot; the frames stay open."""
        at = np.flatnonzero(self.opened & (self.next_report <= until))
        still_open = Frames(
            at, self.ids[at], self.start[at], until[at], self.rows[at],
            [part.take(pa.array(at)) for part in self.parts],
        )  # fmt: skip
        parts = self._cut_frames(still_open, ends=False)
        self.since[at] = until[at] // self.every * self.every
        return parts

    def open_frames(self, over: Bools) -> Frames:
        """The last parts of the open frames of keys that are over."""
        found = super().open_frames(over)
        found = replace(found, start=self.since[found.slot])
        return _take_frames(found, np.flatnonzero(found.start < found.end))

    def _cut_frames(self, frames: Frames, *, ends: bool) -> Frames:
        """The complete parts of frames that have no further rows."""
        parts = _cut_pieces(self.since[frames.slot], frames.end, ends, self.every)
        given = replace(_take_frames(frames, parts.piece), start=parts.start, end=parts.end)
        return _take_frames(given, np.flatnonzero(parts.complete))


def _ends_of_parts(made: Pieces, reports: Ints, first: Ints, parts: _Parts) -> Ints:
    """The first row after each part, of the rows of its piece.

    ``reports`` has the number of the report before each row, ``first`` that before each piece.
    """
    lengths = made.hi - made.lo
    begin = np.cumsum(lengths) - lengths
    within = np.repeat(made.lo - begin, lengths) + np.arange(lengths.sum())
    opening = np.append(0, parts.last[:-1] + 1)[: len(lengths)]
    place = reports[within] + np.repeat(opening - first, lengths)
    counted = np.searchsorted(place, np.arange(len(parts.piece)), "right")
    ends: Ints = counted + (made.lo - begin)[parts.piece]
    return ends


def _take_frames(frames: Frames, at: Ints) -> Frames:
    return Frames(
        frames.slot[at], frames.number[at], frames.start[at], frames.end[at], frames.rows[at],
        [part.take(pa.array(at)) for part in frames.partials],
    )  # fmt: skip
