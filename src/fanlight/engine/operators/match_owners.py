"""Decides which window reports a match, so that each match is reported once.

Of all windows that hold the match's first and last instant, it is the one that ends first; among
windows that end together, the one of the lowest level. Arithmetic finds it: at the lowest level at
which the two instants lie in the same or in neighbouring batches, it is the window that ends with
the later batch.
"""

from __future__ import annotations

from collections.abc import Sequence

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
