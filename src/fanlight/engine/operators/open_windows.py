"""Windows that time places, given while they are open: each again when it has changed.

Rows come at once, each a partial of one row, in a piece of time; the state has the pieces of the
windows that are open. A row's ``t`` is the end of the first window that it is in: from then on it
is late. ``dirty`` is one of the partials, of the pieces that have changed since they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Max
from fanlight.engine.operators.arrow_tables import (
    Ints,
    filter_rows,
    ints,
    numbers_between,
    with_column,
)
from fanlight.engine.operators.clock import is_report, next_report
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.plan.grid import Grid

DIRTY = Max()


@dataclass(frozen=True)
class OpenQuery(KeyedQuery):
    """The fixed setup: a row has keys, ``t``, ``piece``, partials, and ``dirty``, which is 1.

    Windows that have changed are given once the watermark has passed a multiple of ``every``, or
    with each micro-batch if it is 0.
    """

    grids: tuple[Grid, ...]  # one for each level or query; column ``query`` has its index
    every: int = 0
    eager: ClassVar[bool] = True

    def start(self) -> OpenWindows:
        """An operator without state."""
        return OpenWindows(self)


class OpenWindows(KeyedOperator[OpenQuery]):
    """The running state of some keys."""

    @property
    def deadlines(self) -> Ints:
        """For each key, the end of the next window with a piece of it, or the next report."""
        deadlines = super().deadlines
        self.end_with_windows(deadlines, self.query.grids)
        if self.query.every and BEGINNING < self.released < COMPLETE:
            changed = ints(self.slices["code"])[ints(self.slices["dirty"]) > 0]
            np.minimum.at(deadlines, changed, next_report(self.query.every, self.released))
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return windows that changed or are complete, with ``query`` and ``final``."""
        before = self.released
        self.released = max(before, watermark)
        if rows.num_rows:
            codes = self.codes_of(rows)
            self.add_slices(self.to_slices(rows, codes, ints(rows["piece"])))
        report = is_report(self.query.every, before, self.released)
        found = [
            self._windows_of(number, grid, before, report=report)
            for number, grid in enumerate(self.query.grids)
        ]
        if report and self.slices.num_rows:
            clean = pa.array(np.zeros(self.slices.num_rows, np.int64))
            self.slices = with_column(self.slices, "dirty", clean)
        self._drop_pieces()
        return pa.concat_tables(found)

    def _windows_of(self, number: int, grid: Grid, before: int, *, report: bool) -> pa.Table:
        """The windows of one query that have been completed, or are open and have changed."""
        code, place = ints(self.slices["code"]), ints(self.slices["place"])
        now = self.now
        asked = [grid.first_window(np.maximum(place, np.int64(self.query.clock.number(before))))]
        ends = [np.minimum(grid.last_window(place), np.int64(grid.last_ended_window(now)))]
        of = [code]
        if report:
            dirty = ints(self.slices["dirty"]) > 0
            asked.append(grid.first_window(np.maximum(place[dirty], np.int64(now))))
            ends.append(grid.last_window(place[dirty]))
            of.append(code[dirty])
        parts = (np.concatenate(part) for part in (of, asked, ends))
        owner, window = each_once(*parts)
        start, end = grid.window_start(window), grid.window_end(window)
        labels = {
            "query": np.full(len(owner), number),
            "start": start,
            "final": (end <= now).astype(np.int64),
        }
        return self.make_windows(owner, grid.first_place(window), end - 1, labels)

    def _drop_pieces(self) -> None:
        """Drop the pieces that are in no open window."""
        stay = np.zeros(self.slices.num_rows, np.bool_)
        for grid in self.query.grids:
            stay |= self.windows_ahead(grid)[1]
        self.slices = filter_rows(self.slices, stay).combine_chunks()
        self.forget_keys()


def each_once(code: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The windows from ``first`` to ``last`` of keys, each once, by key and number.

    >>> code, first, last = np.array([1, 0, 1, 1]), np.array([5, 1, 7, 4]), np.array([7, 2, 8, 3])
    >>> [part.tolist() for part in each_once(code, first, last)]
    [[0, 0, 1, 1, 1, 1], [1, 2, 5, 6, 7, 8]]
    """
    some = first <= last
    code, at = np.tile(code[some], 2), np.append(first[some], last[some] + 1)
    more = np.repeat([1, -1], int(some.sum()))
    order = np.lexsort((-more, at, code))
    code, at = code[order], at[order]
    ends = np.flatnonzero(np.cumsum(more[order]) == 0)
    begins = np.append(0, ends + 1)[:-1]
    return numbers_between(code[begins], at[begins], at[ends] - 1)
