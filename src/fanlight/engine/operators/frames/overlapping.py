"""Double-boundary frames: two frames may overlap, in the last run of rows of one value cell.

So the state has two partials for each field of an open frame: of the rows before its current run,
and of that run, with which the next frame may begin.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels.pieces import CARRIED_FRAME, CARRIED_RUN, double_pieces
from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames
from fanlight.engine.operators.frames.marks import Cells, state_of_slots
from fanlight.engine.operators.partials import combine_ranges

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class OverlappingAssembly(Assembly):
    """An assembly whose frames may share rows."""

    counters: ClassVar[tuple[str, ...]] = (*Assembly.counters, "run_start", "run_rows")
    marker: Cells
    copies: ClassVar[int] = 2  # of the rows before the current run, then of the run
    run_start: Ints = np.zeros(0, np.int64)
    run_rows: Ints = np.zeros(0, np.int64)

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
        if numbered:
            msg = "rows of overlapping frames have no one number"
            raise AssertionError(msg)
        before = state_of_slots(self.state, slots)
        opened = before["opened"].copy()
        (cells,) = self.marker.cells_of_rows(inputs)
        lo, hi, group, ends, run = double_pieces(
            cells, starts, before["opened"], before["last"].reshape(-1), before["partner"]
        )
        for name, values in before.items():
            self.state[name][slots] = values
        slot, first = slots[group], starts[group]
        start, rows = self._starts_and_counts(lo, hi, t, slot, first)
        some = hi > first
        last = self.last[slot]
        last[some] = t[hi[some] - 1]
        end = last + 1
        end[ends] = t[hi[ends]]
        number = self._number_frames(slot, group, ends)
        columns, shift = self._insert_carried_pairs(partials, starts, slots, opened)
        low, high = _shift_starts(lo, first, group, shift), hi + shift[group + 1]
        closed = Frames(
            slot[ends], number[ends], start[ends], end[ends], rows[ends],
            self._combine_ranges(columns, low[ends], high[ends]),
        )  # fmt: skip
        left = ~ends
        at = slot[left]
        run_begins = _shift_starts(run[left], first[left], group[left], shift)
        run_start, run_rows = self._starts_and_counts(run[left], hi[left], t, at, first[left])
        self.start[at], self.last[at], self.rows[at] = start[left], last[left], rows[left]
        self.run_start[at], self.run_rows[at] = run_start, run_rows
        before_run = self._combine_ranges(columns, low[left], run_begins)
        self._store_partials(
            slots, at, [*before_run, *self._combine_ranges(columns, run_begins, high[left])]
        )
        return closed, None

    def open_frames(self) -> Frames:
        """The open frames as a batch reports them at its end: up to just after their last row."""
        at = np.flatnonzero(self.opened)
        pairs = [
            pa.concat_arrays([before_run.take(pa.array(at)), run.take(pa.array(at))])
            for before_run, run in zip(*self._split_parts(), strict=True)
        ]
        size = len(at)
        order = pa.array(np.arange(2 * size).reshape(2, size).T.reshape(-1))
        lo = 2 * np.arange(size)
        parts = self._combine_ranges([pair.take(order) for pair in pairs], lo, lo + 2)
        return Frames(at, self.ids[at], self.start[at], self.last[at] + 1, self.rows[at], parts)

    def _split_parts(self) -> tuple[list[pa.Array], list[pa.Array]]:
        fields = len(self.monoids)
        return self.parts[:fields], self.parts[fields:]

    def _starts_and_counts(
        self, lo: Ints, hi: Ints, t: Ints, slot: Ints, first: Ints
    ) -> tuple[Ints, Ints]:
        """Start time and number of rows of runs, including rows of earlier batches."""
        here = lo >= 0
        start = np.where(lo == CARRIED_FRAME, self.start[slot], self.run_start[slot])
        start[here] = t[lo[here]]
        carried = np.where(lo == CARRIED_FRAME, self.rows[slot], self.run_rows[slot])
        rows: Ints = np.where(here, hi - lo, carried + hi - first)
        return start, rows

    def _insert_carried_pairs(
        self, partials: list[pa.Array], starts: Ints, slots: Ints, opened: Bools
    ) -> tuple[list[pa.Array], Ints]:
        """Insert both partials of each open frame into the columns, before the rows of its group.

        Also returns by how much that shifts the rows of each group (entry ``group + 1``).
        """
        shift = np.append(0, 2 * np.cumsum(opened))
        size, count = int(starts[-1]), int(opened.sum())
        index = np.empty(size + 2 * count, np.int64)
        firsts = starts[:-1][opened] + 2 * np.arange(count)
        there = np.ones(size + 2 * count, np.bool_)
        there[firsts] = there[firsts + 1] = False
        index[firsts] = np.arange(count)
        index[firsts + 1] = count + np.arange(count)
        index[there] = 2 * count + np.arange(size)
        order, carried = pa.array(index), pa.array(slots[opened])
        columns = [
            pa.concat_arrays([before_run.take(carried), run.take(carried), column]).take(order)
            for before_run, run, column in zip(*self._split_parts(), partials, strict=True)
        ]
        return columns, shift

    def _combine_ranges(self, columns: list[pa.Array], lo: Ints, hi: Ints) -> list[pa.Array]:
        pairs = zip(columns, self.monoids, strict=True)
        return [combine_ranges(column, monoid, lo, hi) for column, monoid in pairs]


def _shift_starts(lo: Ints, first: Ints, group: Ints, shift: Ints) -> Ints:
    """The starts of runs in columns into which the partials of open frames are inserted."""
    carried = first + shift[group] + np.where(lo == CARRIED_RUN, 1, 0)
    starts: Ints = np.where(lo >= 0, lo + shift[group + 1], carried)
    return starts
