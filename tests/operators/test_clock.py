"""Clocks of operators, by one unit after the other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight.engine.operators.clock import MICROSECONDS, Clock
from fanlight.engine.operators.protocol import COMPLETE
from fanlight.engine.spec.errors import FanlightError

LAST = 40


@st.composite
def clocks(draw):
    """A clock, and when each of its units begins; some begin before earlier ones."""
    firsts = [0, *sorted(draw(st.sets(st.integers(1, LAST), max_size=4)))]
    step = draw(st.sampled_from([1, 10]))
    bases = [0, *(draw(st.integers(-25, 25)) for _ in firsts[1:])]
    begins = [n * step + bases[sum(first <= n for first in firsts) - 1] for n in range(LAST + 100)]
    return Clock(tuple(firsts), tuple(bases), step), begins


@given(clocks(), st.integers(0, 10 * LAST + 40))
def test_a_unit_is_passed_when_it_and_all_before_it_have_begun(both, at):
    clock, begins = both
    begun = 0
    while begun < len(begins) and begins[begun] <= at:
        begun += 1
    if begun < len(begins):
        assert clock.number(at) == begun - 1
    passed = [max(begins[: n + 1]) for n in range(LAST)]
    assert clock.instant(np.arange(LAST)).tolist() == passed


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True), st.integers(-60, 60))
def test_units_may_be_of_any_length(begins, at):
    begins.sort()
    clock = Clock(tuple(range(len(begins))), tuple(begins), 0, until=1000)
    assert clock.instant(np.arange(len(begins))).tolist() == begins
    if at < begins[-1]:
        assert clock.number(at) == sum(begin <= at for begin in begins) - 1


def test_microseconds_are_what_they_are():
    for at in (-5, 0, 7):
        assert MICROSECONDS.number(at) == at
        assert MICROSECONDS.instant(np.array([at])).tolist() == [at]
    assert MICROSECONDS.number(COMPLETE) > 2**60


def test_what_it_has_computed_stays_behind():
    clock = Clock((0, 5), (0, 3), 1)
    assert clock.number(4) == 4
    copied = pickle.loads(pickle.dumps(clock))  # noqa: S301
    assert copied == clock
    assert set(vars(copied)) == {"firsts", "bases", "step", "until"}


def test_what_is_not_known_is_an_error():
    clock = Clock((0, 1), (0, 10), 0, until=10)
    assert clock.number(9) == 0
    with pytest.raises(FanlightError, match=r"only what is before 1970-01-01T00:00:00\.000010 is"):
        clock.number(10)
