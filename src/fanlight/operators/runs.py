"""The runs of rows that a search is given: nothing is missing in one, and no window had it before.

Found for all windows of a page at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fanlight.operators.pages import Windows
from fanlight.operators.tables import Ints
from fanlight.plan.widening import Level

Run = tuple[int, int]  # rows [low, high)


def new_runs(
    windows: Windows, times: Ints, gaps: Ints, levels: Sequence[Level]
) -> Iterator[tuple[int, list[Run]]]:
    """Windows that may hold something new, by their numbers, and in which of their runs.

    ``gaps`` are the numbers of rows before which others are missing.
    """
    owners, lows, highs = _runs(windows, gaps)
    mine = _reported(times[lows], times[highs - 1], levels)
    new = mine == [windows.levels[owners], windows.batches[owners]]
    kept = np.flatnonzero(new.all(axis=0))
    owners, runs = owners[kept], list(zip(lows[kept].tolist(), highs[kept].tolist(), strict=True))
    edges = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else owners
    numbers, begins = owners[edges].tolist(), edges.tolist()
    for number, first, last in zip(numbers, begins, [*begins[1:], len(runs)], strict=True):
        yield number, runs[first:last]


def _runs(windows: Windows, gaps: Ints) -> tuple[Ints, Ints, Ints]:
    """All runs: the window of each, its first row, and the row after its last."""
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
    return np.repeat(np.arange(len(windows)), ranges)[of], lows, highs


def _reported(first: Ints, last: Ints, levels: Sequence[Level]) -> Ints:
    """Level and batch of the window that reports rows from one instant to another; or -1.

    It is ``owner`` of many.
    """
    found = np.full((2, len(first)), -1, np.int64)
    for level in reversed(levels):
        batch = last // level.duration
        near = batch - first // level.duration <= 1
        found[0, near], found[1, near] = level.number, batch[near]
    return found
