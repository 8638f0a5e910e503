"""Windows without rows in a stream: they follow each window that has some, as time goes on.

Windows that have rows come once, when the watermark has passed their end, all those of a key in
order of time. The state has, of each key and query, the last of them, and which have been given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import (
    Ints,
    as_array,
    ints,
    numbers_between,
    with_column,
)
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.plan.grid import Grid
from fanlight.types import Filling


@dataclass(frozen=True)
class EmptyWindowsQuery(KeyedQuery):
    """The fixed setup: a row is a window, and has keys, ``t``, ``query``, ``start`` and results.

    At most ``most`` windows without rows follow one with rows. They have nulls, the results of that
    window, or in the columns that ``numbers`` names 0, or what lies between it and the next one:
    these wait for that one.
    """

    grids: tuple[Grid, ...]
    rule: Filling
    most: int
    numbers: tuple[bool, ...]
    eager: ClassVar[bool] = True

    @property
    def has_no_late_rows(self) -> bool:
        """True: Spark made the windows of rows that were not late."""
        return True

    @property
    def results(self) -> list[str]:
        """The columns of the results."""
        return list(self.schema.names[self.keys + 3 :])

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """The number of the window, that of the last one given after it, and its results."""
        kept = [(name, self.schema.field(name).type) for name in self.results]
        numbers = [("window", pa.int64()), ("given", pa.int64())]
        return [*numbers, *(kept if self.rule in ("last", "linear") else [])]

    def start(self) -> EmptyWindows:
        """An operator without state."""
        return EmptyWindows(self)


class EmptyWindows(KeyedOperator[EmptyWindowsQuery]):
    """The last window of each key and query; the place of a slice is its query."""

    @property
    def deadlines(self) -> Ints:
        """For each key, when the next window without rows ends."""
        deadlines = np.full(len(self.keys), COMPLETE)
        query, following = ints(self.slices["place"]), ints(self.slices["given"]) + 1
        if self.query.rule == "linear":
            following = self._last_to_follow(query, ints(self.slices["window"])) + 1
        ends = _by_query(query, [grid.window_end(following) for grid in self.query.grids])
        np.minimum.at(deadlines, ints(self.slices["code"]), self.query.clock.instant(ends))
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table:
        """Take windows that have rows; return them and those that have none and have ended."""
        self.released = max(self.released, watermark)
        last = self._last_windows(rows)
        code, query, window = (ints(last[name]) for name in ("code", "place", "window"))
        given, upto = ints(last["given"]), self._last_to_follow(query, window)
        followed = (code[1:] == code[:-1]) & (query[1:] == query[:-1])
        ended = np.array([grid.last_ended_window(self.now) for grid in self.query.grids])
        until = np.minimum(upto, ended[query])
        until[:-1] = np.where(followed, np.minimum(upto[:-1], window[1:] - 1), until[:-1])
        count = np.maximum(until - given, 0)
        if self.query.rule == "linear":
            # A window that comes right after the last of these says what lies between.
            late = np.append(followed, [False] * bool(len(count))) | (ended[query] > upto)
            count[~late] = 0
        found = self._windows_after(last, count)
        waits = np.append(~followed, True)[: len(code)] & (given + count < upto)
        last = with_column(last, "given", pa.array(given + count))
        self.slices = last.filter(pa.array(waits)).combine_chunks()
        self.forget_keys()
        own = rows.select(found.column_names).cast(found.schema)
        return pa.concat_tables([own, found])

    def _last_to_follow(self, query: Ints, window: Ints) -> Ints:
        """The last window without rows that follows each window."""
        upto = window + self.query.most
        for number, grid in enumerate(self.query.grids):
            for gone in map(grid.window_at, grid.missing):
                upto += (query == number) & (window < gone) & (gone <= upto)
        return upto

    def _last_windows(self, rows: pa.Table) -> pa.Table:
        """The windows that were the last, and those that have come, in order of time by key."""
        codes, query = self.codes_of(rows), ints(rows["query"])
        start = ints(rows["start"])
        window = _by_query(query, [grid.window_at(start) for grid in self.query.grids])
        columns = [pa.array(one) for one in (codes, query, window, window)]
        kept = [name for name, _ in self.query.slice_columns[2:]]
        columns += [as_array(rows[name]) for name in kept]
        come = pa.table(columns, names=["code", "place", "window", "given", *kept])
        both = pa.concat_tables([self.slices, come.cast(self.slices.schema)]).combine_chunks()
        parts = [ints(both[name]) for name in ("window", "place", "code")]
        return both.take(pa.array(np.lexsort(parts))).combine_chunks()

    def _windows_after(self, last: pa.Table, count: Ints) -> pa.Table:
        """So many windows without rows after each of those that were given last."""
        given = ints(last["given"])
        of, window = numbers_between(np.arange(len(count)), given + 1, given + count)
        query = ints(last["place"])[of]
        start = _by_query(query, [grid.window_start(window) for grid in self.query.grids])
        found = self._results_after(last, of, window)
        labels = {
            "query": query,
            "start": start,
            **dict(zip(self.query.results, found, strict=True)),
        }
        return self.window_table(ints(last["code"])[of], labels, ())

    def _results_after(self, last: pa.Table, of: Ints, window: Ints) -> list[pa.Array]:
        """What these windows without rows have, which follow ``last`` at the places ``of``."""
        if self.query.rule == "last":
            return [as_array(last[name]).take(pa.array(of)) for name in self.query.results]
        found = []
        for name, number in zip(self.query.results, self.query.numbers, strict=True):
            if number and self.query.rule == "linear":
                found.append(self._between(last, name, of, window))
            else:
                zero = number and self.query.rule == "zero"
                found.append(_fill(self.query.schema.field(name).type, len(of), zero=zero))
        return found

    def _between(self, last: pa.Table, name: str, of: Ints, window: Ints) -> pa.Array:
        """Numbers between those of a window and of the next one, which is near; else nulls."""
        code, query, begun = (ints(last[one]) for one in ("code", "place", "window"))
        after = np.minimum(of + 1, len(code) - 1)
        near = (after > of) & (code[after] == code[of]) & (query[after] == query[of])
        near &= begun[after] - 1 <= self._last_to_follow(query, begun)[of]
        values = as_array(last[name])
        known = values.is_valid().to_numpy(zero_copy_only=False)
        near &= known[of] & known[after]
        numbers = values.fill_null(0.0).to_numpy()
        with np.errstate(all="ignore"):
            way = (window - begun[of]) / np.where(near, begun[after] - begun[of], 1)
            found = numbers[of] + (numbers[after] - numbers[of]) * way
        return pa.array(found, mask=~near)


def _by_query(query: Ints, values: Sequence[Ints]) -> Ints:
    """Pick, for each element, the value of its query."""
    chosen: Ints = np.stack(values)[query, np.arange(len(query))]
    return chosen


def _fill(kind: pa.DataType, count: int, *, zero: bool) -> pa.Array:
    """A column of zeros or of nulls."""
    if not zero:
        return pa.nulls(count, kind)
    value: Any = Decimal(0) if pa.types.is_decimal(kind) else 0
    return pa.repeat(pa.scalar(value, kind), count)
