"""Sliding range reductions against brute force: every range computed anew, in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fanlight.engine.kernels.ranges import range_max, range_min, range_sum
from tests.helpers.shown import shown

SMALL = st.integers(-3, 3)
LONG = st.integers(-(2**63), 2**63 - 1)
DOUBLE = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]), st.floats(width=64)
)
UNEVEN = st.sampled_from([1e16, -1e16, 1.0, -1.0, 0.1, 1e-9, 3e8])


@st.composite
def cases(draw, element, dtype):
    values = draw(st.lists(element, max_size=30))
    n = len(values)
    valid = draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    ranges = draw(st.integers(0, 40))
    ends = st.lists(st.integers(0, n), min_size=ranges, max_size=ranges).map(sorted)
    mask = None if valid is None else np.array(valid, bool)
    return np.array(values, dtype), mask, draw(ends), draw(ends)


def inside(values, valid, lo, hi):
    """The valid values of each range, as Python numbers."""
    mask = [True] * len(values) if valid is None else valid.tolist()
    kept = list(zip(values.tolist(), mask, strict=True))
    return [[v for v, ok in kept[a:b] if ok] for a, b in zip(lo, hi, strict=True)]


def reduced(function, case):
    values, valid, lo, hi = case
    result, seen = function(values, valid, np.array(lo, np.int64), np.array(hi, np.int64))
    assert result.dtype == values.dtype
    rows = inside(*case)
    assert len(result) == len(seen) == len(rows)
    assert seen.dtype == np.bool_
    return result.tolist(), seen.tolist(), rows


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


@shown(300)
@given(cases(LONG, np.int64))
@example((np.array([2**63 - 1, 1, -1]), None, [0], [3]))  # too great on the way only
def test_sum_of_integers(case):
    exact = [sum(values) for values in inside(*case)]
    if all(-(2**63) <= total < 2**63 for total in exact):
        result, seen, rows = reduced(range_sum, case)
        assert result == exact
        assert seen == [bool(values) for values in rows]
    else:
        with pytest.raises(OverflowError):
            reduced(range_sum, case)


def test_an_overflow_names_its_rows():
    values = np.array([5, 2**62, 2**62, 1])
    with pytest.raises(OverflowError, match="rows 1 to 2 "):
        range_sum(values, None, np.array([0, 1, 2]), np.array([1, 3, 4]))
    total, _ = range_sum(-values, None, np.array([1]), np.array([3]))
    assert total.tolist() == [-(2**63)]


def plain_sum(values):
    """What a sum of doubles is: fsum, except where it is infinite, NaN or too great."""
    if any(not math.isfinite(v) for v in values):
        return float(np.sum(np.array(values)))
    return math.fsum(values)


@shown(300)
@given(cases(UNEVEN, np.float64))
def test_sum_of_doubles_of_very_different_size(case):
    result, seen, rows = reduced(range_sum, case)
    for total, there, values in zip(result, seen, rows, strict=True):
        assert there == bool(values)
        exact = math.fsum(values)
        error = (len(values) * 2.0**-53) ** 2 * math.fsum(map(abs, values))
        assert abs(total - exact) <= 2.0**-52 * abs(exact) + error


@shown(300)
@given(cases(st.sampled_from([1.5, -2.0, math.nan, math.inf, -math.inf, 1e308]), np.float64))
def test_sum_of_doubles_that_are_not_finite(case):
    result, _, rows = reduced(range_sum, case)
    for total, values in zip(result, rows, strict=True):
        if sum(v == 1e308 for v in values) < 2:  # else the order of the rows decides
            assert same(total, plain_sum(values))


@pytest.mark.parametrize("values", [[1e16, 1.0, -1e16], [1.0, 1e16, -1e16], [-1e16, 1e16, 1.0]])
@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_small_values_are_not_lost_beside_large_ones(values, cut):
    """Wherever the turning point is: before, between or behind the values."""
    padded = np.array([0.5] * 4 + values)
    lo, hi = np.array([3, 4]), np.array([4 + cut, 7])
    assert range_sum(padded, None, lo, hi)[0][1] == 1.0


def test_a_large_value_leaves_nothing_behind():
    values = np.ones(1000)
    values[500] = 1e300
    lo = np.arange(990)
    result, _ = range_sum(values, None, lo, lo + 10)
    apart = (lo > 500) | (lo + 10 <= 500)
    assert set(result[apart].tolist()) == {10.0}


def spark_key(value):
    return (math.isnan(value), 0.0 if math.isnan(value) else value)


@pytest.mark.parametrize(("function", "pick"), [(range_min, min), (range_max, max)])
@shown(300)
@given(st.one_of(cases(SMALL, np.int64), cases(LONG, np.int64), cases(DOUBLE, np.float64)))
def test_extremes(function, pick, case):
    result, seen, rows = reduced(function, case)
    for best, there, values in zip(result, seen, rows, strict=True):
        assert there == bool(values)
        if values:
            assert same(best, pick(values, key=spark_key))


def test_nan_is_the_greatest():
    values, lo, hi = np.array([math.nan, 1.0, math.nan]), np.array([0, 1, 2]), np.array([2, 3, 3])
    assert range_min(values, None, lo, hi)[0][:2].tolist() == [1.0, 1.0]
    assert math.isnan(range_min(values, None, lo, hi)[0][2])
    assert np.isnan(range_max(values, None, lo, hi)[0]).all()


@pytest.mark.parametrize("function", [range_sum, range_min, range_max])
@pytest.mark.parametrize("values", [np.arange(100), np.arange(100) / 7])
def test_read_only_and_strided_arrays(function, values):
    lo, hi = np.arange(90), np.arange(90) + 10
    expected = function(values, None, lo, hi)
    frozen = values.copy()
    frozen.setflags(write=False)
    strided = np.repeat(values, 2)[::2]
    for other in (frozen, strided):
        result = function(other, np.ones(100, bool), lo.astype(np.int32), hi)
        assert [part.tolist() for part in result] == [part.tolist() for part in expected]


@pytest.mark.parametrize("function", [range_sum, range_min, range_max])
def test_arguments_that_would_read_past_the_end(function):
    values = np.arange(5)
    for lo, hi in [([-1], [2]), ([0], [6]), ([2, 1], [3, 3]), ([0, 1], [3, 2])]:
        with pytest.raises(ValueError, match="must never fall and stay between 0 and 5"):
            function(values, None, np.array(lo), np.array(hi))
    with pytest.raises(ValueError, match="of the same length"):
        function(values, np.ones(4, bool), np.array([0]), np.array([1]))
    with pytest.raises(TypeError, match="int64 or float64"):
        function(values.astype(np.float32), None, np.array([0]), np.array([1]))


def test_time_does_not_grow_with_the_range():
    """Rows in long ranges are visited as often as in short ones; quadratic would not come back."""
    n = 400_000
    values, hi = np.arange(n) / 3, np.arange(n) + 1
    lo = np.maximum(hi - n // 2, 0)
    result, _ = range_sum(values, None, lo, hi)
    assert result[-1] == pytest.approx(values[n // 2 :].sum(), rel=1e-12)
    assert range_max(values, None, lo, hi)[0].tolist() == values.tolist()
