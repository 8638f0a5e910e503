"""Makes frames from marks: bounds, row counts, numbers, and partials of aggregates.

Each key has a slot, its index in arrays. The state of an open frame is its first and last time, its
deadline, its number of rows and one partial for each field, however many rows it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels.pieces import pieces
from fanlight.engine.kernels.sizes import NEVER, Sizes
from fanlight.engine.operators.clock import UNSEEN
from fanlight.engine.operators.frames.marks import Marker, state_of_slots
from fanlight.engine.operators.partials import combine_ranges
from fanlight.engine.plan.frames import Timing

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Marks = NDArray[np.uint8]


@dataclass(frozen=True)
class Frames:
    """Frames: of each its slot, its number in its key, bounds, number of rows and partials."""

    slot: Ints
    number: Ints
    start: Ints
    end: Ints
    rows: Ints
    partials: list[pa.Array]


@dataclass(frozen=True)
class FrameNumbers:
    """The number of each row's frame, -1 for none, and whether the number is final.

    ``slot_number`` and ``slot_certain`` say the same of the frames that were open before, by slot.
    """

    number: Ints
    certain: Bools
    slot: Ints
    slot_number: Ints
    slot_certain: Bools


@dataclass(frozen=True)
class Rows:
    """Sorted rows in groups, one for each of ``slots``; ``opened``: those with an open frame."""

    t: Ints
    partials: list[pa.Array]
    starts: Ints
    slots: Ints
    opened: Bools


@dataclass(frozen=True)
class Pieces:
    """The rows ``[lo, hi)`` that each frame has of those taken, and what the frame is with them."""

    lo: Ints
    hi: Ints
    group: Ints
    slot: Ints
    begins: Bools
    ends: Bools
    start: Ints
    last: Ints
    end: Ints
    rows: Ints
    deadline: Ints
    number: Ints
    reported: Bools


class Assembly:
    """The state of each key, updated by sorted rows."""

    counters: tuple[str, ...] = ("ids", "start", "last", "rows", "deadline")
    copies: ClassVar[int] = 1  # partials of a field
    tables: tuple[pa.Table, ...] = ()  # further state; their column ``code`` has slots

    def __init__(
        self,
        marker: Marker,
        fields: Sequence[pa.Field],
        monoids: Sequence[Monoid],
        *,
        further: Sequence[str] = (),
    ) -> None:
        self.counters = (*self.counters, *further)
        self.scheme = marker.scheme
        self.marker = marker
        self.monoids = list(monoids)
        self.parts = [pa.nulls(0, field.type) for field in (*fields,) * self.copies]
        self.ids = np.zeros(0, np.int64)  # the next number of a frame
        self.start = np.zeros(0, np.int64)
        self.last = np.zeros(0, np.int64)
        self.rows = np.zeros(0, np.int64)
        self.deadline = np.zeros(0, np.int64)  # when time closes the open frame
        # Further counters, for those who ask for them.
        self.seen = np.zeros(0, np.int64)  # the last row of a key, if keys are forgotten
        self.changed = np.zeros(0, np.int64)  # whether a key has rows that were not given early
        self.state = self.marker.empty_state(0)

    @property
    def slots(self) -> int:
        """The number of keys."""
        return len(self.ids)

    @property
    def opened(self) -> Bools:
        """Which keys have an open frame."""
        return self.state["opened"]

    @property
    def idle(self) -> Bools:
        """Which keys have no open frame, and have had none that counts for what is to come."""
        idle: Bools = ~(self.opened | (self.ids > 0) | self.marker.is_remembered(self.state))
        return idle

    def grow(self, more: int) -> None:
        """Add keys without rows."""
        if not more:
            return
        for name in self.counters:
            initial = np.full(more, UNSEEN if name == "seen" else 0)
            setattr(self, name, np.append(getattr(self, name), initial))
        fresh = self.marker.empty_state(more)
        self.state = {n: np.concatenate([old, fresh[n]]) for n, old in self.state.items()}
        self.parts = [pa.concat_arrays([p, pa.nulls(more, p.type)]) for p in self.parts]

    def keep_slots(self, slots: Ints) -> None:
        """Drop all keys but these."""
        for name in self.counters:
            setattr(self, name, getattr(self, name)[slots])
        self.state = state_of_slots(self.state, slots)
        self.parts = [part.take(pa.array(slots)) for part in self.parts]

    def advance(
        self,
        t: Ints,
        inputs: list[pa.Array],
        partials: list[pa.Array],
        starts: Ints,
        slots: Ints,
        *,
        numbered: bool = False,
    ) -> tuple[Frames, FrameNumbers | None]:
        """Take sorted rows in groups, one for each slot; return the frames that they close."""
        before = state_of_slots(self.state, slots)
        opened = before["opened"].copy()
        sizes = self._open_sizes(t, inputs, slots)
        marks = self.marker.mark(inputs, starts, before, sizes)
        after = np.full(len(t), NEVER) if sizes is None else sizes.after
        lo, hi, group, begins, ends = pieces(marks, starts, opened)
        for name, values in before.items():
            self.state[name][slots] = values
        slot = slots[group]
        start = self.start[slot]
        start[begins] = t[lo[begins]]
        rows = hi - lo + np.where(begins, 0, self.rows[slot])
        last = self.last[slot]
        some = hi > lo
        last[some] = t[hi[some] - 1]
        end = self.deadline[slot]
        end[some] = after[hi[some] - 1]
        deadline = end.copy()
        end[ends] = np.minimum(end[ends], t[hi[ends]])
        reported = ends & self._is_large_enough(rows, end - start)
        number = self._number_frames(slot, group, reported)
        of_rows = None
        if numbered:
            certain = ends | self._is_large_enough(rows, last - start)
            numbers = np.where(~ends | reported, number, -1)
            of_rows = _number_rows(len(t), (lo, hi, slot, begins), numbers, certain)
        made = Pieces(
            lo, hi, group, slot, begins, ends, start, last, end, rows, deadline, number, reported
        )
        return self._close_and_store(made, Rows(t, partials, starts, slots, opened)), of_rows

    def _close_and_store(self, made: Pieces, rows: Rows) -> Frames:
        """Return the frames that are closed, and store those that are open."""
        of_pieces = self._combine_pieces(rows, (made.lo, made.hi, made.group, made.begins))
        kept = made.reported
        closed = Frames(
            made.slot[kept], made.number[kept], made.start[kept], made.end[kept], made.rows[kept],
            [part.filter(pa.array(kept)) for part in of_pieces],
        )  # fmt: skip
        self._store_open_frames(made, rows, of_pieces)
        return closed

    def _open_sizes(self, t: Ints, inputs: list[pa.Array], slots: Ints) -> Sizes | None:
        """The limits on the size of frames, and the sizes of open ones; None without limits."""
        scheme = self.scheme
        if not scheme.is_limited:
            return None
        timing = scheme.timing or Timing()
        if scheme.has_own_deadlines:
            until = inputs[-1].to_numpy(zero_copy_only=False).astype(np.int64)
        else:
            until = np.full(len(t), NEVER) if timing.gap is None else t + timing.gap
        cap = NEVER if timing.cap is None else timing.cap
        began, rows, deadline = self.start[slots], self.rows[slots], self.deadline[slots]
        most = scheme.max_rows or NEVER
        return Sizes(
            np.array(t), until, cap, most, began, rows, deadline, np.empty(len(t), np.int64)
        )

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | None]:
        """Close the open frames of these slots whose deadline is ``now`` or before, at that."""
        at = np.flatnonzero(self.opened & due & (self.deadline <= now))
        large = self._is_large_enough(self.rows[at], self.deadline[at] - self.start[at])
        reported = large & self._has_frame()[at]
        number, which = self.ids[at], at[reported]
        closed = Frames(
            which, number[reported], self.start[which], self.deadline[which], self.rows[which],
            self._partials_of(which),
        )  # fmt: skip
        self.ids[which] += 1
        for name, values in self.marker.empty_state(len(at)).items():
            if name not in self.marker.remembered:
                self.state[name][at] = values
        none = np.zeros(0, np.int64)
        self._store_partials(at, none, [part.slice(0, 0) for part in self.parts])
        sure = np.ones(len(at), np.bool_)
        return closed, FrameNumbers(
            none, none.astype(np.bool_), at, np.where(reported, number, -1), sure
        )

    def open_frames(self, over: Bools) -> Frames:
        """The open frames of keys that are over: up to just after their last row."""
        at = np.flatnonzero(self._has_frame() & over)
        start, end, rows = self.start[at], self.last[at] + 1, self.rows[at]
        at = at[self._is_large_enough(rows, end - start)]
        return Frames(
            at, self.ids[at], self.start[at], self.last[at] + 1, self.rows[at],
            self._partials_of(at),
        )  # fmt: skip

    def _has_frame(self) -> Bools:
        """Which keys have a frame, should they have no further row."""
        return self.opened

    def _partials_of(self, at: Ints) -> list[pa.Array]:
        """The partials of the open frames of some slots."""
        return [part.take(pa.array(at)) for part in self.parts]

    def _is_large_enough(self, rows: Ints, duration: Ints) -> Bools:
        """Which frames are large enough to be reported."""
        scheme = self.scheme
        large: Bools = (rows >= scheme.min_rows) & (duration >= scheme.min_duration)
        return large

    def _number_frames(self, slot: Ints, group: Ints, reported: Bools) -> Ints:
        """The number of each frame in its key: reported frames count up, an open one is next."""
        before: Ints = np.cumsum(reported) - reported
        first = np.flatnonzero(np.append(True, group[1:] != group[:-1])) if len(group) else group
        base: Ints = np.repeat(before[first], np.diff(np.append(first, len(group))))
        number: Ints = self.ids[slot] + before - base
        np.add.at(self.ids, slot[reported], 1)
        return number

    def _combine_pieces(
        self, rows: Rows, stretches: tuple[Ints, Ints, Ints, Bools]
    ) -> list[pa.Array]:
        """Combine the rows of each piece; a frame open before starts with its partial so far."""
        if not self.monoids:
            return []
        lo, hi, group, begins = stretches
        partials, opened = rows.partials, rows.opened
        if opened.any():
            inclusive = np.cumsum(opened)
            lo = np.where(begins, lo + inclusive[group], lo + inclusive[group] - 1)
            hi = hi + inclusive[group]
            partials = _insert_carried(
                partials,
                [p.take(pa.array(rows.slots[opened])) for p in self.parts],
                rows.starts,
                opened,
            )
        return [
            combine_ranges(column, monoid, lo, hi)
            for column, monoid in zip(partials, self.monoids, strict=True)
        ]

    def _store_open_frames(self, made: Pieces, rows: Rows, of_pieces: list[pa.Array]) -> None:
        """Store the open frames, which later rows may continue."""
        left = ~made.ends
        at = made.slot[left]
        self.start[at], self.last[at], self.rows[at] = (
            values[left] for values in (made.start, made.last, made.rows)
        )
        self.deadline[at] = made.deadline[left]
        self._store_partials(rows.slots, at, [part.filter(pa.array(left)) for part in of_pieces])

    def _store_partials(self, slots: Ints, at: Ints, parts: list[pa.Array]) -> None:
        """Store partials: of the keys ``slots``, only those of ``at`` have an open frame."""
        if not parts:
            return
        where = np.arange(self.slots)
        where[slots] = -1
        where[at] = self.slots + np.arange(len(at))
        index = pa.array(np.maximum(where, 0), mask=where < 0)
        self.parts = [
            pa.concat_arrays([old, new.cast(old.type)]).take(index)
            for old, new in zip(self.parts, parts, strict=True)
        ]


def _number_rows(
    size: int, stretches: tuple[Ints, Ints, Ints, Bools], numbers: Ints, sure: Bools
) -> FrameNumbers:
    """Spread the frame numbers of pieces over their rows."""
    lo, hi, slot, begins = stretches
    number, certain = np.full(size, -1, np.int64), np.ones(size, np.bool_)
    lengths = hi - lo
    within = np.repeat(lo - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
    number[within] = np.repeat(numbers, lengths)
    certain[within] = np.repeat(sure, lengths)
    return FrameNumbers(number, certain, slot[~begins], numbers[~begins], sure[~begins])


def _insert_carried(
    columns: list[pa.Array], carried: list[pa.Array], starts: Ints, opened: Bools
) -> list[pa.Array]:
    """Insert the carried partial into columns, before each group that has an open frame."""
    if not opened[1:].any():
        return [
            pa.concat_arrays([one.cast(column.type), column])
            for one, column in zip(carried, columns, strict=True)
        ]
    size, count = int(starts[-1]), int(opened.sum())
    index = np.empty(size + count, np.int64)
    firsts = starts[:-1][opened] + np.arange(count)
    there = np.ones(size + count, np.bool_)
    there[firsts] = False
    index[firsts] = np.arange(count)
    index[there] = count + np.arange(size)
    order = pa.array(index)
    return [
        pa.concat_arrays([one.cast(column.type), column]).take(order)
        for one, column in zip(carried, columns, strict=True)
    ]
