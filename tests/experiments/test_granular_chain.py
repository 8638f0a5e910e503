"""The stairwise chain over arrays, against windows cut out of the whole array."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from experiments.multi_granular import chain, chain_states

LEVELS = {
    "one level": ([5], [1]),
    "paper, figure 4": ([4, 8, 16], [1, 2, 4]),
    "seconds, minutes": ([60, 600, 3600], [10, 60, 300]),
    "equal paces": ([3, 7, 20], [1, 1, 1]),
    "node of one granule": ([2, 4], [1, 2]),
}
REDUCED = {"sum": np.sum, "min": np.min, "max": np.max}


def windows(values, levels, reduce):
    """Every level at every slide, half-filled at the start."""
    return [
        [reduce(values[max(0, end - span) : end]) for end in range(pace, len(values) + 1, pace)]
        for span, pace in zip(levels.spans, levels.paces, strict=True)
    ]


@pytest.mark.parametrize("way", [chain.chained, chain.searched])
@pytest.mark.parametrize("op", REDUCED)
@pytest.mark.parametrize("given", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_every_level_reports_its_window(way, op, given, kind):
    levels = chain.stairs(*given)
    values = np.random.default_rng(7).integers(-1000, 1000, 5000).astype(kind)
    reports = way(values, levels, op)
    for got, expected in zip(reports.levels, windows(values, levels, REDUCED[op]), strict=True):
        assert got.dtype == kind
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_fewer_granules_than_a_window(rows):
    reports = chain.chained(np.arange(rows), chain.stairs([4, 8], [1, 2]), "sum")
    assert [len(level) for level in reports.levels] == [rows, rows // 2]


def test_granules_without_rows():
    values = np.array([chain.identity("max"), 2.0, chain.identity("max"), 1.0])
    found = chain.chained(values, chain.stairs([2, 4], [1, 2]), "max").levels
    assert found[0].tolist() == [-np.inf, 2.0, 2.0, 1.0]
    assert found[1].tolist() == [2.0, 2.0]


def test_nan_is_the_greatest():
    values = np.array([1.0, np.nan, 3.0, 2.0, 1.0])
    levels = chain.stairs([2], [1])
    most, least = (chain.chained(values, levels, op).levels[0] for op in ("max", "min"))
    np.testing.assert_array_equal(most, [1, np.nan, np.nan, 3, 2])
    np.testing.assert_array_equal(least, [1, 1, 3, 2, 1])


def test_large_values_leave_nothing_behind():
    values = np.full(200, 1e-3)
    values[::17] = 1e15
    levels = chain.stairs([4, 16], [1, 4])
    found = chain.chained(values, levels, "sum").levels
    for got, expected in zip(found, windows(values, levels, np.sum), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)
    taken_out = chain.searched(values, levels, "sum").levels  # the paper's way keeps a residue
    assert not np.allclose(taken_out[0], found[0], rtol=1e-9)


@pytest.mark.parametrize("order", ["random", "up", "down", "equal"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_constant_work_a_granule_whatever_the_order(op, order):
    """Searching costs O(window) a granule where each extreme leaves at once; the stacks do not."""
    touched = {}
    for span in (64, 1024):
        values = np.random.default_rng(1).normal(size=20_000)
        values = {"up": np.sort(values), "down": np.sort(values)[::-1], "equal": values * 0}.get(
            order, values
        )
        levels = chain.stairs([span, 4 * span], [1, 4])
        touched[span] = [
            way(values, levels, op).touched / len(values) for way in (chain.chained, chain.searched)
        ]
    assert touched[1024][0] <= touched[64][0] + 0.1 <= 7.2
    if (op, order) in {("max", "down"), ("min", "up")}:
        assert touched[1024][1] > 8 * touched[64][1]


@pytest.mark.parametrize(
    ("spans", "paces"),
    [
        ([4, 4], [1, 2]), ([4, 2], [1, 2]), ([4, 9], [1, 2]), ([4, 9], [2, 3]), ([3, 8], [1, 2]),
        ([2, 4], [2, 4]),
        ([], []), ([4], [0]), ([4, 8], [1]),
    ],
)  # fmt: skip
def test_levels_that_are_no_stairs(spans, paces):
    with pytest.raises(ValueError, match=r"span|levels"):
        chain.stairs(spans, paces)


def test_what_is_held_is_bounded_by_the_widest_level():
    levels = chain.stairs([60, 600, 3600], [10, 60, 300])
    assert levels.room.tolist() == [6, 9, 10]
    assert levels.held == 25 + 10 + 6 + 5  # core nodes; buffers of 10, 6 and 5
    apart = sum(span for span in (60, 600, 3600))
    assert levels.held < apart / 90


def test_wrong_types_are_refused():
    levels = chain.stairs([4], [1])
    with pytest.raises(TypeError, match="int64 or float64"):
        chain.chained(np.zeros(4, np.float32), levels, "sum")
    with pytest.raises(TypeError, match="rows of words"):
        chain_states.recurring(np.zeros(4, np.uint64), levels)


@pytest.mark.parametrize("given", LEVELS.values(), ids=LEVELS)
def test_trend_lines(given):
    levels = chain.stairs(*given)
    rng = np.random.default_rng(3)
    values = 1e9 + np.cumsum(rng.normal(size=4000))
    values[:7] = np.nan
    found = chain_states.fitted(values, levels)
    for lines, span, pace in zip(found, levels.spans, levels.paces, strict=True):
        for number in rng.integers(0, len(lines), 20):
            end = (number + 1) * pace
            begin = max(0, end - span)
            window = values[begin:end]
            known = ~np.isnan(window)
            if known.sum() < 2:
                assert np.isnan(lines[number]).all()
                continue
            x, y = np.arange(len(window))[known], window[known]
            slope, middle = np.polyfit(x - x.mean(), y - y.mean(), 1)
            intercept = y.mean() + middle - slope * x.mean()
            r2 = np.corrcoef(x, y)[0, 1] ** 2
            np.testing.assert_allclose(lines[number], [slope, intercept, r2], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("items", [1, 64, 130])
@pytest.mark.parametrize("given", LEVELS.values(), ids=LEVELS)
def test_recurring_items(given, items):
    levels = chain.stairs(*given)
    granules, pairs = 4 * int(levels.spans[-1]) + 3, 4 * int(levels.spans[-1])
    rng = np.random.default_rng(items)
    granule, item = np.sort(rng.integers(0, granules, pairs)), rng.integers(0, items, pairs)
    found = chain_states.recurring(chain_states.words(granule, item, granules, items), levels)
    pace = int(levels.paces[-1])
    assert len(found) == granules // pace
    for number, row in enumerate(found):
        end = (number + 1) * pace
        cuts = [end, *(end - span for span in levels.spans)]
        rings = [
            set(item[(granule >= low) & (granule < high)].tolist()) for high, low in pairwise(cuts)
        ]
        got = {i for i in range(items) if row[i // 64] >> np.uint64(i % 64) & np.uint64(1)}
        assert got == set.intersection(*rings)


@pytest.mark.parametrize("far", [1e3, 1e9, -1e9])
def test_trend_lines_keep_their_digits(far):
    """Against least squares in extended precision, after a million instants and far from zero."""
    t = np.arange(1_000_000)
    values = far + 1e-3 * t + t * 7919 % 1000 / 100.0
    levels = chain.stairs([3600, 86_400, 86_400 * 11], [60, 3600, 86_400])
    for lines, span, pace in zip(
        chain_states.fitted(values, levels), levels.spans, levels.paces, strict=True
    ):
        end = len(values) // pace * pace
        y = values[end - span : end].astype(np.longdouble)
        x = np.arange(span) - np.longdouble(span - 1) / 2
        middle = y.mean()
        slope = (x * (y - middle)).sum() / (x * x).sum()
        r2 = slope * (x * (y - middle)).sum() / ((y - middle) ** 2).sum()
        expected = [slope, middle - slope * np.longdouble(span - 1) / 2, r2]
        np.testing.assert_allclose(lines[-1], np.array(expected, float), rtol=1e-10)
