"""Plane sweeping (Piatov and Helmer), adapted to streams as in the paper.

There are two indexes: the one by start is read up to the window's end, the one by end up to its
start. Cumulative: events that start are added to totals, events that end are subtracted. Selective:
each field has a heap of the events that have started, with the extreme on top; an event that has
ended is dropped when it reaches the top.
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
    """The two indexes; a number orders events of the same instant."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.starts: list[tuple[int, int, int, Partial]] = []
        self.ends: list[tuple[int, int, Partial]] = []
        self.number = 0

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Add an event to the index by start; once it has started, it moves to the one by end."""
        self.number += 1
        heapq.heappush(self.starts, (first, self.number, last, partial))

    def release_window(self, window: int) -> Partial:
        """Read both indexes up to the window, and return its partial."""
        start, end = self.layout.start(window), self.layout.end(window)
        while self.starts and self.starts[0][0] < end:
            _, number, last, partial = heapq.heappop(self.starts)
            heapq.heappush(self.ends, (last, number, partial))
            self.add_event(last, partial)
        while self.ends and self.ends[0][0] < start:
            self.remove_event(heapq.heappop(self.ends)[2])
        return self.current_partial(start) if self.ends else None

    def entries(self) -> Iterable[Entry]:
        """One entry for each event."""
        for first, _, last, partial in self.starts:
            yield _WAITING, first, last, partial
        for last, _, partial in self.ends:
            yield _RUNNING, 0, last, partial

    def restore_entry(self, entry: Entry) -> None:
        """Add it to its index."""
        kind, first, last, partial = entry
        if kind == _WAITING:
            self.insert(first, last, partial)
            return
        self.number += 1
        heapq.heappush(self.ends, (last, self.number, partial))
        self.add_event(last, partial)

    @abstractmethod
    def add_event(self, last: int, partial: Partial) -> None:
        """Add an event that has started."""

    @abstractmethod
    def remove_event(self, partial: Partial) -> None:
        """Remove an event that ended before the window."""

    @abstractmethod
    def current_partial(self, start: int) -> Partial:
        """The partial of the events that have started and not ended."""


class CumulativeSweeping(_Sweeping):
    """Adds events to totals and subtracts them again: only for monoids with exact inverses."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.totals: list[Any] = [None] * len(layout.monoids)
        self.values = [0] * len(layout.monoids)  # how many events have a value in the field

    def add_event(self, last: int, partial: Partial) -> None:
        """Add the event to the totals."""
        del last
        for at, (monoid, value) in enumerate(zip(self.layout.monoids, partial or (), strict=True)):
            if value is not None:
                self.totals[at] = monoid.combine_values(self.totals[at], value)
                self.values[at] += 1

    def remove_event(self, partial: Partial) -> None:
        """Subtract the event; a field without values is null, not 0."""
        for at, (monoid, value) in enumerate(zip(self.layout.monoids, partial or (), strict=True)):
            if value is not None:
                self.values[at] -= 1
                less: Any = monoid  # only monoids with an inverse come here; these have without()
                left = less.without(self.totals[at], value) if self.values[at] else None
                self.totals[at] = left

    def current_partial(self, start: int) -> Partial:
        """Return the totals."""
        del start
        return tuple(self.totals)


class _Ranked:
    """A value in a heap whose top is the least or the greatest."""

    __slots__ = ("key", "largest", "value")

    def __init__(self, value: Any, largest: bool) -> None:
        self.value = value
        self.key = spark_key(value)
        self.largest = largest

    def __lt__(self, other: _Ranked) -> bool:
        return other.key < self.key if self.largest else self.key < other.key


class SelectiveSweeping(_Sweeping):
    """Keeps a heap for each field: only for aggregates whose result is the value of one event."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.heaps: list[list[tuple[_Ranked, int]]] = [[] for _ in layout.monoids]

    def add_event(self, last: int, partial: Partial) -> None:
        """Push the event onto each field's heap."""
        fields = zip(self.heaps, self.layout.monoids, partial or (), strict=True)
        for heap, monoid, value in fields:
            if value is not None:
                heapq.heappush(heap, (_Ranked(value, monoid.combining == "greatest"), last))

    def remove_event(self, partial: Partial) -> None:
        """Do nothing: an ended event is dropped once it reaches the top of a heap."""

    def current_partial(self, start: int) -> Partial:
        """Pop ended events off the heaps, and return the values on top."""
        tops = []
        for heap in self.heaps:
            while heap and heap[0][1] < start:
                heapq.heappop(heap)
            tops.append(heap[0][0].value if heap else None)
        return tuple(tops)
