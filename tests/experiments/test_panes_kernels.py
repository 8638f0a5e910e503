"""Both ways of the panes paper against brute force, and what they touch against its formulas."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.panes import kernels
from tests.helpers.shown import shown

PRICE = st.floats(-5, 5) | st.just(math.nan)


@st.composite
def streams(draw):
    tuples = draw(st.lists(st.tuples(st.integers(-60, 60), st.integers(0, 3), PRICE), max_size=40))
    tuples.sort(key=lambda row: row[0])
    cut = {
        "range": draw(st.integers(1, 24)),
        "slide": draw(st.integers(1, 24)),
        "offset": draw(st.integers(-9, 9)),
    }
    return tuples, cut


def brute_force(tuples, cut):
    """(window, group) -> values, each tuple looked up in every window that could have it."""
    found = {}
    length, slide, offset = cut["range"], cut["slide"], cut["offset"]
    for time, group, value in tuples:
        for m in range(-200, 200):
            start = offset + m * slide
            if start <= time < start + length:
                found.setdefault((m, group), []).append(value)
    return found


def laid_out(tuples, cut):
    time, group, value = (
        np.array([row[i] for row in tuples], kind)
        for i, kind in ((0, np.int64), (1, np.int64), (2, np.float64))
    )
    return kernels.stream(time, group, **cut), value


def as_dict(answer):
    keys = list(zip(answer.window.tolist(), answer.group.tolist(), strict=True))
    assert len(keys) == len(set(keys))
    assert keys == sorted(keys, key=lambda key: key[0])
    return dict(zip(keys, answer.value.tolist(), strict=True))


def spark_max(values):
    return max(values, key=lambda v: (math.isnan(v), 0.0 if math.isnan(v) else v))


@shown(300)
@given(streams())
def test_max(case):
    expected = {key: repr(spark_max(values) + 0.0) for key, values in brute_force(*case).items()}
    stream, value = laid_out(*case)
    for way in (kernels.windowed_max, kernels.paned_max):
        found = as_dict(way(stream, value))
        assert {key: repr(best + 0.0) for key, best in found.items()} == expected


@shown(300)
@given(streams())
def test_count(case):
    expected = {key: len(values) for key, values in brute_force(*case).items()}
    stream, _ = laid_out(*case)
    for way in (kernels.windowed_count, kernels.paned_count):
        assert as_dict(way(stream)) == expected


@shown(300)
@given(streams())
def test_windows_and_their_rows(case):
    stream, _ = laid_out(*case)
    rows = Counter()
    for (window, _), values in brute_force(*case).items():
        rows[window] += len(values)
    assert dict(zip(stream.window.tolist(), stream.rows.tolist(), strict=True)) == rows


@shown(300)
@given(streams())
def test_touches(case):
    """Max touches each tuple once a window; what is counted in is counted out at most once."""
    stream, value = laid_out(*case)
    tuples, cut = case
    scanned = kernels.windowed_max(stream, value)
    assert scanned.touches.tolist() == stream.rows.tolist()
    paned = kernels.paned_max(stream, value)
    in_windows = [
        (time, group)
        for time, group, _ in tuples
        if (time - cut["offset"]) % cut["slide"] < cut["range"]
    ]
    assert paned.lifted == len(in_windows)
    pane = math.gcd(cut["range"], cut["slide"])
    partials = {((time - cut["offset"]) // pane, group) for time, group in in_windows}
    assert paned.partials == len(partials)
    counted = kernels.paned_count(stream)
    assert (counted.lifted, counted.partials) == (paned.lifted, paned.partials)
    assert paned.partials <= counted.touches.sum() <= 2 * paned.partials


def steady(range_, slide, rate, groups, length=720):
    """``rate`` tuples at each instant, of which each pane has every group."""
    time = np.repeat(np.arange(length), rate)
    return kernels.stream(time, np.arange(len(time)) % groups, range=range_, slide=slide)


@pytest.mark.parametrize(
    ("range_", "slide", "rate", "groups"),
    [(4, 1, 10, 1), (12, 3, 5, 5), (9, 6, 8, 4), (6, 6, 3, 2)],
)
def test_the_formulas_hold_in_every_whole_window(range_, slide, rate, groups):
    stream = steady(range_, slide, rate, groups)
    whole = (stream.window * slide >= slide) & (stream.window * slide + range_ <= 720)
    assert whole.sum() > 50
    pane = math.gcd(range_, slide)
    t, p, g = range_ * rate, range_ // pane, groups
    per_window = {
        "3.1": (kernels.paned_max(stream, np.zeros(len(stream.time))), p * g),
        "3.2": (kernels.paned_count(stream), 2 * g * slide // pane),
        "3.3": (kernels.windowed_max(stream, np.zeros(len(stream.time))), t),
        "3.4": (kernels.windowed_count(stream), 2 * slide * t // range_),
    }
    for answer, touches in per_window.values():
        assert set(answer.touches[whole].tolist()) == {touches}
    for name in ("3.1", "3.2"):  # a * T/P and b * G, a pane
        answer, _ = per_window[name]
        assert answer.lifted == 720 // pane * t // p
        assert answer.partials == 720 // pane * g


def test_a_long_silence_costs_no_windows():
    time = np.array([-(10**15), 0, 10**15])
    stream = kernels.stream(time, range=4, slide=1)
    assert len(stream.window) == 12
    assert kernels.paned_count(stream).value.tolist() == [1] * 12


def test_nothing_in_nothing_out():
    stream = kernels.stream(np.empty(0, np.int64), range=4, slide=1)
    for way in (kernels.windowed_count, kernels.paned_count):
        assert len(way(stream).window) == 0
    for way in (kernels.windowed_max, kernels.paned_max):
        assert len(way(stream, np.empty(0)).window) == 0


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="must never fall"):
        kernels.stream(np.array([2, 1]), range=1, slide=1)
    with pytest.raises(ValueError, match="must be positive"):
        kernels.stream(np.array([1]), range=1, slide=0)
    with pytest.raises(ValueError, match="same length"):
        kernels.stream(np.array([1]), np.array([1, 2]), range=1, slide=1)
    with pytest.raises(ValueError, match="not be negative"):
        kernels.stream(np.array([1]), np.array([-1]), range=1, slide=1)
    with pytest.raises(ValueError, match="same length"):
        kernels.paned_max(kernels.stream(np.array([1]), range=1, slide=1), np.empty(0))
