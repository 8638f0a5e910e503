"""The kernels of widening and of episodes: compiled and as plain Python, and on edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.kernels.episodes import occurrences
from fanlight.engine.kernels.widening import KeptLevel, keep_rows, level_windows
from tests.helpers.shown import shown
from tests.kernels.plain import uncompiled

EARLIEST, LATEST = -(2**63), 2**62
places = st.lists(st.tuples(st.integers(0, 2), st.integers(-30, 60)), max_size=40)


def both(kernel, *given):
    """The compiled kernel's answer, after the plain function has given the same."""
    compiled, plain = kernel(*given), uncompiled(kernel, *given)
    for one, other in zip(compiled, plain, strict=True):
        assert np.array_equal(one, other)
    return compiled


@shown(100)
@given(places, st.sampled_from(((1, 0), (2, 1), (6, 2), (8, 4))), st.integers(1, 4))
def test_level_windows_compiled_and_plain(rows, level, most):
    rows.sort()
    codes = np.array([code for code, _ in rows], np.int64)
    times = np.array([time for _, time in rows], np.int64)
    prev, closed = np.array([EARLIEST, -5, 0], np.int64), np.array([LATEST, 20, 40], np.int64)
    due, plain = np.full(3, LATEST), np.full(3, LATEST)
    given = (codes, times, prev, closed, *level, most)
    owners, numbers, ends, ranges = level_windows(*given, due)
    for one, other in zip(
        (owners, numbers, ends, ranges), uncompiled(level_windows, *given, plain), strict=True
    ):
        assert np.array_equal(one, other)
    duration = level[0]
    assert np.array_equal(due, plain)
    assert (due[1:] > closed[1:]).all()
    for owner, number in zip(owners, numbers, strict=True):
        last = (number + 1) * duration - 1
        assert prev[owner] < last <= closed[owner]
    assert all(low < high for low, high in ranges)
    assert list(ends) == sorted(set(ends.tolist()))


@shown(100)
@given(places, st.integers(1, 4), st.booleans(), st.sampled_from((0, 2, 6)))
def test_keep_rows_compiled_and_plain(rows, most, lowest, above):
    rows.sort()
    codes = np.array([code for code, _ in rows], np.int64)
    times = np.array([time for _, time in rows], np.int64)
    closed = np.array([-10, 10, 25], np.int64)
    given = (codes, times, closed, KeptLevel(2, above, most, lowest))
    kept, plain = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    due, plain_due = np.full(3, LATEST), np.full(3, LATEST)
    keep_rows(*given, kept, due)
    keep_rows.__wrapped__(*given, plain, plain_due)
    assert np.array_equal(kept, plain)
    assert np.array_equal(due, plain_due)
    assert kept[times > closed[codes]].all()


def test_nothing_at_all():
    none = np.zeros(0, np.int64)
    mark = np.zeros(1, np.int64)
    due = np.full(1, LATEST)
    arrays = level_windows(none, none, mark, mark, 1, 0, 5, due)
    assert [len(array) for array in arrays] == [0, 0, 0, 0]
    level = KeptLevel(duration=1, above=0, most=5, lowest=True)
    keep_rows(none, none, mark, level, np.zeros(0, np.bool_), due)
    assert due.tolist() == [LATEST]
    table = np.zeros((0, 0), np.int64)
    where = np.zeros((1, 0), np.int64)
    found = occurrences(none, none.astype(np.bool_), table, where, mark, np.ones(1, np.int64), 5)
    assert [len(part) for part in found] == [0, 0, 0]


def test_times_before_1970_lie_in_batches_that_begin_at_multiples():
    times = np.array([-3, -2, -1, 0, 1], np.int64)
    codes, mark = np.zeros(5, np.int64), np.array([EARLIEST], np.int64)
    until = np.array([LATEST], np.int64)
    _, numbers, _, ranges = level_windows(codes, times, mark, until, 2, 0, 9, until.copy())
    assert numbers.tolist() == [-2, -1, 0]
    assert ranges.tolist() == [[0, 1], [0, 3], [1, 5]]


rows_that_may = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 2), st.booleans()), max_size=30
)


@shown(60)
@given(rows_that_may, st.integers(1, 30))
def test_occurrences_compiled_and_plain(rows, most):
    """a(x); b(x) | c(y); d(y)"""
    may = np.array([bits for bits, _, _ in rows], np.int64)
    values = np.array([[value for _, value, _ in rows]], np.int64).reshape(1, len(rows))
    begins = np.array([not n or (new and bits == 0) for n, (bits, _, new) in enumerate(rows)])
    where = np.array([[0, -1], [0, -1], [-1, 0], [-1, 0]], np.int64)
    steps, wholes = np.array([0, 1, 1, 2]), np.array([1, 6, 8])
    first, last, events = both(
        occurrences, may, begins.astype(np.bool_), values, where, steps, wholes, most
    )
    for low, high, chosen in zip(first, last, events, strict=True):
        assert high - low < most
        assert low == chosen.min()
        assert high == chosen.max() == chosen[3]
        assert chosen[0] == low
        assert len(set(chosen.tolist())) == 4
        assert all(may[row] & (1 << event) for event, row in enumerate(chosen))
        assert values[0, chosen[0]] == values[0, chosen[1]]
        assert values[0, chosen[2]] == values[0, chosen[3]]
