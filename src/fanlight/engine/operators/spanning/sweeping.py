"""Plane sweeping (Piatov and Helmer), as the paper brings it to streams.

Of two indexes, that by start is read up to the window's end, that by end up to its start.
Cumulative: events that start are added to totals, those that end subtracted. Selective: each field
has a heap of the events that have started, with the extreme on top; what has ended is dropped when
it comes up.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique

_WAITING, _RUNNING = 0, 1


class _Sweeping(Technique):
    """The two indexes; a number makes events of one instant different."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.starts: list[tuple[int, int, int, Partial]] = []
        self.ends: list[tuple[int, int, Partial]] = []
        self.number = 0

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Into the index by start; when it has started, it moves to the one by end."""
        self.number += 1
        heapq.heappush(self.starts, (first, self.number, last, partial))

    def release(self, window: int) -> Partial:
        """Read both indexes up to the window."""
        start, end = self.layout.start(window), self.layout.end(window)
        while self.starts and self.starts[0][0] < end:
            _, number, last, partial = heapq.heappop(self.starts)
            heapq.heappush(self.ends, (last, number, partial))
            self.enter(last, partial)
        while self.ends and self.ends[0][0] < start:
            self.leave(heapq.heappop(self.ends)[2])
        return self.read(start) if self.ends else None

    def entries(self) -> Iterable[Entry]:
        """An entry an event."""
        for first, _, last, partial in self.starts:
            yield _WAITING, first, last, partial
        for last, _, partial in self.ends:
            yield _RUNNING, 0, last, partial

    def restore(self, entry: Entry) -> None:
        """Into its index."""
        kind, first, last, partial = entry
        if kind == _WAITING:
            self.insert(first, last, partial)
            return
        self.number += 1
        heapq.heappush(self.ends, (last, self.number, partial))
        self.enter(last, partial)

    @abstractmethod
    def enter(self, last: int, partial: Partial) -> None:
        """An event has started."""

    @abstractmethod
    def leave(self, partial: Partial) -> None:
        """An event has ended before the window."""

    @abstractmethod
    def read(self, start: int) -> Partial:
        """The partial of the events that have started and not ended."""


class CumulativeSweeping(_Sweeping):
    """Totals that events are added to and subtracted from: only for exact inverses."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.totals: list[Any] = [None] * len(layout.monoids)
        self.values = [0] * len(layout.monoids)  # how many events have a value in the field

    def enter(self, last: int, partial: Partial) -> None:
        """Add it."""
        del last
        for at, (monoid, value) in enumerate(zip(self.layout.monoids, partial or (), strict=True)):
            if value is not None:
                self.totals[at] = monoid.combine_values(self.totals[at], value)
                self.values[at] += 1

    def leave(self, partial: Partial) -> None:
        """Subtract it; a field without a value is null, not 0."""
        for at, (monoid, value) in enumerate(zip(self.layout.monoids, partial or (), strict=True)):
            if value is not None:
                self.values[at] -= 1
                less: Any = monoid  # monoids with an inverse have without()
                left = less.without(self.totals[at], value) if self.values[at] else None
                self.totals[at] = left

    def read(self, start: int) -> Partial:
        """The totals."""
        del start
        return tuple(self.totals)


class _Ranked:
    """A value in a heap whose top is the least, or the greatest."""

    __slots__ = ("key", "largest", "value")

    def __init__(self, value: Any, largest: bool) -> None:
        self.value = value
        self.key = spark_key(value)
        self.largest = largest

    def __lt__(self, other: _Ranked) -> bool:
        return other.key < self.key if self.largest else self.key < other.key


class SelectiveSweeping(_Sweeping):
    """A heap a field: only where one event's value is the result."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.heaps: list[list[tuple[_Ranked, int]]] = [[] for _ in layout.monoids]

    def enter(self, last: int, partial: Partial) -> None:
        """Into each field's heap."""
        fields = zip(self.heaps, self.layout.monoids, partial or (), strict=True)
        for heap, monoid, value in fields:
            if value is not None:
                heapq.heappush(heap, (_Ranked(value, monoid.combining == "greatest"), last))

    def leave(self, partial: Partial) -> None:
        """Heaps drop what has ended when it comes up."""

    def read(self, start: int) -> Partial:
        """The tops, once what has ended is off them."""
        found = []
        for heap in self.heaps:
            while heap and heap[0][1] < start:
                heapq.heappop(heap)
            found.append(heap[0][0].value if heap else None)
        return tuple(found)
