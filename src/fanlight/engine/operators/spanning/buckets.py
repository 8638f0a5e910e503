"""Buckets: the baselines of the paper. A window keeps its events, or one partial of them."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique


class TupleBuckets(Technique):
    """Each window keeps all its events; they are combined when it is released."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.buckets: dict[int, list[Partial]] = {}

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """One copy a window."""
        lowest, highest = self.layout.windows(first, last)
        for window in range(lowest, highest + 1):
            self.buckets.setdefault(window, []).append(partial)

    def release(self, window: int) -> Partial:
        """Every event of the window is combined."""
        return self.layout.combined(self.buckets.pop(window, ()))

    def entries(self) -> Iterable[Entry]:
        """An entry an event and window."""
        for window, partials in self.buckets.items():
            for partial in partials:
                yield 0, window, 0, partial

    def restore(self, entry: Entry) -> None:
        """Into its bucket."""
        self.buckets.setdefault(entry[1], []).append(entry[3])


class AggregateBuckets(Technique):
    """Each window keeps one partial."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.buckets: dict[int, Partial] = {}

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Into every window of the event."""
        lowest, highest = self.layout.windows(first, last)
        for window in range(lowest, highest + 1):
            self.buckets[window] = self.layout.combine(self.buckets.get(window), partial)

    def release(self, window: int) -> Partial:
        """Its bucket has it."""
        return self.buckets.pop(window, None)

    def entries(self) -> Iterable[Entry]:
        """An entry a window."""
        for window, partial in self.buckets.items():
            yield 0, window, 0, partial

    def restore(self, entry: Entry) -> None:
        """Into its bucket."""
        self.buckets[entry[1]] = entry[3]
