"""The runs of rows that a search is given: nothing is missing in one, and no window had it before.

Found for all windows of a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fanlight.engine.operators.owners import owners
from fanlight.engine.operators.pages import Windows
from fanlight.engine.operators.tables import Ints
from fanlight.engine.plan.widening import Level


@dataclass(frozen=True)
class Runs:
    """Runs in order of their windows: the number of the window, first row, row after the last."""

    owners: Ints
    lows: Ints
    highs: Ints

    def lengths(self, window: int) -> Ints:
        """How many rows each run of a window has."""
        mine = slice(*np.searchsorted(self.owners, (window, window + 1)))
        lengths: Ints = self.highs[mine] - self.lows[mine]
        return lengths

    def new(
        self, windows: Windows, times: Ints, levels: Sequence[Level]
    ) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Windows that may hold something new, by their numbers, and in which rows."""
        mine = owners(levels, times[self.lows], times[self.highs - 1])
        new = mine == [windows.levels[self.owners], windows.batches[self.owners]]
        kept = np.flatnonzero(new.all(axis=0))
        runs = list(zip(self.lows[kept].tolist(), self.highs[kept].tolist(), strict=True))
        numbers, begins = np.unique(self.owners[kept], return_index=True)
        ends = np.append(begins, len(runs))[1:]
        found = zip(numbers.tolist(), begins.tolist(), ends.tolist(), strict=True)
        for number, first, last in found:
            yield number, runs[first:last]


def runs_of(windows: Windows, gaps: Ints) -> Runs:
    """All runs of windows; ``gaps`` are the numbers of rows before which others are missing."""
    low, high = windows.ranges.T
    first, last = np.searchsorted(gaps, low + 1), np.searchsorted(gaps, high)
    cuts = last - first
    of = np.repeat(np.arange(len(low)), cuts + 1)
    at = np.arange(len(of)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
    # One gap more at either end, so that there is one to look at where there is none.
    around = np.concatenate([[0], gaps, [0]])
    lows = np.where(at == 0, low[of], around[first[of] + at])
    highs = np.where(at == cuts[of], high[of], around[first[of] + at + 1])
    ranges = windows.ends - windows.starts
    return Runs(np.repeat(np.arange(len(windows)), ranges)[of], lows, highs)
