"""Frames of which a key may have any number open: those of a user's functions, if they overlap.

What is kept of the open frames is a table with a row for each: its first time, its number of rows,
the user's state as JSON, and a partial for each field. The rows of a frame are those from its first
to the one that ends it, so its partial is that of a range of rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels.sizes import NEVER
from fanlight.engine.operators.arrow_tables import as_array, ints
from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames
from fanlight.engine.operators.frames.logical_steps import SeveralStep, State, several_step
from fanlight.engine.operators.frames.marks import Logical
from fanlight.engine.operators.partials import combine_any_ranges, combine_pairs
from fanlight.engine.operators.snapshots import CODE
from fanlight.engine.plan.frames import Scheme, Timing

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
NOT_KEPT = -1


@dataclass(slots=True)
class _Frame:
    """A frame while the rows of its key are gone through; ``state`` is None once it has ended.

    Its rows at hand are those from ``first`` to ``stop``; ``kept`` is its row in the table of open
    frames, if it was open before. A row at ``stop`` ends it, at the time ``end``.
    """

    slot: int
    start: int
    rows: int
    state: State | None
    first: int
    kept: int = NOT_KEPT
    stop: int = 0
    end: int = 0


@dataclass(frozen=True)
class _Limits:
    """What ends a frame besides the user's function; infinite if nothing does."""

    gap: float
    cap: float
    most: float

    @classmethod
    def of(cls, scheme: Scheme) -> _Limits:
        """The limits of a scheme, some of which may be missing."""
        timing = scheme.timing or Timing()
        gap, cap = (math.inf if one is None else one for one in (timing.gap, timing.cap))
        return cls(gap, cap, scheme.max_rows or math.inf)


