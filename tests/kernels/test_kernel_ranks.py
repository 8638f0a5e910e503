"""Ranks counted in ranges, and which rows windows hold: against sorting each range."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.kernels import ranks, windows
from tests.helpers.shown import shown

RANKS = st.lists(st.integers(-1, 9), min_size=1, max_size=30)
GRIDS = st.tuples(st.integers(1, 12), st.integers(1, 9), st.integers(-3, 3))


@st.composite
def ranges(draw):
    """Ranks of rows, and ranges of which neither end moves back."""
    rows = draw(RANKS)
    ends = st.lists(st.integers(0, len(rows)), min_size=1, max_size=20).map(sorted)
    some = draw(ends)
    pairs = [(low, draw(st.integers(low, len(rows)))) for low in some]
    highest = np.maximum.accumulate([high for _, high in pairs])
    return np.array(rows), np.array(some), highest


def there(found, low, high):
    return sorted(int(one) for one in found[low:high] if one >= 0)


@shown(300)
@given(ranges())
def test_places(drawn):
    found, lo, hi = drawn
    wanted = np.tile([-1, 0, 1, 4], (len(lo), 1))
    got = ranks.range_places(found, lo, hi, wanted)
    for low, high, line in zip(lo, hi, got, strict=True):
        values = [*there(found, low, high), *[-1] * 5]
        assert line.tolist() == [-1, values[0], values[1], values[4]]


@shown(300)
@given(ranges(), st.integers(1, 3))
def test_frequent_and_best_and_distinct(drawn, often):
    found, lo, hi = drawn
    best, most = ranks.range_mode(found, lo, hi)
    ends, frequent, counts = ranks.range_frequent(found, lo, hi, np.full(len(lo), often))
    distinct = ranks.range_distinct(found, lo, hi)
    begins = [0, *ends[:-1]]
    for i, (low, high) in enumerate(zip(lo, hi, strict=True)):
        values = Counter(there(found, low, high))
        first = min(values, key=lambda one: (-values[one], one), default=-1)
        assert (best[i], most[i]) == (first, values[first])
        assert distinct[i] == len(values)
        own = slice(begins[i], ends[i])
        wanted = [(one, values[one]) for one in sorted(values) if values[one] >= often]
        assert list(zip(frequent[own], counts[own], strict=True)) == wanted


@pytest.mark.parametrize("at_once", [1, 3, 100_000])
@shown(300)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-40, 40)), min_size=1).map(sorted), GRIDS)
def test_windows_hold_the_rows_between_their_ends(at_once, rows, grid):
    keys, times = (np.array(part) for part in zip(*rows, strict=True))
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    length, slide, offset = grid
    got = [
        line
        for some in windows.windows_with_rows(times, begins, grid, at_once)
        for line in zip(*(part.tolist() for part in some), strict=True)
    ]
    wanted = []
    for number, begin in enumerate(begins.tolist()):
        own = [at for at in range(len(rows)) if keys[at] == keys[begin]]
        for start in range(offset - 60 * slide, 60 * slide, slide):
            held = [at for at in own if start <= times[at] < start + length]
            if held:
                wanted.append((number, start, held[0], held[-1] + 1))
    assert got == wanted
