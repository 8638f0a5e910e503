"""Which window of a page reports a match, so that each is reported once, and what it searches.

Of all windows that hold the match's first and last instant, it is the one that ends first; among
windows that end together, the one of the lowest level. Arithmetic finds it: at the lowest level at
which the two instants lie in the same or in neighbouring batches, it is the window that ends with
the later batch. So a window searches only the runs of rows that no earlier window had whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.pages import Windows
from fanlight.engine.plan.widening import Level


def owning_windows(levels: Sequence[Level], first: Ints, last: Ints) -> Ints:
    """The window that reports each match: its level and later batch; -1 if no window holds it.

    >>> from fanlight.engine.plan.widening import levels_of
    >>> from fanlight.engine.spec.widening import ProgressiveWidening
    >>> levels = levels_of(ProgressiveWidening(1, max_duration=8, max_rows=10))
    >>> owning_windows(levels, np.array([3, 3, 0]), np.array([4, 5, 100])).tolist()
    [[0, 1, -1], [4, 2, -1]]
    """
    windows = np.full((2, len(first)), -1, np.int64)
    for level in reversed(levels):
        batch = last // level.duration
        near = batch - first // level.duration <= 1
        windows[0, near], windows[1, near] = level.number, batch[near]
    return windows


def owned_matches(
    windows: Windows, levels: Sequence[Level], times: Ints, first: Ints, last: Ints
) -> tuple[Ints, Ints]:
    """The matches that the windows of a page report, and the window number of each.

    ``first`` and ``last`` are row numbers. Each key may have a window of the wanted level and
    batch; the one that holds these rows is that of the match's key.
    """
    wanted = owning_windows(levels, times[first], times[last])
    rows, window = len(times), np.full(len(first), -1, np.int64)
    lows = windows.ranges[windows.starts, 0]
    highs = windows.ranges[windows.ends - 1, 1]
    for level in levels:
        asked = np.flatnonzero(wanted[0] == level.number)
        there = np.flatnonzero(windows.levels == level.number)
        if not len(there):
            continue
        batches, place = np.unique(windows.batches[there], return_inverse=True)
        begins = place * rows + lows[there]
        order = np.argsort(begins)
        # Of the windows with the wanted batch, the last that begins no later than the match.
        wished = np.minimum(np.searchsorted(batches, wanted[1, asked]), len(batches) - 1)
        at = np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) - 1
        window[asked] = there[order[np.maximum(at, 0)]]
    same = (wanted == [windows.levels[window], windows.batches[window]]).all(axis=0)
    holds = (window >= 0) & same & (lows[window] <= first) & (last < highs[window])
    reported = np.flatnonzero(holds)
    return reported, window[reported]


@dataclass(frozen=True)
class Runs:
    """Runs sorted by window: the number of the window, the first row, the row after the last."""

    owners: Ints
    lows: Ints
    highs: Ints

    def lengths(self, window: int) -> Ints:
        """The number of rows in each run of a window."""
        mine = slice(*np.searchsorted(self.owners, (window, window + 1)))
        lengths: Ints = self.highs[mine] - self.lows[mine]
        return lengths

    def new_runs(
        self, windows: Windows, times: Ints, levels: Sequence[Level]
    ) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The windows that may hold new matches, by number, each with the runs to search."""
        mine = owning_windows(levels, times[self.lows], times[self.highs - 1])
        new = mine == [windows.levels[self.owners], windows.batches[self.owners]]
        chosen = np.flatnonzero(new.all(axis=0))
        runs = list(zip(self.lows[chosen].tolist(), self.highs[chosen].tolist(), strict=True))
        numbers, begins = np.unique(self.owners[chosen], return_index=True)
        ends = np.append(begins, len(runs))[1:]
        bounds = zip(numbers.tolist(), begins.tolist(), ends.tolist(), strict=True)
        for number, first, last in bounds:
            yield number, runs[first:last]


def runs_of(windows: Windows, gaps: Ints) -> Runs:
    """All runs of windows; ``gaps`` are the numbers of rows before which rows are missing."""
    low, high = windows.ranges.T
    first, last = np.searchsorted(gaps, low + 1), np.searchsorted(gaps, high)
    cuts = last - first
    of = np.repeat(np.arange(len(low)), cuts + 1)
    at = np.arange(len(of)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
    # A gap is added at either end, so that the lookups below always find one.
    around = np.concatenate([[0], gaps, [0]])
    lows = np.where(at == 0, low[of], around[first[of] + at])
    highs = np.where(at == cuts[of], high[of], around[first[of] + at + 1])
    ranges = windows.ends - windows.starts
    return Runs(np.repeat(np.arange(len(windows)), ranges)[of], lows, highs)