class SeveralAssembly(Assembly):
    """An assembly of frames of which a key may have any number open."""

    counters: tuple[str, ...] = ("ids", "last", "deadline")  # the deadline is the earliest
    carried: ClassVar = ()  # partials are in the table of open frames
    marker: Logical

    def __init__(
        self,
        marker: Logical,
        fields: Sequence[pa.Field],
        monoids: Sequence[Monoid],
        *,
        further: Sequence[str] = (),
    ) -> None:
        super().__init__(marker, fields, monoids, further=further)
        parts = [(f"part{i}", field.type) for i, field in enumerate(fields)]
        columns = [(CODE, pa.int64()), ("start", pa.int64()), ("rows", pa.int64())]
        schema = pa.schema([*columns, ("state", pa.string()), *parts])
        self.tables = (schema.empty_table(),)

    def advance(
        self,
        t: Ints,
        inputs: list[pa.Array],
        partials: list[pa.Array],
        starts: Ints,
        slots: Ints,
        *,
        numbered: bool = False,
    ) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Take sorted rows in groups, one for each slot; return the frames that they close."""
        del numbered  # rows may be in several frames, and have no one number
        found = self._go_through_rows(t, inputs, starts, slots)
        slot, start, rows, lo, hi, kept, end = np.array(
            [(f.slot, f.start, f.rows, f.first, f.stop, f.kept, f.end) for f in found], np.int64
        ).reshape(-1, 7).T  # fmt: skip
        states = [None if f.state is None else json.dumps(f.state) for f in found]
        ends = np.array([state is None for state in states], np.bool_)
        reported = ends & self._is_large_enough(rows, end - start)
        of_rows = combine_any_ranges(partials, self.monoids, lo, hi)
        before = pa.array(kept, mask=kept == NOT_KEPT)
        parts = combine_pairs(
            [part.take(before) for part in self._open_partials()], of_rows, self.monoids
        )
        frames = Frames(slot, self._number_frames(slot, reported), start, end, rows, parts)
        self.last[slots] = t[starts[1:] - 1]
        columns = [slot, start, rows, pa.array(states, pa.string()), *parts]
        still_open = pa.table(columns, self.tables[0].schema.names).filter(pa.array(~ends))
        others = self.tables[0].filter(pa.array(~np.isin(ints(self.tables[0][CODE]), slots)))
        self._set_frames(pa.concat_tables([others, still_open.cast(others.schema)]))
        return frames.take(reported), None

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Close the open frames of these slots whose deadline is ``now`` or before, at that."""
        code, deadline = ints(self.tables[0][CODE]), self._deadlines()
        over = due[code] & (deadline <= now)
        closed = self._report_frames(np.flatnonzero(over), deadline)
        self._set_frames(self.tables[0].filter(pa.array(~over)))
        return closed, None

    def open_frames(self, over: Bools) -> Frames:
        """The open frames of keys that are over: up to just after their last row."""
        code, ids = ints(self.tables[0][CODE]), self.ids.copy()
        found = self._report_frames(np.flatnonzero(over[code]), self.last[code] + 1)
        self.ids = ids  # they are counted when they end
        return found

    def _report_frames(self, at: Ints, end: Ints) -> Frames:
        """Frames of the table, in the order in which they are numbered, unless too small."""
        (frames,) = self.tables
        code, start, rows = (ints(frames[name])[at] for name in (CODE, "start", "rows"))
        end = end[at]
        large = self._is_large_enough(rows, end - start)
        parts = [part.take(pa.array(at)) for part in self._open_partials()]
        number = self._number_frames(code, large)
        return Frames(code, number, start, end, rows, parts).take(large)

    def _go_through_rows(
        self, t: Ints, inputs: list[pa.Array], starts: Ints, slots: Ints
    ) -> list[_Frame]:
        """The frames of the keys that have rows: by key, in the order in which they end."""
        step, limits, times = several_step(self.scheme), _Limits.of(self.scheme), t.tolist()
        rows = list(zip(times, zip(*self.marker.kernel_values(inputs), strict=True), strict=True))
        last, opened = self.last[slots].tolist(), self._open_frames_of(slots)
        found: list[_Frame] = []
        for slot, before, (begin, stop) in zip(
            slots.tolist(), last, pairwise(starts.tolist()), strict=True
        ):
            frames = opened.get(slot, [])
            for frame in frames:
                frame.first = begin
            found += _go_through_key(slot, frames, rows, (begin, stop), before, step, limits)
        return found

    def _open_frames_of(self, slots: Ints) -> dict[int, list[_Frame]]:
        """The open frames of some keys, by slot."""
        (frames,) = self.tables
        at = np.flatnonzero(np.isin(ints(frames[CODE]), slots))
        names = (CODE, "start", "rows", "state")
        columns = [as_array(frames[name]).take(pa.array(at)).to_pylist() for name in names]
        by_slot: dict[int, list[_Frame]] = {}
        for slot, start, rows, text, kept in zip(*columns, at.tolist(), strict=True):
            frame = _Frame(slot, start, rows, json.loads(text), 0, kept)
            by_slot.setdefault(slot, []).append(frame)
        return by_slot

    def _open_partials(self) -> list[pa.Array]:
        """The partials of the open frames, a column for each field."""
        return [as_array(self.tables[0][f"part{i}"]) for i in range(len(self.monoids))]

    def _set_frames(self, frames: pa.Table) -> None:
        """Set the open frames, whose order in each key is that in which they began."""
        order = np.argsort(ints(frames[CODE]), kind="stable")
        self.tables = (frames.take(pa.array(order)).combine_chunks(),)
        code = ints(self.tables[0][CODE])
        self.opened[:] = False
        self.opened[code] = True
        self.deadline[:] = NEVER
        np.minimum.at(self.deadline, code, self._deadlines())

    def _deadlines(self) -> Ints:
        """When time closes each open frame."""
        code, start = (ints(self.tables[0][name]) for name in (CODE, "start"))
        timing = self.scheme.timing or Timing()
        by_gap = np.full(len(code), NEVER) if timing.gap is None else self.last[code] + timing.gap
        return by_gap if timing.cap is None else np.minimum(by_gap, start + timing.cap)


def _go_through_key(
    slot: int,
    frames: list[_Frame],
    rows: list[tuple[int, tuple[Any, ...]]],
    place: tuple[int, int],
    last: int,
    step: SeveralStep,
    limits: _Limits,
) -> list[_Frame]:
    """The frames of a key, of which ``frames`` are open, after the rows at ``place``.

    Those that have ended come first, as they ended; of two that one row finds ended, the older one
    has ended no later. ``last`` is the time of the row before.
    """
    ended: list[_Frame] = []
    deadline = last + limits.gap
    for at in range(*place):
        now, values = rows[at]
        cut = [
            now > deadline or now >= frame.start + limits.cap or frame.rows >= limits.most
            for frame in frames
        ]
        states = [None if over else frame.state for over, frame in zip(cut, frames, strict=True)]
        states, begun = step(values, states)
        for frame, state in zip(frames, states, strict=True):
            frame.state = state
        over = [frame for frame in frames if frame.state is None]
        going = [frame for frame in frames if frame.state is not None]
        for frame in over:
            frame.stop, frame.end = at, int(min(deadline, frame.start + limits.cap, now))
        ended += over
        for frame in going:
            frame.rows += 1
        frames = going if begun is None else [*going, _Frame(slot, now, 1, begun, at)]
        deadline = now + limits.gap
    for frame in frames:
        frame.stop = place[1]
    return [*ended, *frames]
