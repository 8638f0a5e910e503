"""Slicing: a slice has two partials, of events that end in it (phi) and that go on (varphi)."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique

PHI, VARPHI = 0, 1


class SeMlSlicing(Technique):
    """SE-ML-Slicing (Algorithms 5 to 8): level ``k`` of slice ``i`` covers slices i-k+1 to i.

    From its last slice back, in steps of the height, an event is added to the highest level that it
    fills: to phi in its last slice, to varphi in earlier ones.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.levels: dict[tuple[int, int], list[Partial]] = {}  # (slice, level): [phi, varphi]
        self.newest: int | None = None

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Add an event to the levels that cover its slices: Algorithm 7."""
        lowest, slice_ = self.layout.slices_of_event(first, last)
        self._update_newest(slice_)
        left, part = slice_ - lowest + 1, PHI
        while left > 0:
            self.add_partial(slice_, min(left, self.layout.height), part, partial)
            slice_ -= self.layout.height
            left -= self.layout.height
            part = VARPHI

    def add_partial(self, slice_: int, level: int, part: int, partial: Partial) -> None:
        """Combine a partial into phi or varphi of a level of a slice."""
        both = self.levels.setdefault((slice_, level), [None, None])
        both[part] = self.layout.combine(both[part], partial)
        self._update_newest(slice_)

    def release_window(self, window: int) -> Partial:
        """Algorithm 8; also drops the slices that no later window holds."""
        lowest, final = self.layout.slices_of_window(window)
        partial = self.layout.combine_all(self._partials_of_slices(lowest, final))
        oldest = lowest + self.layout.cut.step
        for place in [place for place in self.levels if place[0] < oldest]:
            del self.levels[place]
        return partial

    def _partials_of_slices(self, lowest: int, final: int) -> Iterable[Partial]:
        newest = final if self.newest is None else self.newest
        for slice_ in range(lowest, min(final + self.layout.height, newest + 1)):
            for level in range(max(slice_ - final, 0) + 1, self.layout.height + 1):
                phi, varphi = self.levels.get((slice_, level), (None, None))
                yield phi
                if slice_ >= final:  # what goes on from earlier slices is in later ones too
                    yield varphi

    def _update_newest(self, slice_: int) -> None:
        self.newest = slice_ if self.newest is None else max(self.newest, slice_)

    def entries(self) -> Iterable[Entry]:
        """One entry for phi and varphi of each level, of kind 2 * level + part."""
        for (slice_, level), both in self.levels.items():
            for part, partial in enumerate(both):
                if partial is not None:
                    yield 2 * level + part, slice_, 0, partial

    def restore_entry(self, entry: Entry) -> None:
        """Add it to its level."""
        kind, slice_, _, partial = entry
        self.add_partial(slice_, kind // 2, kind % 2, partial)


class SeSlicing(SeMlSlicing):
    """SE-Slicing (Algorithms 1 to 4): one level, so an event updates each of its slices."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(Layout(layout.cut, layout.monoids, 1))
