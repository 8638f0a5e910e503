"""Makes frames from marks: bounds, row counts, numbers, and partials of aggregates.

Each key has a slot, its index in arrays. The state of an open frame is its first and last time, its
deadline, its number of rows and one partial for each field, however many rows it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels.pieces import pieces
from fanlight.engine.kernels.sizes import NEVER, Sizes
from fanlight.engine.operators.arrow_tables import ints, starts_of_runs
from fanlight.engine.operators.clock import UNSEEN
from fanlight.engine.operators.frames.marks import Marker, state_of_slots
from fanlight.engine.operators.partials import combine_columns
from fanlight.engine.operators.snapshots import CODE
from fanlight.engine.plan.frames import Timing

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Frames:
    """Frames: of each its slot, its number in its key, bounds, number of rows and partials."""

    slot: Ints
    number: Ints
    start: Ints
    end: Ints
    rows: Ints
    partials: Sequence[pa.Array] = ()

    def take(self, at: Ints | Bools) -> Frames:
        """Some of the frames, by their places or by a mask."""
        places = np.flatnonzero(at) if at.dtype == np.bool_ else at
        which = pa.array(places)
        return Frames(
            self.slot[places], self.number[places], self.start[places], self.end[places],
            self.rows[places], [part.take(which) for part in self.partials],
        )  # fmt: skip


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
    """Sorted rows in groups, one for each of ``slots``.

    ``columns`` have their partials and, before those of each group with an open frame, the partials
    that are carried of it: ``shift`` says how many are carried up to the rows of each group.
    """

    t: Ints
    inputs: list[pa.Array]
    starts: Ints
    slots: Ints
    columns: list[pa.Array]
    shift: Ints


class Stretches(NamedTuple):
    """The places ``[lo, hi)`` of each frame in sorted rows, its group, and whether it ends there.

    ``run`` is where the current run of an open frame begins, with which the next frame may begin;
    ``hi`` if frames do not overlap. A place below 0 is one that is carried from earlier batches.
    """

    lo: Ints
    hi: Ints
    group: Ints
    ends: Bools
    run: Ints


class Assembly:
    """The state of each key, updated by sorted rows."""

    counters: tuple[str, ...] = ("ids", "start", "last", "rows", "deadline")
    # Where what is carried of an open frame begins, and how many rows it has: counters. Each has a
    # partial of each field, and place -1 in a group is the last of them.
    carried: ClassVar[tuple[tuple[str, str], ...]] = (("start", "rows"),)
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
        self.parts = [pa.nulls(0, field.type) for field in (*fields,) * len(self.carried)]
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
        moved = np.full(self.slots, -1)
        moved[slots] = np.arange(len(slots))
        self.tables = tuple(_move_rows(table, moved) for table in self.tables)
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
    ) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Take sorted rows in groups, one for each slot; return the frames that they close."""
        before = state_of_slots(self.state, slots)
        columns, shift = self._insert_carried(partials, starts, slots, before["opened"])
        given = Rows(t, inputs, starts, slots, columns, shift)
        sizes = self._open_sizes(t, inputs, slots)
        found = self._find_stretches(given, before, sizes)
        for name, values in before.items():
            self.state[name][slots] = values
        slot, some = slots[found.group], found.hi > starts[found.group]
        newest = found.hi[some] - 1
        last, deadline = self.last[slot], np.full(len(slot), NEVER)
        last[some] = t[newest]
        if sizes is not None:
            deadline = self.deadline[slot]
            deadline[some] = sizes.after[newest]
        start, first = self._locate(given, found.group, found.lo)
        until, stop = self._locate(given, found.group, found.hi)
        end, rows = np.where(found.ends, np.minimum(deadline, until), last), stop - first
        large = self._is_large_enough(rows, end - start)
        reported = found.ends & large
        frames = Frames(slot, self._number_frames(slot, reported), start, end, rows)
        closed, parts = self._close_frames(given, found, frames, reported)
        self._store_open_frames(given, found, frames, parts)
        left = ~found.ends
        self.deadline[slot[left]] = deadline[left]
        if not numbered:
            return closed, None
        numbers = np.where(left | reported, frames.number, -1)
        return closed, _number_rows(given, found, numbers, found.ends | large)

    def _insert_carried(
        self, columns: list[pa.Array], starts: Ints, slots: Ints, opened: Bools
    ) -> tuple[list[pa.Array], Ints]:
        """Insert what is carried into columns of partials; see :class:`Rows`."""
        copies, count = len(self.carried), int(opened.sum())
        shift = copies * np.cumsum(opened)
        if not count or not columns:
            return columns, shift
        at = pa.array(slots[opened])
        own = [part.take(at) for part in self.parts]
        joined = [
            pa.concat_arrays([*own[i :: len(columns)], column]) for i, column in enumerate(columns)
        ]
        if not opened[1:].any():
            return joined, shift
        carried = np.arange(copies * count).reshape(copies, count).T.reshape(-1)
        rows = copies * count + np.arange(starts[-1])
        order = pa.array(np.insert(rows, np.repeat(starts[:-1][opened], copies), carried))
        return [column.take(order) for column in joined], shift

    def _find_stretches(
        self, rows: Rows, state: dict[str, Array], sizes: Sizes | None
    ) -> Stretches:
        """Find the rows of each frame; the state of the groups is updated."""
        opened = state["opened"].copy()
        marks = self.marker.mark(rows.inputs, rows.starts, state, sizes)
        lo, hi, group, ends = pieces(marks, rows.starts, opened)
        return Stretches(lo, hi, group, ends, hi)

    def _locate(self, rows: Rows, group: Ints, places: Ints) -> tuple[Ints, Ints]:
        """The time of each place, and its number if rows of earlier batches are counted, too.

        These stand before the rows of the group. A place after all rows has no time of its own.
        """
        time, number = np.take(rows.t, places, mode="clip"), places.copy()
        for place, (start, count) in enumerate(self.carried, -len(self.carried)):
            there = places == place
            own = group[there]
            time[there] = getattr(self, start)[rows.slots[own]]
            number[there] = rows.starts[own] - getattr(self, count)[rows.slots[own]]
        return time, number

    def _combine(self, rows: Rows, group: Ints, lo: Ints, hi: Ints) -> list[pa.Array]:
        """Combine what is between two places of a group, for each of several."""
        if not self.monoids:
            return []
        first, shift = rows.starts[group], rows.shift[group]
        low, high = (np.where(place < 0, first + place, place) + shift for place in (lo, hi))
        return combine_columns(rows.columns, self.monoids, low, high)

    def _close_frames(
        self, rows: Rows, found: Stretches, frames: Frames, reported: Bools
    ) -> tuple[Frames, list[pa.Array]]:
        """The frames that are reported, and the partials of open ones up to their current run."""
        until = np.where(found.ends, found.hi, found.run)
        parts = self._combine(rows, found.group, found.lo, until)
        still_open = pa.array(~found.ends)
        return (
            replace(frames, partials=parts).take(reported),
            [part.filter(still_open) for part in parts],
        )

    def _store_open_frames(
        self, rows: Rows, found: Stretches, frames: Frames, parts: list[pa.Array]
    ) -> None:
        """Store the open frames, which later rows may continue."""
        left = ~found.ends
        at = frames.slot[left]
        self.start[at], self.last[at] = frames.start[left], frames.end[left]
        self.rows[at] = frames.rows[left]
        self._store_partials(rows.slots, at, parts)

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

    def expire(self, due: Bools, now: int) -> tuple[Frames, FrameNumbers | pa.Table | None]:
        """Close the open frames of these slots whose deadline is ``now`` or before, at that."""
        at = np.flatnonzero(self.opened & due & (self.deadline <= now))
        closed = self._frames_at(at[self._has_frame()[at]], self.deadline)
        number = np.full(self.slots, -1)
        number[closed.slot] = closed.number
        self.ids[closed.slot] += 1
        for name, values in self.marker.empty_state(len(at)).items():
            if name not in self.marker.remembered:
                self.state[name][at] = values
        none = np.zeros(0, np.int64)
        self._store_partials(at, none, [part.slice(0, 0) for part in self.parts])
        sure = np.ones(len(at), np.bool_)
        return closed, FrameNumbers(none, none.astype(np.bool_), at, number[at], sure)

    def early_frames(self, over: Bools) -> Frames:
        """The open frames that are given early, of some keys."""
        return self.open_frames(over)

    def open_frames(self, over: Bools) -> Frames:
        """The open frames of keys that are over: up to just after their last row."""
        at = np.flatnonzero(self._has_frame() & over)
        return self._frames_at(at, self.last + 1)

    def _frames_at(self, at: Ints, end: Ints) -> Frames:
        """The open frames of some slots, unless they are too small; ``end`` is given by slot."""
        at = at[self._is_large_enough(self.rows[at], end[at] - self.start[at])]
        return Frames(
            at, self.ids[at], self.start[at], end[at], self.rows[at], self._partials_of(at)
        )

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

    def _number_frames(self, slot: Ints, reported: Bools) -> Ints:
        """The number of each frame in its key: reported frames count up, an open one is next."""
        before: Ints = np.cumsum(reported) - reported
        first = starts_of_runs(slot)
        base: Ints = np.repeat(before[first], np.diff(np.append(first, len(slot))))
        number: Ints = self.ids[slot] + before - base
        np.add.at(self.ids, slot[reported], 1)
        return number

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


