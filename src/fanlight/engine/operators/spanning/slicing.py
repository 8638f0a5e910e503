"""Slices that keep apart the events that end in them (phi) and those that go on (varphi)."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique

PHI, VARPHI = 0, 1


class SeMlSlicing(Technique):
    """SE-ML-Slicing (Algorithms 5 to 8): level ``k`` of slice ``i`` covers slices i-k+1 to i.

    An event goes to the highest level that it fills, from its last slice back, in hops of the
    height: into phi where it ends, into varphi before.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.levels: dict[tuple[int, int], list[Partial]] = {}  # (slice, level): [phi, varphi]
        self.newest: int | None = None

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Algorithm 7."""
        lowest, slice_ = self.layout.slices(first, last)
        self._update_newest(slice_)
        left, part = slice_ - lowest + 1, PHI
        while left > 0:
            self.put(slice_, min(left, self.layout.height), part, partial)
            slice_ -= self.layout.height
            left -= self.layout.height
            part = VARPHI

    def put(self, slice_: int, level: int, part: int, partial: Partial) -> None:
        """A partial into phi or varphi of a level of a slice."""
        both = self.levels.setdefault((slice_, level), [None, None])
        both[part] = self.layout.combine(both[part], partial)
        self._update_newest(slice_)

    def release(self, window: int) -> Partial:
        """Algorithm 8; then the slices that no coming window holds are dropped."""
        lowest, final = self.layout.of_window(window)
        found = self.layout.combined(self._partials_of_slices(lowest, final))
        kept = lowest + self.layout.cut.step
        for place in [place for place in self.levels if place[0] < kept]:
            del self.levels[place]
        return found

    def _partials_of_slices(self, lowest: int, final: int) -> Iterable[Partial]:
        newest = final if self.newest is None else self.newest
        for slice_ in range(lowest, min(final + self.layout.height, newest + 1)):
            for level in range(max(slice_ - final, 0) + 1, self.layout.height + 1):
                phi, varphi = self.levels.get((slice_, level), (None, None))
                yield phi
                if slice_ >= final:  # what goes on in an earlier slice is in a later one too
                    yield varphi

    def _update_newest(self, slice_: int) -> None:
        self.newest = slice_ if self.newest is None else max(self.newest, slice_)

    def entries(self) -> Iterable[Entry]:
        """An entry a part of a level: its kind is 2 * level + part."""
        for (slice_, level), both in self.levels.items():
            for part, partial in enumerate(both):
                if partial is not None:
                    yield 2 * level + part, slice_, 0, partial

    def restore(self, entry: Entry) -> None:
        """Into its level."""
        kind, slice_, _, partial = entry
        self.put(slice_, kind // 2, kind % 2, partial)


class SeSlicing(SeMlSlicing):
    """SE-Slicing (Algorithms 1 to 4): one level, so every slice of an event is updated."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(Layout(layout.cut, layout.monoids, 1))
