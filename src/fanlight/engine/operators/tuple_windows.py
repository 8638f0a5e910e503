"""Windows over the sorted rows of each key: counted in rows, or ending at every row.

Rows that the watermark has passed are sorted, numbered and cut into slices. The state has the
slices that a later window may need; if every row ends a window, a slice is an instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, ints
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.plan.cut import Cut


@dataclass(frozen=True)
class TupleQuery(KeyedQuery):
    """The fixed setup of the operator."""

    cut: Cut | None  # over row numbers; None: a window ends at every row
    range: int  # RANGE, in coordinates, if every row ends a window

    def start(self) -> TupleWindows:
        """An operator without state."""
        return TupleWindows(self)

    def resume(self, snapshot: Snapshot) -> TupleWindows:
        """The operator as it was at a snapshot."""
        return TupleWindows.restore(self, snapshot)


class TupleWindows(KeyedOperator[TupleQuery]):
    """The running state of some keys."""

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows up to the watermark; return completed windows: keys, ``start``, partials."""
        self.released = max(self.released, watermark)
        cut, windows = self.query.cut, []
        if rows.num_rows:
            rows, codes, numbers = self.number_rows(rows)
            windows.append(
                self._windows_ending_at_rows(rows, codes)
                if cut is None
                else self._windows_of_rows(cut, rows, codes, numbers)
            )
        over = self.complete_lives
        if over.any():
            if cut is not None:
                windows.append(self._unfinished_windows(cut, np.flatnonzero(over)))
            self.keep_keys(~over)
        return pa.concat_tables(windows) if windows else None

    def _windows_ending_at_rows(self, rows: pa.Table, codes: Ints) -> pa.Table:
        """Windows that end at each instant with a row."""
        places, length = ints(rows["t"]), self.query.range
        self.add_slices(self.to_slices(rows, codes, places))
        ends = np.unique(np.stack([codes, places], axis=1), axis=0)
        owner, last = ends[:, 0], ends[:, 1]
        first = last - length + 1
        windows = self.make_windows(owner, first, last, {"start": first})
        stay = ints(self.slices["place"]) > self.released - length
        self.slices = self.slices.filter(pa.array(stay))
        self.forget_keys()
        return windows

    def _windows_of_rows(self, cut: Cut, rows: pa.Table, codes: Ints, numbers: Ints) -> pa.Table:
        """Cut rows into slices; return the windows that are complete now."""
        grid = cut.grid
        slices = self.to_slices(rows, codes, cut.slice_of(numbers))
        self.add_slices(
            slices.filter(pa.array(grid.has_window(numbers))) if grid.has_gaps else slices
        )
        touched, first_row = np.unique(codes, return_index=True)
        now = self.counts
        before = grid.last_ended_window(numbers[first_row])
        ended = grid.last_ended_window(now[touched])
        windows = self._windows_between(cut, touched, before, ended)
        done = grid.last_ended_window(now)
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        self.slices = self.slices.filter(pa.array(place >= (done[code] + 1) * cut.step))
        return windows

    def _unfinished_windows(self, cut: Cut, codes: Ints) -> pa.Table:
        """The windows of some keys that wait for rows."""
        rows = self.counts[codes]
        ended = cut.grid.last_ended_window(rows)
        last = np.maximum(cut.grid.last_window(rows - 1), ended)
        return self._windows_between(cut, codes, ended, last)

    def _windows_between(self, cut: Cut, codes: Ints, before: Ints, last: Ints) -> pa.Table:
        """The windows of some keys whose numbers are in (before, last], both by key."""
        count = last - before
        owner = np.repeat(codes, count)
        offsets = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        number = np.repeat(before, count) + 1 + offsets
        first, labels = number * cut.step, {"start": cut.grid.window_start(number)}
        return self.make_windows(owner, first, first + cut.span - 1, labels)