def _move_rows(table: pa.Table, moved: Ints) -> pa.Table:
    """The rows of keys that stay, by their new slots; -1 is the slot of a key that is dropped."""
    code = moved[ints(table[CODE])]
    staying = table.set_column(0, CODE, pa.array(code)).filter(pa.array(code >= 0))
    return staying.combine_chunks()


def rows_at_hand(rows: Rows, found: Stretches) -> tuple[Ints, Ints, Ints]:
    """How many rows each stretch has, how many before it are in none, and the rows of all."""
    lo = np.maximum(found.lo, rows.starts[found.group])
    lengths = found.hi - lo
    skipped = lo - (np.cumsum(lengths) - lengths)
    return lengths, skipped, np.repeat(skipped, lengths) + np.arange(lengths.sum())


def _number_rows(rows: Rows, found: Stretches, numbers: Ints, sure: Bools) -> FrameNumbers:
    """Spread the frame numbers of stretches over their rows."""
    number, certain = np.full(len(rows.t), -1, np.int64), np.ones(len(rows.t), np.bool_)
    lengths, _, within = rows_at_hand(rows, found)
    number[within] = np.repeat(numbers, lengths)
    certain[within] = np.repeat(sure, lengths)
    slot, before = rows.slots[found.group], found.lo < 0
    return FrameNumbers(number, certain, slot[before], numbers[before], sure[before])
