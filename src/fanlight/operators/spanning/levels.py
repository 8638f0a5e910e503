"""Ours: two marks an event on a power-of-two level, whatever its duration."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.operators.spanning.technique import Entry, Layout, Partial, Technique


class Levels(Technique):
    """An event's windows end one block of ``2**h`` windows and begin the next: two marks say so.

    A window is reached by the marks before it in a left block (kept as one running partial) and by
    those after it in a right block (added up from its end when it is entered).
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.marks: dict[int, dict[int, Partial]] = {}  # level: {window: partial}
        self.running: dict[int, tuple[int, Partial]] = {}  # level: (left block, so far)
        self.entered: dict[int, int] = {}  # level: the right block whose marks are added up
        self.order: dict[int, list[int]] = {}  # of that block: its marks, the next one last

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Two marks; one where the event is in one window only."""
        lowest, highest = self.layout.windows(first, last)
        if lowest > highest:
            return
        level = (lowest ^ highest).bit_length() if (lowest ^ highest) >= 0 else 64
        for window in {lowest, highest}:
            self._mark(level, window, partial)

    def _mark(self, level: int, window: int, partial: Partial) -> None:
        marks = self.marks.setdefault(level, {})
        marks[window] = self.layout.join(marks.get(window), partial)

    def release(self, window: int) -> Partial:
        """One partial a level."""
        found: Partial = None
        for level, marks in self.marks.items():
            block = window >> max(level - 1, 0)
            if level and self._right(level, window):
                self.running.pop(level, None)
                found = self.layout.join(found, self._after(level, block, window))
                continue
            if level in self.entered:
                del self.entered[level]
                for at in [at for at in marks if at < window]:
                    del marks[at]
                self.order.pop(level, None)
            if level == 0:
                found = self.layout.join(found, marks.pop(window, None))
                continue
            before, so_far = self.running.get(level, (block, None))
            so_far = self.layout.join(so_far if before == block else None, marks.pop(window, None))
            self.running[level] = (block, so_far)
            found = self.layout.join(found, so_far)
        return found

    def _after(self, level: int, block: int, window: int) -> Partial:
        """What the marks of a right block from ``window`` on add up to."""
        marks, stop = self.marks[level], (block + 1) << (level - 1)
        fresh = self.entered.get(level) != block
        if fresh or level not in self.order:
            self.order[level] = sorted((at for at in marks if window <= at < stop), reverse=True)
        order = self.order[level]
        if fresh:
            self.entered[level] = block
            after: Partial = None
            for at in order:
                after = marks[at] = self.layout.join(marks[at], after)
        while order and order[-1] < window:
            del marks[order.pop()]
        return marks[order[-1]] if order else None

    @staticmethod
    def _right(level: int, window: int) -> bool:
        """Whether the window is in a right block; across 0 that is the one of the positives."""
        return window >= 0 if level == 64 else bool((window >> (level - 1)) & 1)

    def entries(self) -> Iterable[Entry]:
        """Marks (tag 0), running partials (1) and blocks that are entered (2)."""
        for level, marks in self.marks.items():
            for window, partial in marks.items():
                yield 0, level, window, partial
        for level, (block, partial) in self.running.items():
            yield 1, level, block, partial
        for level, block in self.entered.items():
            yield 2, level, block, None

    def restore(self, entry: Entry) -> None:
        """Into its place."""
        tag, level, place, partial = entry
        self.marks.setdefault(level, {})
        if tag == 0:
            self.marks[level][place] = partial
        elif tag == 1:
            self.running[level] = (place, partial)
        else:
            self.entered[level] = place
