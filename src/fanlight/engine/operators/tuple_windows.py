"""Windows over the sorted rows of each key: counted in rows, or placed by rows and time together.

Rows that the watermark has passed are sorted, numbered and cut into slices. The state has the
slices that a later window may need. Where rows end windows of time, a slice is an instant; where a
window is the last rows before an instant, it is a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, ints, numbers_between
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.plan.granules import Cut, EveryRows, LastRows, RowEnds, counts_rows
from fanlight.engine.plan.grid import Grid


@dataclass(frozen=True)
class TupleQuery(KeyedQuery):
    """The fixed setup of the operator."""

    by: Cut | RowEnds  # how row numbers are cut, or which rows end a window
    grid: Grid

    @property
    def counters(self) -> dict[str, int]:
        """Where windows are the last rows: up to when a window waits for later rows."""
        waits = {"until": COMPLETE} if isinstance(self.by, LastRows) else {}
        return super().counters | waits

    def start(self) -> TupleWindows:
        """An operator without state."""
        return TupleWindows(self)


class TupleWindows(KeyedOperator[TupleQuery]):
    """The running state of some keys."""

    @property
    def deadlines(self) -> Ints:
        """When each key has a window whose SLIDE has ended, or is forgotten."""
        deadlines = super().deadlines
        if isinstance(self.query.by, LastRows):
            deadlines = np.minimum(deadlines, ints(self.keys["until"]))
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows up to the watermark; return completed windows: keys, ``start``, partials."""
        self.released = max(self.released, watermark)
        by, windows = self.query.by, []
        if isinstance(by, LastRows):
            windows.append(self._last_rows(by.count, rows))
        elif rows.num_rows:
            rows, codes, numbers = self.number_rows(rows)
            windows.append(
                self._windows_ending_at_rows(by, rows, codes, numbers)
                if isinstance(by, EveryRows)
                else self._windows_of_rows(by, rows, codes, numbers)
            )
        over = self.complete_lives
        if over.any():
            if isinstance(by, Cut):
                windows.append(self._unfinished_windows(by, np.flatnonzero(over)))
            self.keep_keys(~over)
        return pa.concat_tables(windows) if windows else None

    def _windows_ending_at_rows(
        self, by: EveryRows, rows: pa.Table, codes: Ints, numbers: Ints
    ) -> pa.Table:
        """Windows that end at each instant with a row that ends one."""
        places, length = ints(rows["t"]), self.query.grid.range
        self.add_slices(self.to_slices(rows, codes, places))
        ending = (numbers + 1 - by.shift) % by.every == 0
        ends = np.unique(np.stack([codes, places], axis=1)[ending], axis=0)
        owner, last = ends[:, 0], ends[:, 1]
        first = last - length + 1
        windows = self.make_windows(owner, first, last, {"start": first})
        stay = ints(self.slices["place"]) > self.released - length
        self.slices = self.slices.filter(pa.array(stay))
        if not counts_rows(by):
            self.forget_keys()
        return windows

    def _last_rows(self, count: int, rows: pa.Table) -> pa.Table:
        """The last rows of each key at the end of each SLIDE in which it has a row.

        The last row of a key waits until its SLIDE has ended, as a later one may come.
        """
        grid, held = self.query.grid, np.flatnonzero(ints(self.keys["until"]) < COMPLETE)
        code, number, until = held, self.counts[held] - 1, ints(self.keys["until"])[held]
        if rows.num_rows:
            rows, codes, numbers = self.number_rows(rows)
            self.add_slices(self.to_slices(rows, codes, numbers))
            ends = grid.window_end(grid.last_window(ints(rows["t"]))) - 1
            pairs = ((code, codes), (number, numbers), (until, ends))
            code, number, until = map(np.concatenate, pairs)
            order = np.lexsort((number, code))
            code, number, until = code[order], number[order], until[order]
        last = np.append((code[1:] != code[:-1]) | (until[1:] != until[:-1]), True)[: len(code)]
        code, number, until = code[last], number[last], until[last]
        ended = until <= self.released
        waiting = np.full(len(self.keys), COMPLETE)
        waiting[code[~ended]] = until[~ended]
        self.set_counter("until", waiting)
        number, start = number[ended], grid.window_start(grid.last_window(until[ended]))
        windows = self.make_windows(code[ended], number - count + 1, number, {"start": start})
        owner, place = ints(self.slices["code"]), ints(self.slices["place"])
        self.slices = self.slices.filter(pa.array(place >= self.counts[owner] - count))
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
        owner, number = numbers_between(codes, before + 1, last)
        first, labels = number * cut.step, {"start": cut.grid.window_start(number)}
        return self.make_windows(owner, first, first + cut.span - 1, labels)
