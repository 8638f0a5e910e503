"""The operator that runs a technique for each key, and writes snapshots of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.arrow_tables import Ints, table_of_rows
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.operators.python_values import python_rows
from fanlight.engine.operators.snapshots import CODE, Snapshot
from fanlight.engine.operators.spanning.dyadic_intervals import DyadicIntervals
from fanlight.engine.operators.spanning.slicing import SeMlSlicing, SeSlicing
from fanlight.engine.operators.spanning.sweeping import CumulativeSweeping, SelectiveSweeping
from fanlight.engine.operators.spanning.technique import Layout, Partial, Technique
from fanlight.engine.operators.spanning.window_buckets import AggregateBuckets, TupleBuckets
from fanlight.engine.plan.cut import Cut

TECHNIQUES: dict[str, type[Technique]] = {
    "tuple-buckets": TupleBuckets,
    "aggregate-buckets": AggregateBuckets,
    "cumulative-sweeping": CumulativeSweeping,
    "selective-sweeping": SelectiveSweeping,
    "se-slicing": SeSlicing,
    "se-ml-slicing": SeMlSlicing,
    "levels": DyadicIntervals,
}


@dataclass(frozen=True)
class SpanningQuery:
    """The fixed setup of the operator."""

    # A row: keys, ``t`` (end of its first window), first and last instant, partials.
    schema: pa.Schema
    keys: int
    monoids: tuple[Monoid, ...]
    cut: Cut
    technique: str
    height: int = 1
    eager: ClassVar[bool] = True
    has_no_late_rows: ClassVar[bool] = False

    @property
    def layout(self) -> Layout:
        """The windows, slices and fields that a technique needs."""
        return Layout(self.cut, self.monoids, self.height)

    def start(self) -> SpanningOperator:
        """An operator without state."""
        return SpanningOperator(self)

    def resume(self, snapshot: Snapshot) -> SpanningOperator:
        """The operator as it was at a snapshot."""
        keys, entries = snapshot.tables
        operator, held = self.start(), []
        operator.released = snapshot.released
        for *values, first, last in python_rows(keys):
            held.append(operator.state_of_key(tuple(values)))
            held[-1].runs.append((first, last))
        for number, kind, i, j, there, *values in python_rows(entries):
            partial: Partial = tuple(values) if there else None
            held[number].technique.restore_entry((kind, i, j, partial))
        return operator


@dataclass
class _Key:
    """The state of a key; ``runs`` has the first and last window of each run with events."""

    values: tuple[Any, ...]
    technique: Technique
    runs: list[tuple[int, int]]

    def add_windows(self, lowest: int, highest: int) -> None:
        """Add the windows of an event: as a new run, or joined with the runs they touch."""
        others = [run for run in self.runs if run[1] < lowest - 1 or run[0] > highest + 1]
        if len(others) < len(self.runs):
            touched = [run for run in self.runs if run not in others]
            lowest = min(lowest, *(first for first, _ in touched))
            highest = max(highest, *(last for _, last in touched))
        self.runs = sorted([*others, (lowest, highest)])

    def pop_windows_through(self, latest: int) -> Iterator[int]:
        """Remove the windows up to ``latest``, and yield their numbers."""
        done = [(first, min(last, latest)) for first, last in self.runs if first <= latest]
        self.runs = [(max(first, latest + 1), last) for first, last in self.runs if last > latest]
        for first, last in done:
            yield from range(first, last + 1)


class SpanningOperator:
    """The running state of some keys."""

    def __init__(self, query: SpanningQuery) -> None:
        self.query = query
        self.layout = query.layout
        self.keys: dict[tuple[Any, ...], _Key] = {}
        self.released = BEGINNING

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take events; return the windows that end by the watermark: keys, ``start``, partials.

        No event may be in a window that has been released.
        """
        self._insert_events(rows)
        self.released = max(self.released, watermark)
        return self._release_windows(self.released)

    def _insert_events(self, events: pa.Table) -> None:
        count = self.query.keys
        for row in python_rows(events):
            first, last = row[count + 1], row[count + 2]
            lowest, highest = self.layout.windows_of_event(first, last)
            if lowest > highest:
                continue
            held = self.state_of_key(row[:count])
            held.add_windows(lowest, highest)
            held.technique.insert(first, last, row[count + 3 :])

    def state_of_key(self, values: tuple[Any, ...]) -> _Key:
        """The state of a key, created if new. All NaN are one key, and so are 0.0 and -0.0."""
        known = spark_key(values)
        if known not in self.keys:
            technique = TECHNIQUES[self.query.technique](self.layout)
            self.keys[known] = _Key(values, technique, [])
        return self.keys[known]

    @property
    def deadlines(self) -> Ints:
        """For each run of windows, the end of its first window."""
        runs = [run for held in self.keys.values() for run in held.runs]
        return np.array([self.layout.end(first) for first, _ in runs], np.int64)

    def _release_windows(self, watermark: int) -> pa.Table | None:
        rows: list[tuple[Any, ...]] = []
        grid = self.query.cut.grid
        latest = grid.last_ended_window(watermark)
        for key in list(self.keys):
            held = self.keys[key]
            for window in held.pop_windows_through(latest):
                partial = held.technique.release_window(window)
                if partial is not None:
                    rows.append((*held.values, grid.window_start(window), *partial))
            if not held.runs:
                del self.keys[key]
        return self._window_table(rows) if rows else None

    def _window_table(self, rows: list[tuple[Any, ...]]) -> pa.Table:
        fields = list(self.query.schema)
        count = self.query.keys
        out = pa.schema([*fields[:count], pa.field("start", pa.int64()), *fields[count + 3 :]])
        return table_of_rows(rows, out)

    def snapshot(self) -> Snapshot:
        """The state as two tables: keys with their runs of windows, and entries of techniques."""
        keys: list[tuple[Any, ...]] = []
        entries: list[tuple[Any, ...]] = []
        none = (None,) * len(self.query.monoids)
        for held in self.keys.values():
            code = len(keys)
            keys += [(*held.values, *run) for run in held.runs]
            entries += [
                (code, *entry[:3], entry[3] is not None, *(entry[3] or none))
                for entry in held.technique.entries()
            ]
        tables = (
            table_of_rows(keys, self._key_schema()),
            table_of_rows(entries, self._entry_schema()),
        )
        return Snapshot(tables, self.released)

    def _key_schema(self) -> pa.Schema:
        fields = list(self.query.schema)[: self.query.keys]
        return pa.schema([*fields, pa.field("first", pa.int64()), pa.field("last", pa.int64())])

    def _entry_schema(self) -> pa.Schema:
        numbers = [pa.field(name, pa.int64()) for name in (CODE, "kind", "i", "j")]
        fields = list(self.query.schema)[self.query.keys + 3 :]
        return pa.schema([*numbers, pa.field("there", pa.bool_()), *fields])
