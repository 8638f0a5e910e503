"""Double-boundary frames: two frames may overlap, in the last run of rows of one value cell.

So the state has two partials for each field of an open frame: of the rows before its current run,
and of that run, with which the next frame may begin.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels.pieces import (
    CARRIED_FRAME,
    CARRIED_RUN,
    double_pieces,
    dwell_pieces,
    sized_double_pieces,
    sized_dwell_pieces,
)
from fanlight.engine.kernels.sizes import Sizes
from fanlight.engine.operators.frames.assembly import Assembly, FrameNumbers, Frames
from fanlight.engine.operators.frames.marks import Cells, Dwell, state_of_slots
from fanlight.engine.operators.partials import combine_pairs, combine_ranges

Array = NDArray[Any]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class OverlappingAssembly(Assembly):
    """An assembly whose frames may share rows."""

    counters: tuple[str, ...] = (*Assembly.counters, "run_start", "run_rows")
    marker: Cells | Dwell
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
            msg = "rows of these frames have no one number"
            raise AssertionError(msg)
        before = state_of_slots(self.state, slots)
        opened = before["opened"].copy()
        sizes = self._open_sizes(t, inputs, slots)
        lo, hi, group, ends, run = self._find_stretches(t, inputs, starts, slots, before, sizes)
        for name, values in before.items():
            self.state[name][slots] = values
        slot, first = slots[group], starts[group]
        start, rows = self._starts_and_counts(lo, hi, t, slot, first)
        some = hi > first
        last = self.last[slot]
        last[some] = t[hi[some] - 1]
        end = last + 1
        end[ends] = np.where(hi[ends] == CARRIED_RUN, self.run_start[slot[ends]], t[hi[ends]])
        if sizes is not None:
            deadline = self.deadline[slot]
            deadline[some] = sizes.after[hi[some] - 1]
            end[ends] = np.minimum(end[ends], deadline[ends])
        reported = ends & self._is_large_enough(rows, end - start)
        number = self._number_frames(slot, group, reported)
        columns, shift = self._insert_carried_pairs(partials, starts, slots, opened)
        low, high = (_shift_starts(place, first, group, shift) for place in (lo, hi))
        closed = Frames(
            slot[reported], number[reported], start[reported], end[reported], rows[reported],
            self._combine_ranges(columns, low[reported], high[reported]),
        )  # fmt: skip
        left = ~ends
        at = slot[left]
        run_begins = _shift_starts(run[left], first[left], group[left], shift)
        run_start, run_rows = self._starts_and_counts(run[left], hi[left], t, at, first[left])
        self.start[at], self.last[at], self.rows[at] = start[left], last[left], rows[left]
        self.run_start[at], self.run_rows[at] = run_start, run_rows
        if sizes is not None:
            self.deadline[at] = sizes.deadline[group[left]]
        before_run = self._combine_ranges(columns, low[left], run_begins)
        self._store_partials(
            slots, at, [*before_run, *self._combine_ranges(columns, run_begins, high[left])]
        )
        return closed, None

    def _find_stretches(
        self,
        t: Ints,
        inputs: list[pa.Array],
        starts: Ints,
        slots: Ints,
        state: dict[str, Array],
        sizes: Sizes | None,
    ) -> tuple[Ints, Ints, Ints, Bools, Ints]:
        """See :func:`fanlight.engine.kernels.pieces.double_pieces`; the state is updated."""
        del t
        (cells,) = self.marker.cells_of_rows(inputs)
        find = double_pieces if sizes is None else sized_double_pieces
        return find(
            cells, starts, state["opened"], state["last"].reshape(-1), state["partner"],
            self.run_start[slots], self.run_rows[slots], sizes,
        )  # fmt: skip

    def _partials_of(self, at: Ints) -> list[pa.Array]:
        """The partials of the open frames of some slots, whose runs are in them."""
        which = pa.array(at)
        before_run, run = ([part.take(which) for part in parts] for parts in self._split_parts())
        return combine_pairs(before_run, run, self.monoids)

    def _split_parts(self) -> tuple[list[pa.Array], list[pa.Array]]:
        fields = len(self.monoids)
        return self.parts[:fields], self.parts[fields:]

    def _starts_and_counts(
        self, lo: Ints, hi: Ints, t: Ints, slot: Ints, first: Ints
    ) -> tuple[Ints, Ints]:
        """Start time and number of rows of runs, including rows of earlier batches."""
        here = lo >= 0
        start = np.where(lo == CARRIED_FRAME, self.start[slot], self.run_start[slot])
        some = here & (lo < len(t))  # a run may have no row yet
        start[some] = t[lo[some]]
        carried = np.where(lo == CARRIED_FRAME, self.rows[slot], self.run_rows[slot])
        more = np.where(hi == CARRIED_RUN, -self.run_rows[slot], hi - first)
        rows: Ints = np.where(here, hi - lo, carried + more)
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


class DwellAssembly(OverlappingAssembly):
    """An assembly whose frames begin, or end, with a run of rows that has to last."""

    marker: Dwell

    def _find_stretches(
        self,
        t: Ints,
        inputs: list[pa.Array],
        starts: Ints,
        slots: Ints,
        state: dict[str, Array],
        sizes: Sizes | None,
    ) -> tuple[Ints, Ints, Ints, Bools, Ints]:
        """See :func:`fanlight.engine.kernels.pieces.dwell_pieces`; the state is updated."""
        (said,) = self.marker.cells_of_rows(inputs)
        enter_for, leave_for = (int(length) for length in self.scheme.numbers)
        find = dwell_pieces if sizes is None else sized_dwell_pieces
        return find(
            said, t, starts, enter_for, leave_for, state["opened"], state["inside"], state["run"],
            self.run_start[slots], sizes,
        )  # fmt: skip

    def _has_frame(self) -> Bools:
        """A run that has not lasted long enough is not a frame."""
        has: Bools = self.opened & self.state["inside"]
        return has


def _shift_starts(lo: Ints, first: Ints, group: Ints, shift: Ints) -> Ints:
    """The starts of runs in columns into which the partials of open frames are inserted."""
    carried = first + shift[group] + np.where(lo == CARRIED_RUN, 1, 0)
    starts: Ints = np.where(lo >= 0, lo + shift[group + 1], carried)
    return starts
