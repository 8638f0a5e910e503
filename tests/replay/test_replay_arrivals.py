"""When rows arrive, and which have by now: beside plain Python, and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.io.replay.source import Clock, Disorder, compute_arrivals
from tests.helpers.shown import shown
from tests.replay.by_hand import arrival

TIMES = st.lists(st.integers(-(2**50), 2**50), max_size=40)
DISORDERS = st.builds(
    Disorder,
    most=st.integers(0, 2**40),
    late=st.sampled_from([0.0, 0.25, 1.0]),
    late_by=st.integers(1, 2**40),
    seed=st.integers(-5, 2**70),
)


@shown(200)
@given(TIMES, DISORDERS)
def test_arrivals_are_those_of_the_formula(times, disorder):
    found = compute_arrivals(np.array(times, np.int64), disorder)
    assert found.tolist() == [arrival(t, n, disorder) for n, t in enumerate(times)]


@shown(100)
@given(TIMES, DISORDERS)
def test_a_row_comes_after_its_time_and_no_later_than_it_may(times, disorder):
    delays = compute_arrivals(np.array(times, np.int64), disorder) - np.array(times, np.int64)
    most = disorder.most + (disorder.late_by if disorder.late else 0)
    assert all(0 <= delay <= most for delay in delays.tolist())


@shown(100)
@given(TIMES, st.integers(0, 2**30), st.integers(0, 99))
def test_a_watermark_of_the_disorder_loses_no_row(times, most, seed):
    """Whatever the micro-batches: each row may be one."""
    found = compute_arrivals(np.array(times, np.int64), Disorder(most, seed=seed))
    newest = -(2**63)
    for n in np.argsort(found, kind="stable"):
        assert times[n] >= newest - most
        newest = max(newest, times[n])


def test_the_share_of_late_rows_and_the_spread_are_as_asked():
    found = compute_arrivals(
        np.zeros(100_000, np.int64), Disorder(1_000, late=0.1, late_by=500, seed=3)
    )
    late = found > 1_000
    assert 0.09 < late.mean() < 0.11
    assert (found[late].min(), found[late].max()) == (1_001, 1_500)
    assert (found[~late].min(), found[~late].max()) == (0, 1_000)
    assert 480 < found[~late].mean() < 520
    other = compute_arrivals(
        np.zeros(100_000, np.int64), Disorder(1_000, late=0.1, late_by=500, seed=4)
    )
    assert (found == other).mean() < 0.01


class Time:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


def test_event_time_runs_so_much_faster_than_the_clock(time):
    clock = Clock(np.array([10, 10, 20, 30, 45]) * 1_000_000, 10.0, time)
    assert clock.count_arrived(0) == 2
    time.now += 0.9999
    assert clock.count_arrived(2) == 2
    time.now = 101.0
    assert clock.count_arrived(2) == 3
    time.now = 1e300
    assert clock.count_arrived(3) == 5
    assert clock.count_arrived(5) == 5


def test_a_clock_begins_with_the_row_that_is_next(time):
    clock = Clock(np.array([0, 10, 3_600]) * 1_000_000, 1.0, time)
    assert clock.count_arrived(2) == 3
    assert Clock(np.array([0, 10]) * 1_000_000, 1.0, time).count_arrived(1) == 2
    assert Clock(np.zeros(0, np.int64), 1.0, time).count_arrived(0) == 0


def test_a_row_that_was_played_stays_played(time):
    clock = Clock(np.array([0, 10, 20]) * 1_000_000, 1.0, time)
    clock.count_arrived(0)
    assert clock.count_arrived(2) == 2
