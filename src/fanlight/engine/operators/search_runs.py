"""The runs of rows to search: no row is missing inside a run, and no earlier window had it whole.

Computed for all windows of a page at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fanlight.engine.operators.arrow_tables import Ints
from fanlight.engine.operators.match_owners import owning_windows
from fanlight.engine.operators.pages import Windows
from fanlight.engine.plan.widening import Level


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
