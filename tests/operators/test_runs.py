"""The runs of windows, found for a page at a time."""

from __future__ import annotations

import numpy as np

from fanlight.engine.operators.search import runs_of
from fanlight.engine.operators.widening import Windows
from fanlight.engine.plan.widening import levels_of
from fanlight.engine.spec.widening import ProgressiveWidening

LEVELS = levels_of(ProgressiveWidening(1, max_duration=8, max_rows=10))
TIMES = np.array([0, 1, 2, 3, 4, 5])


def windows(*given):
    """Windows of one key: level, later batch, ranges of rows."""
    levels, batches, ranges = zip(*given, strict=True)
    ends = np.cumsum([len(some) for some in ranges])
    flat = np.array([one for some in ranges for one in some]).reshape(-1, 2)
    return Windows(np.zeros(len(given), int), np.array(levels), np.array(batches), ends, flat)


def new(found, gaps):
    return list(runs_of(found, np.array(gaps, int)).new_runs(found, TIMES, LEVELS))


def test_a_run_ends_where_rows_are_missing_and_where_a_range_ends():
    asked = windows((2, 1, [(0, 3), (3, 6)]), (2, 1, [(1, 6)]))
    found = runs_of(asked, np.array([0, 2, 3]))
    assert found.owners.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.lows.tolist() == [0, 2, 3, 1, 2, 3]
    assert found.highs.tolist() == [2, 3, 6, 2, 3, 6]
    assert found.lengths(0).tolist() == [2, 1, 3]
    assert found.lengths(1).tolist() == [1, 1, 3]


def test_a_run_is_new_in_the_window_that_reports_it():
    both = windows((0, 4, [(3, 5)]), (1, 2, [(2, 6)]))
    assert new(both, [0]) == [(0, [(3, 5)]), (1, [(2, 6)])]
    assert new(both, [0, 4]) == [(0, [(4, 5)])]


def test_a_page_may_have_nothing_new():
    assert new(windows((1, 2, [(3, 5)])), [0]) == []
