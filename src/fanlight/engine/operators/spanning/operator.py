"""The operator of a technique: the keys of a group, their windows, and their snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.partials import python_values
from fanlight.engine.operators.protocol import BEGINNING
from fanlight.engine.operators.snapshots import CODE, Snapshot
from fanlight.engine.operators.spanning.buckets import AggregateBuckets, TupleBuckets
from fanlight.engine.operators.spanning.levels import Levels
from fanlight.engine.operators.spanning.slicing import SeMlSlicing, SeSlicing
from fanlight.engine.operators.spanning.sweeping import CumulativeSweeping, SelectiveSweeping
from fanlight.engine.operators.spanning.technique import Layout, Partial, Technique
from fanlight.engine.operators.tables import Ints, tabled
from fanlight.engine.plan.cut import Cut

TECHNIQUES: dict[str, type[Technique]] = {
    "tuple-buckets": TupleBuckets,
    "aggregate-buckets": AggregateBuckets,
    "cumulative-sweeping": CumulativeSweeping,
    "selective-sweeping": SelectiveSweeping,
    "se-slicing": SeSlicing,
    "se-ml-slicing": SeMlSlicing,
    "levels": Levels,
}


@dataclass(frozen=True)
class SpanningQuery:
    """The fixed setup of the operator."""

    schema: (
        pa.Schema
    )  # a row: keys, ``t`` (end of its first window), first and last instant, partials
    keys: int
    monoids: tuple[Monoid, ...]
    cut: Cut
    technique: str
    height: int = 1
    eager: ClassVar[bool] = True
    has_no_late_rows: ClassVar[bool] = False

    @property
    def layout(self) -> Layout:
        """Windows, slices and fields."""
        return Layout(self.cut, self.monoids, self.height)

    def start(self) -> SpanningOperator:
        """An operator without state."""
        return SpanningOperator(self)

    def resume(self, snapshot: Snapshot) -> SpanningOperator:
        """The operator as it was at a snapshot."""
        return SpanningOperator.restore(self, snapshot)


@dataclass
class _Key:
    """A key's events, and the runs of windows that have some: first and last window of each."""

    values: tuple[Any, ...]
    technique: Technique
    runs: list[tuple[int, int]]

    def extend(self, lowest: int, highest: int) -> None:
        """Add the windows of an event: a run more, or those that it touches made one."""
        apart = [run for run in self.runs if run[1] < lowest - 1 or run[0] > highest + 1]
        if len(apart) < len(self.runs):
            touched = [run for run in self.runs if run not in apart]
            lowest = min(lowest, *(first for first, _ in touched))
            highest = max(highest, *(last for _, last in touched))
        self.runs = sorted([*apart, (lowest, highest)])

    def through(self, latest: int) -> Iterator[int]:
        """The windows up to one, which are then left out."""
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
        """The windows that end by the watermark: keys, ``start``, partials.

        No event may be in a window that has been released.
        """
        self._insert_events(rows)
        self.released = max(self.released, watermark)
        return self._release_windows(self.released)

    def _insert_events(self, events: pa.Table) -> None:
        count = self.query.keys
        for row in _rows(events):
            first, last = row[count + 1], row[count + 2]
            lowest, highest = self.layout.windows(first, last)
            if lowest > highest:
                continue
            held = self.key(row[:count])
            held.extend(lowest, highest)
            held.technique.insert(first, last, row[count + 3 :])

    def key(self, values: tuple[Any, ...]) -> _Key:
        """A key, known or new. NaN is one, and so are 0.0 and -0.0."""
        known = spark_key(values)
        if known not in self.keys:
            technique = TECHNIQUES[self.query.technique](self.layout)
            self.keys[known] = _Key(values, technique, [])
        return self.keys[known]

    @property
    def deadlines(self) -> Ints:
        """For each run of windows, when its first one ends."""
        runs = [run for held in self.keys.values() for run in held.runs]
        return np.array([self.layout.end(first) for first, _ in runs], np.int64)

    def _release_windows(self, watermark: int) -> pa.Table | None:
        rows: list[tuple[Any, ...]] = []
        grid = self.query.cut.grid
        latest = grid.ended(watermark)
        for key in list(self.keys):
            held = self.keys[key]
            for window in held.through(latest):
                partial = held.technique.release(window)
                if partial is not None:
                    rows.append((*held.values, grid.start(window), *partial))
            if not held.runs:
                del self.keys[key]
        return self._window_table(rows) if rows else None

    def _window_table(self, rows: list[tuple[Any, ...]]) -> pa.Table:
        fields = list(self.query.schema)
        count = self.query.keys
        out = pa.schema([*fields[:count], pa.field("start", pa.int64()), *fields[count + 3 :]])
        return tabled(rows, out)

    def snapshot(self) -> Snapshot:
        """The state as tables: keys by their runs of windows, and the entries of techniques."""
        keys: list[tuple[Any, ...]] = []
        entries: list[tuple[Any, ...]] = []
        for held in self.keys.values():
            code = len(keys)
            keys += [(*held.values, *run) for run in held.runs]
            entries += [
                (code, *entry[:3], entry[3] is not None, *(entry[3] or self._null_values()))
                for entry in held.technique.entries()
            ]
        tables = tabled(keys, self._key_schema()), tabled(entries, self._entry_schema())
        return Snapshot(tables, self.released)

    @classmethod
    def restore(cls, query: SpanningQuery, snapshot: Snapshot) -> SpanningOperator:
        """The operator as it was at :meth:`snapshot`."""
        keys, entries = snapshot.tables
        operator = cls(query)
        operator.released = snapshot.released
        held = []
        for row in _rows(keys):
            *values, first, last = row
            held.append(operator.key(tuple(values)))
            held[-1].runs.append((first, last))
        for number, kind, i, j, there, *values in _rows(entries):
            partial: Partial = tuple(values) if there else None
            held[number].technique.restore((kind, i, j, partial))
        return operator

    def _null_values(self) -> tuple[None, ...]:
        return (None,) * len(self.query.monoids)

    def _key_schema(self) -> pa.Schema:
        fields = list(self.query.schema)[: self.query.keys]
        return pa.schema([*fields, pa.field("first", pa.int64()), pa.field("last", pa.int64())])

    def _entry_schema(self) -> pa.Schema:
        numbers = [pa.field(name, pa.int64()) for name in (CODE, "kind", "i", "j")]
        fields = list(self.query.schema)[self.query.keys + 3 :]
        return pa.schema([*numbers, pa.field("there", pa.bool_()), *fields])


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [python_values(column.combine_chunks()) for column in table.columns]
    return list(zip(*columns, strict=True))
