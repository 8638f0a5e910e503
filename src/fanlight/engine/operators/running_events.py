"""The operator of snapshot windows in a stream: each time in which the same events are running.

A slice is an event, ``[place, stop)`` with its partial, as long as it matters from ``done`` on: the
last start or stop of its key that the watermark has passed. Windows up to there have been released.
Where equal windows are merged, the last of them is held until another one follows, or none can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.operators.arrow_tables import (
    Ints,
    as_array,
    codes_of_rows,
    filter_rows,
    flags,
    ints,
    starts_of_runs,
    with_column,
)
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.partials import combine_covering
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE

_HELD = (("there", pa.bool_()), ("start", pa.int64()), ("upto", pa.int64()))


@dataclass(frozen=True)
class RunningQuery(KeyedQuery):
    """The fixed setup: a row has keys, ``t``, ``first_at``, ``last_at``, partials.

    It is late after ``t``, and of an event from its first to its last instant, both included.

    ``merges`` says whether windows that follow one another with the same partials become one.
    """

    merges: bool
    eager: ClassVar[bool] = True

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """What is kept of an event besides its key and its start."""
        return [("stop", pa.int64()), *super().slice_columns]

    def start(self) -> RunningOperator:
        """An operator without state."""
        return RunningOperator(self)


class RunningOperator(KeyedOperator[RunningQuery]):
    """The running state of some keys; each has ``done``, and the window that is held, if any."""

    def __init__(self, query: RunningQuery) -> None:
        super().__init__(query)
        fields = [query.schema.field(name) for name in query.key_names]
        kept = [("done", pa.int64()), *_HELD]
        kept += zip(query.partial_names, query.partial_types, strict=True)
        self.keys = pa.schema([*fields, *(pa.field(*one) for one in kept)]).empty_table()

    def new_key_columns(self, count: int) -> list[pa.Array]:
        """Nothing is done of a new key, and no window of it is held."""
        zeros = pa.array(np.zeros(count, np.int64))
        nulls = [pa.nulls(count, kind) for kind in self.query.partial_types]
        done = pa.array(np.full(count, BEGINNING))
        return [done, pa.array(np.zeros(count, np.bool_)), zeros, zeros, *nulls]

    @property
    def deadlines(self) -> Ints:
        """For each key, its next start or stop; for a window that is held, when none can follow."""
        done, there = ints(self.keys["done"]), flags(self.keys["there"])
        deadlines = np.where(there, done + 1, COMPLETE)
        code = ints(self.slices["code"])
        deadlines[np.unique(code)] = COMPLETE
        for name in ("place", "stop"):
            at = ints(self.slices[name])
            ahead = at > done[code]
            np.minimum.at(deadlines, code[ahead], at[ahead])
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take events; return the windows that end by the watermark: keys, start, end, partials.

        No event may start before a watermark that has been taken.
        """
        if rows.num_rows:
            stops = ints(rows["last_at"]) + 1
            fresh = self.to_slices(rows, self.codes_of(rows), ints(rows["first_at"]), stops)
            self.slices = pa.concat_tables([self.slices, fresh]).combine_chunks()
        self.released = max(self.released, watermark)
        windows = self._release()
        if self.query.merges:
            windows = self._merge(windows)
        bounds = {name: windows[name] for name in ("start", "upto")}
        partials = [windows[name] for name in self.query.partial_names]
        found = self.window_table(as_array(windows["code"]), bounds, partials)
        alive = flags(self.keys["there"]).copy()
        alive[ints(self.slices["code"])] = True
        self.keep_keys(alive)
        return found

    def _release(self) -> pa.Table:
        """The windows that end by the watermark and have not been given, by key and start."""
        code, size = ints(self.slices["code"]), self.slices.num_rows
        done = ints(self.keys["done"])
        # All edges that the watermark has passed, by key and time, each once.
        at = np.concatenate([ints(self.slices["place"]), ints(self.slices["stop"])])
        of = np.tile(code, 2)
        at = np.maximum(at, done[of])
        passed = np.flatnonzero(at <= self.released)
        order = passed[np.lexsort((at[passed], of[passed]))]
        begins = starts_of_runs(of[order], at[order])
        edges, owner = at[order][begins], of[order][begins]
        number = np.full(2 * size, -1)
        number[order] = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(order))))
        last = np.full(len(done), -1)
        last[owner] = np.arange(len(owner))
        # An event is in the windows from its start to its stop, or to the last edge so far.
        low, high = number[:size], number[size:]
        high = np.where(high < 0, last[code], high)
        there = (low >= 0) & (low < high)
        columns = [as_array(self.slices[name]) for name in self.query.partial_names]
        if not there.all():
            columns = [column.filter(pa.array(there)) for column in columns]
        windows, partials = combine_covering(columns, self.query.monoids, low[there], high[there])
        done = done.copy()
        done[owner] = edges  # the last one stays
        self.set_counter("done", done)
        self.slices = filter_rows(self.slices, ints(self.slices["stop"]) > done[code])
        found = [pa.array(part) for part in (owner[windows], edges[windows], edges[windows + 1])]
        return pa.table([*found, *partials], ["code", "start", "upto", *self.query.partial_names])

    def _merge(self, windows: pa.Table) -> pa.Table:
        """Join windows that follow each other with the same partials; the last window is held."""
        names, held = windows.column_names, np.flatnonzero(flags(self.keys["there"]))
        before = self.keys.select(names[1:]).take(pa.array(held))
        before = before.add_column(0, "code", pa.array(held))
        windows = pa.concat_tables([before, windows.cast(before.schema)]).combine_chunks()
        if not windows.num_rows:
            return windows
        order = np.lexsort((ints(windows["start"]), ints(windows["code"])))
        windows = windows.take(pa.array(order)).combine_chunks()
        code, upto = ints(windows["code"]), ints(windows["upto"])
        values, _ = codes_of_rows([as_array(column) for column in windows.columns[3:]])
        goes_on = (code[1:] == code[:-1]) & (ints(windows["start"])[1:] == upto[:-1])
        goes_on &= values[1:] == values[:-1]
        begins = np.flatnonzero(np.append(True, ~goes_on))
        ends = np.append(begins[1:], len(code)) - 1
        merged = windows.take(pa.array(begins))
        merged = merged.set_column(2, "upto", pa.array(upto[ends])).combine_chunks()
        stays = self._may_go_on(code[ends], upto[ends])
        self._hold(filter_rows(merged, stays))
        return filter_rows(merged, ~stays)

    def _may_go_on(self, code: Ints, upto: Ints) -> NDArray[np.bool_]:
        """Which of the windows, by key and start, another may follow that is equal."""
        done, running = ints(self.keys["done"]), np.zeros(self.keys.num_rows, np.bool_)
        of = ints(self.slices["code"])
        running[of[ints(self.slices["place"]) <= done[of]]] = True
        over = (upto < done[code]) | ~running[code]
        last = np.append(code[1:] != code[:-1], True)
        return last & ~(over & (self.released > upto))

    def _hold(self, windows: pa.Table) -> None:
        """Keep these windows, at most one of a key, with their keys; and no others."""
        size, code = self.keys.num_rows, ints(windows["code"])
        place = np.full(size, -1)
        place[code] = np.arange(len(code))
        at = pa.array(place, mask=place < 0)
        self.keys = with_column(self.keys, "there", pa.array(place >= 0))
        for name in windows.column_names[1:]:
            held = as_array(windows[name]).take(at)
            held = held.fill_null(0) if name in ("start", "upto") else held
            self.keys = with_column(self.keys, name, held)
