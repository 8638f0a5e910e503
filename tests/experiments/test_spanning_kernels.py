"""Kernels over events that last, against the definition: which windows share an instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.spanning import levels, techniques
from tests.helpers.shown import shown

WAYS = ("levels", *techniques.NAMES)


def run(way, *given, height=3):
    if way == "levels":
        return levels.levels(*given)
    return techniques.run(way, *given, height=height)


def defined(start, stop, value, length, slide):
    """Every window scans every event."""
    windows = {}
    for a, b, x in zip(start, stop, value, strict=True):
        for m in range((a - length) // slide, b // slide + 1):
            low, high = m * slide, m * slide + length
            if (low <= a < high) if a == b else (a < high and low < b):
                windows.setdefault(m, []).append(x)
    return {m: (len(xs), sum(xs), max(xs)) for m, xs in windows.items()}


def agree(found, wanted):
    got = {
        int(m): (int(n), s, x)
        for m, n, s, x in zip(found.window, found.counts, found.sums, found.most, strict=True)
        if n
    }
    assert got.keys() == wanted.keys()
    for m, (n, s, x) in wanted.items():
        assert got[m][0] == n
        assert got[m][1] == pytest.approx(s, abs=1e-9)
        assert got[m][2] == x
    assert all(x == -np.inf for n, x in zip(found.counts, found.most, strict=True) if n == 0)


@st.composite
def streams(draw):
    """Events in some order, the windows over them, and a TTP that is long enough."""
    length = draw(st.integers(1, 20))
    slide = draw(st.integers(1, length))
    longest = draw(st.sampled_from((0, 1, 3, 30, 300)))
    late = draw(st.sampled_from((0, 0, 7)))
    size = draw(st.sampled_from((0, 1, 2, 9, 40)))
    stop = sorted(draw(st.lists(st.integers(-90, 200), min_size=size, max_size=size)))
    lasts = draw(st.lists(st.integers(0, longest), min_size=size, max_size=size))
    shuffled = sorted(range(size), key=lambda i: stop[i] + draw(st.integers(0, late)))
    stops = np.array([stop[i] for i in shuffled], np.int64)
    starts = stops - np.array(lasts, np.int64)
    values = np.array(draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size)), float)
    return starts, stops, values, length, slide, longest + late + 1


@pytest.mark.parametrize("way", WAYS)
@given(given=streams(), height=st.integers(1, 9))
@shown(150)
def test_every_technique(way, given, height):
    found = run(way, *given, height=height)
    assert found.late == 0
    agree(found, defined(*given[:5]))


def walk(size, mean, spread, seed=1):
    """The paper's stream: one event a chronon, durations N(mean, spread)."""
    rng = np.random.default_rng(seed)
    stop = np.arange(size, dtype=np.int64)
    lasts = np.maximum(rng.normal(mean, spread, size).astype(np.int64), 1)
    return stop - lasts, stop, rng.integers(0, 1000, size).astype(float), int(lasts.max()) + 1


@pytest.mark.parametrize(("mean", "length", "slide"), [(700, 50, 10), (90, 47, 6), (5, 300, 30)])
def test_long_streams_agree(mean, length, slide):
    start, stop, value, ttp = walk(5000, mean, mean / 3)
    one = run("levels", start, stop, value, length, slide, ttp)
    for way in techniques.NAMES:
        other = run(way, start, stop, value, length, slide, ttp)
        assert np.array_equal(one.counts, other.counts), way
        assert np.array_equal(one.most, other.most), way
        assert np.allclose(one.sums, other.sums), way


@pytest.mark.parametrize("way", WAYS)
def test_late_events_are_dropped_whole_and_counted(way):
    start = np.array([0, 50, 10, 52], np.int64)
    stop = np.array([5, 100, 100, 101], np.int64)
    value = np.array([1.0, 2.0, 64.0, 4.0])
    found = run(way, start, stop, value, 10, 5, 60)
    assert found.late == 1
    keep = [0, 1, 3]
    agree(found, defined(start[keep], stop[keep], value[keep], 10, 5))


def test_small_values_outlive_large_ones():
    """Nothing is subtracted: sweeping keeps the residue of 1e16, the levels do not."""
    start = np.arange(100, dtype=np.int64)
    stop = start + 7
    value = np.full(100, 1e-3)
    value[10] = 1e16
    swept = run("sweeping", start, stop, value, 10, 5, 20)
    found = run("levels", start, stop, value, 10, 5, 20)
    exact = defined(start, stop, value, 10, 5)
    last = int(found.window[found.counts > 0][-5])
    place = int(np.flatnonzero(found.window == last)[0])
    assert found.sums[place] == pytest.approx(exact[last][1], rel=1e-12)
    assert swept.sums[place] != pytest.approx(exact[last][1], rel=1e-9)


def test_insertions_do_not_grow_with_duration():
    taken = {}
    for mean in (10, 1000, 50_000):
        start, stop, value, ttp = walk(2000, mean * 10, 10)
        taken[mean] = run("levels", start, stop, value, 50, 10, ttp).inserted / 2000
        slices = run("se-slicing", start, stop, value, 50, 10, ttp).inserted / 2000
        assert slices == pytest.approx(mean + 1, rel=0.1)
    assert max(taken.values()) <= 4


@pytest.mark.parametrize(("length", "slide", "ttp"), [(5, 0, 1), (5, 6, 1), (5, 1, -1)])
def test_what_is_no_query(length, slide, ttp):
    none = np.array([], np.int64)
    with pytest.raises(ValueError, match="slide"):
        levels.levels(none, none, np.array([]), length, slide, ttp)
    with pytest.raises(ValueError, match="before its start"):
        levels.levels(np.array([2]), np.array([1]), np.array([0.0]), 5, 1, 1)


def test_levels_fall_idle():
    """What one long event has opened is not read for the short ones that follow."""
    stop = np.arange(1, 20_000, dtype=np.int64)
    value = np.ones(len(stop))
    calm = run("levels", stop - 1, stop, value, 10, 5, 1000)
    windows = len(calm.window)
    assert calm.released <= 2 * (windows + 2)
    for last in (1000, 1700, 2000):  # within a block of the highest level, or across its bounds
        start = stop - 1
        start[last] -= 900
        found = run("levels", start, stop, value, 10, 5, 1000)
        assert found.released - calm.released <= 4 * 256 < windows
