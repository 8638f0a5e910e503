"""Windows that time places, given early: while they are open, or while their events last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fanlight.engine.algebra.monoids import Max
from fanlight.engine.operators.arrow_tables import (
    Ints,
    as_array,
    filter_rows,
    flags,
    ints,
    numbers_between,
    starts_of_runs,
    with_column,
)
from fanlight.engine.operators.clock import is_report, next_report
from fanlight.engine.operators.keyed_operator import KeyedOperator, KeyedQuery
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.plan.grid import Grid, longest_slide

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


RUNNING = 2**61  # the last coordinate of an event whose stop is not known


@dataclass(frozen=True)
class UnendedQuery(KeyedQuery):
    """The fixed setup: a row has keys, ``t``, ``known``, ``place``, ``last``, ``id``, partials.

    ``known`` is when its first window ends, ``place`` and ``last`` its first and last coordinate;
    of an event that is running ``last`` is ``RUNNING``. Rows of the same ``id`` are of one event.
    ``early`` gives open windows, too, in reports as of :class:`~.open_windows.OpenQuery`.
    """

    grids: tuple[Grid, ...]  # one for each level or query; column ``query`` has its index
    early: bool = False
    every: int = 0
    longest: int | None = None  # how long an event is running at most, in coordinates
    eager: ClassVar[bool] = True

    @property
    def slice_columns(self) -> list[tuple[str, pa.DataType]]:
        """What is kept of an event: ``given`` is up to where it has been given, early."""
        own = [(name, self.schema.field(name).type) for name in ("last", "id")]
        return [*super().slice_columns, *own, ("given", pa.int64()), ("dirty", pa.bool_())]

    def start(self) -> UnendedEvents:
        """An operator without state."""
        return UnendedEvents(self)


class UnendedEvents(KeyedOperator[UnendedQuery]):
    """The running state of some keys."""

    late = 0  # rows that came too late, of those taken last

    @property
    def deadlines(self) -> Ints:
        """For each key, the end of its next window, or the beginning of one that is given early."""
        deadlines, query = super().deadlines, self.query
        code, (first, last) = ints(self.slices["code"]), self._ahead
        running = last > self._certain_last(self._reached)
        between = ~running  # what is over before the next window begins
        for grid in query.grids:
            window = grid.first_window(first)
            some = window <= grid.last_window(last)
            between &= ~some
            ends = query.clock.instant(grid.window_end(window[some]))
            np.minimum.at(deadlines, code[some], ends)
            if query.early and not query.every:
                begun = grid.window_start(grid.last_window(self._reached) + 1)
                starts = query.clock.instant(np.full(int(running.sum()), begun))
                np.minimum.at(deadlines, code[running], starts + 1)
        over = query.clock.instant(last[between] + 1)
        np.minimum.at(deadlines, code[between], over)
        if query.early and query.every and BEGINNING < self.released < COMPLETE:
            changed = code[running | flags(self.slices["dirty"])]
            np.minimum.at(deadlines, changed, next_report(query.every, self.released))
        return deadlines

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return the windows that are complete and, early, those that have changed."""
        before = self.released
        self.late = 0
        if rows.num_rows:
            self._learn(rows, before)
        self.released = max(before, watermark)
        report = self.query.early and is_report(self.query.every, before, self.released)
        found = [
            self._windows_of(number, grid, before, report=report)
            for number, grid in enumerate(self.query.grids)
        ]
        if report:
            last = self._certain_last(self._reached)
            given = pa.array(np.maximum(last, ints(self.slices["given"])))
            self.slices = with_column(self.slices, "given", given)
            self.slices = with_column(self.slices, "dirty", pa.array(np.zeros(len(last), np.bool_)))
        self._drop_events()
        return pa.concat_tables(found)

    def _learn(self, rows: pa.Table, before: int) -> None:
        """Update known events with what new rows say about them."""
        codes = self.codes_of(rows)
        fresh = self.to_slices(rows, codes, ints(rows["place"]))
        events = pa.concat_tables([self.slices, fresh]).combine_chunks()
        size, old = events.num_rows, self.slices.num_rows
        code, last = ints(events["code"]), ints(events["last"])
        name = pc.dictionary_encode(as_array(events["id"]))
        same = np.where(
            np.asarray(name.indices.is_valid()),
            np.asarray(name.indices.fill_null(0)).astype(np.int64),
            len(name.dictionary) + np.arange(size),  # null is no event in particular
        )
        # The latest of an event is last: a stop before none, then the later stop, the later start.
        stop = np.where(last == RUNNING, np.int64(BEGINNING), last)
        order = np.lexsort((np.arange(size), ints(events["place"]), stop, same, code))
        runs = starts_of_runs(code[order], same[order])
        newest = order[np.append(runs[1:], size) - 1]
        late = np.zeros(size, np.bool_)
        late[old:] = ints(rows["known"]) <= before
        # A late row of an event says what is newer of it, if the event is known without it.
        stays = np.logical_or.reduceat(~late[order], runs)
        self.late = int((late[order] & ~np.repeat(stays, np.diff(np.append(runs, size)))).sum())
        kept = newest[stays]
        replaced = np.setdiff1d(np.arange(old), kept)
        self.slices = self._with_traces(events, np.sort(kept), replaced)

    def _with_traces(self, events: pa.Table, kept: Ints, replaced: Ints) -> pa.Table:
        """These events, plus a tombstone for each early event that a later row replaced.

        Of a trace only its place is left: its windows are given again, perhaps without any event.
        """
        found = events.take(pa.array(kept))
        given = ints(events["given"])[replaced]
        was = replaced[given > BEGINNING] if self.query.early else replaced[:0]
        if len(was):
            traces = events.take(pa.array(was))
            empty = [pa.nulls(len(was), kind) for _, kind in self.query.slice_columns]
            names = [name for name, _ in self.query.slice_columns]
            columns = dict(zip(names, empty, strict=True))
            columns |= {
                "code": traces["code"], "place": traces["place"],
                "last": pa.array(ints(events["given"])[was]),
                "given": pa.array(ints(events["given"])[was]),
                "dirty": pa.array(np.ones(len(was), np.bool_)),
            }  # fmt: skip
            trace = pa.table([columns[name] for name in events.column_names], schema=events.schema)
            found = pa.concat_tables([found, trace])
        order = np.argsort(ints(found["code"]), kind="stable")
        return found.take(pa.array(order)).combine_chunks()

    def to_slices(self, rows: pa.Table, codes: Ints, *places: Ints) -> pa.Table:
        """Rows as events that have not been given yet."""
        columns = [pa.array(part) for part in (codes, *places)]
        columns += [as_array(rows[name]) for name in (*self.query.partial_names, "last", "id")]
        columns += [pa.array(np.full(len(rows), BEGINNING)), pa.array(np.ones(len(rows), np.bool_))]
        return pa.table(columns, schema=self.slices.schema)

    @property
    def _ahead(self) -> tuple[Ints, Ints]:
        """Cut each event to the part after now, up to where the next window begins."""
        first = np.maximum(ints(self.slices["place"]), np.int64(self.now))
        step = longest_slide(self.query.grids)
        return first, self._certain_last(first + np.int64(step))

    @property
    def _reached(self) -> int:
        """The last coordinate that the watermark has reached."""
        return (
            RUNNING - 1 if self.released == COMPLETE else self.query.clock.number(self.released - 1)
        )

    def _certain_last(self, reached: int | Ints) -> Ints:
        """The last coordinate at which each event is known to be running."""
        first, last = ints(self.slices["place"]), ints(self.slices["last"])
        certain = np.maximum(first, np.int64(reached))
        if self.query.longest is not None:
            certain = np.minimum(certain, first + np.int64(self.query.longest - 1))
        return np.where(last == RUNNING, certain, last)

    def _windows_of(self, number: int, grid: Grid, before: int, *, report: bool) -> pa.Table:
        """The windows of one query that have been completed, or are open and have changed."""
        code, first = ints(self.slices["code"]), ints(self.slices["place"])
        last, now = self._certain_last(self._reached), self.now
        low, high = grid.first_window(first), grid.last_window(last)
        passed = self.query.clock.number(before)
        asked = [(code, np.maximum(low, grid.first_window(passed)),
                  np.minimum(high, np.int64(grid.last_ended_window(now))))]  # fmt: skip
        if report:
            dirty, given = flags(self.slices["dirty"]), ints(self.slices["given"])
            more = np.where(dirty, low, np.maximum(low, grid.last_window(given) + 1))
            asked.append((code, np.maximum(more, grid.first_window(now)), high))
        parts = (np.concatenate(part) for part in zip(*asked, strict=True))
        owner, window = each_once(*parts)
        return self._combine(number, grid, owner, window, low, high)

    def _combine(
        self, number: int, grid: Grid, owner: Ints, window: Ints, low: Ints, high: Ints
    ) -> pa.Table:
        """Windows of keys, sorted, with the partials of the events that are in them."""
        covered, partials = self.cover(owner, window, low, high)
        at = np.full(len(owner), -1)
        at[covered] = np.arange(len(covered))
        places = pa.array(at, mask=at < 0)  # null: no event is in the window
        labels = {
            "query": np.full(len(owner), number),
            "start": grid.window_start(window),
            "final": (grid.window_end(window) <= self.now).astype(np.int64),
        }
        return self.window_table(owner, labels, [column.take(places) for column in partials])

    def _drop_events(self) -> None:
        """Drop the events that are over and in no open window."""
        first, last = self._ahead
        stay = last >= self.now
        for grid in self.query.grids:
            stay |= grid.first_window(first) <= grid.last_window(last)
        self.slices = filter_rows(self.slices, stay)
        self.forget_keys()
