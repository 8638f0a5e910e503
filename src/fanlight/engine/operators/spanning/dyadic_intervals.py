"""A technique of this library: two marks in dyadic intervals for an event of any duration."""

from __future__ import annotations

from collections.abc import Iterable

from fanlight.engine.operators.spanning.technique import Entry, Layout, Partial, Technique


class DyadicIntervals(Technique):
    """An event's windows are a suffix of one dyadic interval and a prefix of the next: two marks.

    One mark is at the event's first window, one at its last. ``power`` is the order of the smallest
    dyadic interval that contains both; its halves are the left and the right interval. A window
    has the events whose marks are up to it in a left interval (kept as one running partial), and
    from it on in a right one (combined from the end when the first window of it is released).
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.marks: dict[int, dict[int, Partial]] = {}  # power: {window: partial}
        self.running: dict[int, tuple[int, Partial]] = {}  # power: (left interval, partial so far)
        self.combined: dict[int, int] = {}  # power: the right interval with combined marks
        self.order: dict[int, list[int]] = {}  # power: the windows of its marks, in reverse

    def insert(self, first: int, last: int, partial: Partial) -> None:
        """Add two marks; only one if the event is in one window."""
        lowest, highest = self.layout.windows_of_event(first, last)
        if lowest > highest:
            return
        power = (lowest ^ highest).bit_length() if (lowest ^ highest) >= 0 else 64
        for window in {lowest, highest}:
            self._add_mark(power, window, partial)

    def _add_mark(self, power: int, window: int, partial: Partial) -> None:
        marks = self.marks.setdefault(power, {})
        marks[window] = self.layout.combine(marks.get(window), partial)

    def release_window(self, window: int) -> Partial:
        """Combine one partial of each power."""
        total: Partial = None
        for power, marks in self.marks.items():
            interval = window >> max(power - 1, 0)
            if power and self._is_right(power, window):
                self.running.pop(power, None)
                after = self._combine_marks_from(power, interval, window)
                total = self.layout.combine(total, after)
                continue
            if power in self.combined:
                del self.combined[power]
                for at in [at for at in marks if at < window]:
                    del marks[at]
                self.order.pop(power, None)
            if power == 0:
                total = self.layout.combine(total, marks.pop(window, None))
                continue
            before, so_far = self.running.get(power, (interval, None))
            so_far = self.layout.combine(
                so_far if before == interval else None, marks.pop(window, None)
            )
            self.running[power] = (interval, so_far)
            total = self.layout.combine(total, so_far)
        return total

    def _combine_marks_from(self, power: int, interval: int, window: int) -> Partial:
        """The combined marks of a right interval from ``window`` on; drops the ones before."""
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
        """Whether a window is in a right interval; at power 64 that is the one from 0 on."""
        return window >= 0 if power == 64 else bool((window >> (power - 1)) & 1)

    def entries(self) -> Iterable[Entry]:
        """Marks (kind 0), running partials (1) and the combined right intervals (2)."""
        for power, marks in self.marks.items():
            for window, partial in marks.items():
                yield 0, power, window, partial
        for power, (interval, partial) in self.running.items():
            yield 1, power, interval, partial
        for power, interval in self.combined.items():
            yield 2, power, interval, None

    def restore_entry(self, entry: Entry) -> None:
        """Add it where its kind says."""
        kind, power, place, partial = entry
        self.marks.setdefault(power, {})
        if kind == 0:
            self.marks[power][place] = partial
        elif kind == 1:
            self.running[power] = (place, partial)
        else:
            self.combined[power] = place
