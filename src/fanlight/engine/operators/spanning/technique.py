"""What a technique is: it takes events, releases windows in order, and can be a snapshot.

A *partial* here is a tuple with one value for each field; ``None`` means no event. The state in a
snapshot is entries ``(kind, i, j, partial)``; what they mean is up to the technique.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.plan.cut import Cut

Partial = tuple[Any, ...] | None
Entry = tuple[int, int, int, Partial]


@dataclass(frozen=True)
class Layout:
    """The windows, the slices they are cut into by Pairs, and the fields of a partial."""

    cut: Cut
    monoids: tuple[Monoid, ...]
    height: int = 1

    def windows(self, first: int, last: int) -> tuple[int, int]:
        """The windows that share an instant with the coordinates ``first`` to ``last``."""
        grid = self.cut.grid
        return grid.first(first), grid.last(last)

    def end(self, window: int) -> int:
        """The coordinate at which a window ends."""
        return self.cut.grid.end(window)

    def start(self, window: int) -> int:
        """The coordinate at which a window begins."""
        return self.cut.grid.start(window)

    def slices(self, first: int, last: int) -> tuple[int, int]:
        """The slices from ``first`` to ``last``; where windows leave gaps, those in windows."""
        low = self.cut.slice_of(first)
        return low if self.cut.grid.holds(first) else low + 1, self.cut.slice_of(last)

    def of_window(self, window: int) -> tuple[int, int]:
        """The first and the last slice of a window."""
        lowest = window * self.cut.step
        return lowest, lowest + self.cut.span - 1

    def combine(self, one: Partial, other: Partial) -> Partial:
        """Two partials to one."""
        if one is None or other is None:
            return other if one is None else one
        parts = zip(self.monoids, one, other, strict=True)
        return tuple(monoid.combine_values(a, b) for monoid, a, b in parts)

    def combined(self, partials: Iterable[Partial]) -> Partial:
        """Many partials to one."""
        found: Partial = None
        for partial in partials:
            found = self.combine(found, partial)
        return found


class Technique(ABC):
    """The events of one key. Windows are released in order, each once."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @abstractmethod
    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Take an event that lasts from coordinate ``first`` to ``last``, both included."""

    @abstractmethod
    def release(self, window: int) -> Partial:
        """The partial of a window that has ended; what no later window needs is dropped."""

    @abstractmethod
    def entries(self) -> Iterable[Entry]:
        """The state, as entries."""

    @abstractmethod
    def restore(self, entry: Entry) -> None:
        """Add an entry of a state again."""
