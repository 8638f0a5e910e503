"""Which window reports a match: by trying every window, and every interval."""

from __future__ import annotations

import numpy as np
import pytest

import fanlight as fl
from fanlight.engine.operators.search import owned_matches, owning_windows
from fanlight.engine.operators.widening import Windows
from fanlight.engine.plan.widening import levels_of
from tests.helpers.widened import owner


def every_window(levels, until):
    for level in levels:
        for batch in range(until // level.duration + 2):
            yield (*level.window_of_batch(batch), level.number, batch)


@pytest.mark.parametrize(
    "spec",
    [
        fl.ProgressiveWidening(1, max_duration=16, max_rows=3),
        fl.ProgressiveWidening(2, max_duration=18, max_rows=3, factor=3),
        fl.ProgressiveWidening([1, 5, 10], max_duration=10, max_rows=3),
    ],
    ids=repr,
)
def test_every_interval_up_to_the_longest_is_covered_and_owned_by_the_first_window(spec):
    """Lemma 1 at every level, by trying every interval."""
    levels = levels_of(spec)
    windows = list(every_window(levels, 80))
    for first in range(40):
        for last in range(first, 60):
            holding = [(end, n, b) for start, end, n, b in windows if start <= first and last < end]
            assert owner(levels, first, last) == (min(holding)[1:] if holding else None)
            mine = owning_windows(levels, np.array([first]), np.array([last]))[:, 0]
            assert tuple(mine) == (min(holding)[1:] if holding else (-1, -1))
            assert holding or last - first > spec.max_duration.value


def page(*given):
    """Windows of level, later batch, first row, row after the last."""
    levels, batches, lows, highs = (np.array(column) for column in zip(*given, strict=True))
    ends = np.arange(1, len(given) + 1)
    return Windows(np.zeros(len(given), int), levels, batches, ends, np.stack([lows, highs], 1))


def test_a_match_is_its_own_key_s():
    """Two keys with rows at 4, 5, 6 and 7, and both with windows that end at the same time."""
    levels = levels_of(fl.ProgressiveWidening(1, max_duration=8, max_rows=10))
    times = np.array([4, 5, 6, 7] * 2)
    both = page((1, 3, 4, 8), (0, 5, 0, 2), (1, 3, 0, 4), (0, 5, 4, 6))
    first, last = np.array([0, 4, 1, 5, 0, 2]), np.array([1, 5, 3, 7, 2, 3])
    mine, windows = owned_matches(both, levels, times, first, last)
    assert mine.tolist() == [0, 1, 2, 3, 4]  # no window of 6 to 7 is in this page
    assert windows.tolist() == [1, 3, 2, 0, 2]


def test_a_match_without_its_window_is_of_another_page():
    levels = levels_of(fl.ProgressiveWidening(1, max_duration=8, max_rows=10))
    times = np.array([4, 5, 4, 5])
    for first, other in (
        (0, page((0, 5, 2, 4))),  # the other key's
        (2, page((0, 5, 0, 2))),
        (0, page((1, 2, 0, 2))),  # of another level, or that ends at another time
        (0, page((0, 6, 0, 2))),
        (0, page((0, 4, 0, 2))),
    ):
        mine, windows = owned_matches(
            other, levels, times, np.array([first]), np.array([first + 1])
        )
        assert not len(mine)
        assert not len(windows)
