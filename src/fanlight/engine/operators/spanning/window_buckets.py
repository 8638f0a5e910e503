"""The baselines of the paper: a bucket for each window, of its events or of their partial."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique


class TupleBuckets(Technique):
    """The bucket of a window has all its events, combined when it is released."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.buckets: dict[int, list[Partial]] = {}

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Add a copy of the event to the bucket of each of its windows."""
        lowest, highest = self.layout.windows_of_event(first, last)
        for window in range(lowest, highest + 1):
            self.buckets.setdefault(window, []).append(partial)

    def release_window(self, window: int) -> Partial:
        """Combine what the window's bucket has."""
        return self.layout.combine_all(self.buckets.pop(window, ()))

    def entries(self) -> Iterable[Entry]:
        """One entry for each partial of each window."""
        for window, partials in self.buckets.items():
            for partial in partials:
                yield 0, window, 0, partial

    def restore_entry(self, entry: Entry) -> None:
        """Add it to the bucket of its window."""
        self.buckets.setdefault(entry[1], []).append(entry[3])


class AggregateBuckets(TupleBuckets):
    """The bucket of a window has one partial."""

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Combine the event into the bucket of each of its windows."""
        lowest, highest = self.layout.windows_of_event(first, last)
        for window in range(lowest, highest + 1):
            (before,) = self.buckets.get(window, [None])
            self.buckets[window] = [self.layout.combine(before, partial)]
