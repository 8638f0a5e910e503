"""The operator of snapshot windows in a stream: each time in which the same events are running.

A key has its *events*, ``[start, stop)`` with a partial each, as far as they matter from ``done``
on: the last start or stop that the watermark has passed. Windows up to there have been released.
Where equal windows are merged, the last of them is held until another one follows, or none can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid, combine_partials
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.arrow_tables import Ints, table_of_rows
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.python_values import python_rows
from fanlight.engine.operators.snapshots import CODE, Snapshot

Partial = tuple[Any, ...]
Window = tuple[int, int, Partial]  # start, end, partial


@dataclass(frozen=True)
class RunningQuery:
    """The fixed setup of the operator."""

    # A row: keys, ``t`` (after which it is late), first and last instant, partials.
    schema: pa.Schema
    keys: int
    monoids: tuple[Monoid, ...]
    merges: bool
    eager: ClassVar[bool] = True
    has_no_late_rows: ClassVar[bool] = False

    def start(self) -> RunningOperator:
        """An operator without state."""
        return RunningOperator(self)

    def resume(self, snapshot: Snapshot) -> RunningOperator:
        """The operator as it was at a snapshot."""
        return RunningOperator.restore(self, snapshot)


@dataclass
class _Key:
    """The state of a key."""

    values: tuple[Any, ...]
    events: list[Window] = field(default_factory=list)
    held: Window | None = None
    done: int = BEGINNING

    @property
    def next_edge(self) -> int:
        """When an event starts or stops, after what is done; or when nothing can follow."""
        edges = [at for start, stop, _ in self.events for at in (start, stop) if at > self.done]
        return min(edges, default=self.done + 1 if self.held else COMPLETE)


class RunningOperator:
    """The running state of some keys."""

    def __init__(self, query: RunningQuery) -> None:
        self.query = query
        self.keys: dict[tuple[Any, ...], _Key] = {}
        self.released = BEGINNING

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take events; return the windows that end by the watermark: keys, start, end, partials.

        No event may start before a watermark that has been taken.
        """
        count = self.query.keys
        for row in python_rows(rows):
            held = self._state_of(row[:count])
            held.events.append((row[count + 1], row[count + 2] + 1, row[count + 3 :]))
        self.released = max(self.released, watermark)
        found = []
        for known in list(self.keys):
            held = self.keys[known]
            found += [(*held.values, start, stop, *of) for start, stop, of in self._release(held)]
            if not held.events and held.held is None:
                del self.keys[known]
        return table_of_rows(found, self._window_schema()) if found else None

    def _state_of(self, values: tuple[Any, ...]) -> _Key:
        """The state of a key, created if new. All NaN are one key, and so are 0.0 and -0.0."""
        return self.keys.setdefault(spark_key(values), _Key(values))

    def _release(self, held: _Key) -> Iterator[Window]:
        """The windows of a key that end by the watermark and have not been given."""
        edges = {max(at, held.done) for start, stop, _ in held.events for at in (start, stop)}
        passed = sorted(at for at in edges if at <= self.released)
        windows = self._windows(held.events, passed) if len(passed) > 1 else []
        if passed:
            held.done = passed[-1]
            held.events = [one for one in held.events if one[1] > held.done]
        if not self.query.merges:
            yield from windows
            return
        for window in windows:
            if held.held is not None and _are_equal(held.held, window):
                held.held = (held.held[0], *window[1:])
                continue
            if held.held is not None:
                yield held.held
            held.held = window
        running = any(start <= held.done for start, _, _ in held.events)
        over = held.held is not None and (held.held[1] < held.done or not running)
        if over and held.held is not None and self.released > held.held[1]:
            yield held.held
            held.held = None

    def _windows(self, events: Sequence[Window], edges: Sequence[int]) -> list[Window]:
        """The windows between edges in which an event is running, from a tree over all of them.

        An event is combined into the few nodes that together are its windows; a window is the way
        from its leaf to the root. Nothing is subtracted.
        """
        size = len(edges) - 1
        tree: list[Partial | None] = [None] * (2 * size)
        monoids = self.query.monoids
        number = {at: place for place, at in enumerate(edges)}
        for start, stop, partial in events:
            low = number.get(max(start, edges[0]), size) + size
            high = number.get(stop, size) + size
            while low < high:
                if low & 1:
                    tree[low] = combine_partials(monoids, tree[low], partial)
                    low += 1
                if high & 1:
                    high -= 1
                    tree[high] = combine_partials(monoids, tree[high], partial)
                low, high = low // 2, high // 2
        found = []
        for place, (start, stop) in enumerate(pairwise(edges)):
            at, total = place + size, None
            while at:
                total = combine_partials(monoids, total, tree[at])
                at //= 2
            if total is not None:
                found.append((start, stop, total))
        return found

    @property
    def deadlines(self) -> Ints:
        """For each key, its next start or stop."""
        return np.array([held.next_edge for held in self.keys.values()], np.int64)

    def snapshot(self) -> Snapshot:
        """The state as two tables: keys with the window that is held, and events."""
        keys, events = [], []
        for code, held in enumerate(self.keys.values()):
            start, stop, partial = held.held or (0, 0, self._nothing())
            keys.append((*held.values, held.done, held.held is not None, start, stop, *partial))
            events += [(code, *one[:2], *one[2]) for one in held.events]
        tables = (
            table_of_rows(keys, self._key_schema()),
            table_of_rows(events, self._event_schema()),
        )
        return Snapshot(tables, self.released)

    @classmethod
    def restore(cls, query: RunningQuery, snapshot: Snapshot) -> RunningOperator:
        """The operator with the state of a snapshot."""
        operator, count, states = cls(query), query.keys, []
        operator.released = snapshot.released
        for row in python_rows(snapshot.tables[0]):
            held = operator._state_of(row[:count])
            held.done, there, start, stop = row[count : count + 4]
            held.held = (start, stop, row[count + 4 :]) if there else None
            states.append(held)
        for code, start, stop, *partial in python_rows(snapshot.tables[1]):
            states[code].events.append((start, stop, tuple(partial)))
        return operator

    def _nothing(self) -> Partial:
        return (None,) * len(self.query.monoids)

    @property
    def _parts(self) -> list[pa.Field]:
        return list(self.query.schema)[self.query.keys + 3 :]

    def _window_schema(self) -> pa.Schema:
        ends = [pa.field("start", pa.int64()), pa.field("upto", pa.int64())]
        return pa.schema([*list(self.query.schema)[: self.query.keys], *ends, *self._parts])

    def _key_schema(self) -> pa.Schema:
        numbers = [pa.field("done", pa.int64()), pa.field("there", pa.bool_())]
        numbers += [pa.field("start", pa.int64()), pa.field("stop", pa.int64())]
        return pa.schema([*list(self.query.schema)[: self.query.keys], *numbers, *self._parts])

    def _event_schema(self) -> pa.Schema:
        numbers = [pa.field(name, pa.int64()) for name in (CODE, "start", "stop")]
        return pa.schema([*numbers, *self._parts])


def _are_equal(one: Window, other: Window) -> bool:
    """Whether a window goes on where another ends, with the same partial."""
    return one[1] == other[0] and spark_key(one[2]) == spark_key(other[2])
