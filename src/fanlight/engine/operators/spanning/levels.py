"""Ours: two entries for each event in dyadic intervals, whatever its duration."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique


class Levels(Technique):
    """The windows of an event end one dyadic interval and begin the next: so it has two entries.

    ``power`` is the order of the smallest dyadic interval that contains both; its halves are the
    left and the right interval. A window has the entries before it in a left interval (kept as one
    running partial) and those after it in a right one (combined from its end when it is entered).
    Here these are called marks: entries are those of a snapshot.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.marks: dict[int, dict[int, Partial]] = {}  # power: {window: partial}
        self.running: dict[int, tuple[int, Partial]] = {}  # power: (left interval, so far)
        self.combined: dict[int, int] = {}  # power: the right interval whose marks are combined
        self.order: dict[int, list[int]] = {}  # of that interval: its marks, the next one last

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Two marks; one where the event is in one window only."""
        lowest, highest = self.layout.windows(first, last)
        if lowest > highest:
            return
        power = (lowest ^ highest).bit_length() if (lowest ^ highest) >= 0 else 64
        for window in {lowest, highest}:
            self._add_mark(power, window, partial)

    def _add_mark(self, power: int, window: int, partial: Partial) -> None:
        marks = self.marks.setdefault(power, {})
        marks[window] = self.layout.combine(marks.get(window), partial)

    def release(self, window: int) -> Partial:
        """One partial for each power."""
        found: Partial = None
        for power, marks in self.marks.items():
            interval = window >> max(power - 1, 0)
            if power and self._is_right(power, window):
                self.running.pop(power, None)
                found = self.layout.combine(found, self._combine_marks_from(power, interval, window))
                continue
            if power in self.combined:
                del self.combined[power]
                for at in [at for at in marks if at < window]:
                    del marks[at]
                self.order.pop(power, None)
            if power == 0:
                found = self.layout.combine(found, marks.pop(window, None))
                continue
            before, so_far = self.running.get(power, (interval, None))
            so_far = self.layout.combine(
                so_far if before == interval else None, marks.pop(window, None)
            )
            self.running[power] = (interval, so_far)
            found = self.layout.combine(found, so_far)
        return found

    def _combine_marks_from(self, power: int, interval: int, window: int) -> Partial:
        """The marks of a right interval from ``window`` on, combined."""
        marks, stop = self.marks[power], (interval + 1) << (power - 1)
        fresh = self.combined.get(power) != interval
        if fresh or power not in self.order:
            self.order[power] = sorted((at for at in marks if window <= at < stop), reverse=True)
        order = self.order[power]
        if fresh:
            self.combined[power] = interval
            after: Partial = None
            for at in order:
                after = marks[at] = self.layout.combine(marks[at], after)
        while order and order[-1] < window:
            del marks[order.pop()]
        return marks[order[-1]] if order else None

    @staticmethod
    def _is_right(power: int, window: int) -> bool:
        """Whether the window is in a right interval; across 0 that is the positive one."""
        return window >= 0 if power == 64 else bool((window >> (power - 1)) & 1)

    def entries(self) -> Iterable[Entry]:
        """Marks (kind 0), running partials (1) and intervals that are entered (2)."""
        for power, marks in self.marks.items():
            for window, partial in marks.items():
                yield 0, power, window, partial
        for power, (interval, partial) in self.running.items():
            yield 1, power, interval, partial
        for power, interval in self.combined.items():
            yield 2, power, interval, None

    def restore(self, entry: Entry) -> None:
        """Into its place."""
        kind, power, place, partial = entry
        self.marks.setdefault(power, {})
        if kind == 0:
            self.marks[power][place] = partial
        elif kind == 1:
            self.running[power] = (place, partial)
        else:
            self.combined[power] = place
