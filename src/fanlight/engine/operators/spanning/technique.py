"""The interface of techniques, which take events and release windows in order.

A *partial* here is a tuple with one value for each field; ``None`` means no event. The state in a
snapshot is entries ``(kind, i, j, partial)``; each technique gives them its own meaning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fanlight.engine.algebra.monoids import Monoid, combine_partials
from fanlight.engine.plan.cut import Cut

Partial = tuple[Any, ...] | None
Entry = tuple[int, int, int, Partial]


@dataclass(frozen=True)
class Layout:
    """The windows, the slices they are cut into by Pairs, and the fields of a partial."""

    cut: Cut
    monoids: tuple[Monoid, ...]
    height: int = 1

    def windows_of_event(self, first: int, last: int) -> tuple[int, int]:
        """The first and last window that an event from ``first`` to ``last`` is in."""
        grid = self.cut.grid
        return grid.first_window(first), grid.last_window(last)

    def end(self, window: int) -> int:
        """The coordinate at which a window ends."""
        return self.cut.grid.window_end(window)

    def start(self, window: int) -> int:
        """The coordinate at which a window begins."""
        return self.cut.grid.window_start(window)

    def slices_of_event(self, first: int, last: int) -> tuple[int, int]:
        """The first and last slice of an event; slices in gaps between windows do not count."""
        low = self.cut.slice_of(first)
        return low if self.cut.grid.has_window(first) else low + 1, self.cut.slice_of(last)

    def slices_of_window(self, window: int) -> tuple[int, int]:
        """The first and the last slice of a window."""
        lowest = window * self.cut.step
        return lowest, lowest + self.cut.span - 1

    def combine(self, one: Partial, other: Partial) -> Partial:
        """Combine two partials."""
        return combine_partials(self.monoids, one, other)

    def combine_all(self, partials: Iterable[Partial]) -> Partial:
        """Combine many partials."""
        total: Partial = None
        for partial in partials:
            total = self.combine(total, partial)
        return total


class Technique(ABC):
    """The state of one key's events; windows are released in order, each once."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @abstractmethod
    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Take an event that lasts from coordinate ``first`` to ``last``, both included."""

    @abstractmethod
    def release_window(self, window: int) -> Partial:
        """Return the partial of a window that has ended, and drop what no later one needs."""

    @abstractmethod
    def entries(self) -> Iterable[Entry]:
        """The state, as entries."""

    @abstractmethod
    def restore_entry(self, entry: Entry) -> None:
        """Add an entry of a snapshot to the state."""
