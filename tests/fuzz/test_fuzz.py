"""Queries that nobody wrote: a few in every run, always the same; ``make fuzz`` draws more."""

from __future__ import annotations

from functools import cache, partial

import pytest
from hypothesis import given, seed, settings

import fanlight as fl
from tests.fuzz.queries import HOW, batches
from tests.fuzz.streamed import streams
from tests.fuzz.verdict import verdict
from tests.helpers.events import ONE_AT_A_TIME, unmixed

BATCHES, STREAMS = range(16), range(2)
MORE_BATCHES, MORE_STREAMS = range(16, 36), range(2, 4)  # for ``make law``


@cache
def drawn(what, number):
    """The third query of a seed: the first is always the simplest there is."""
    found = []

    @seed(number)
    @settings(HOW, max_examples=3)
    @given(what())
    def collect(ask):
        found.append(ask)

    with ONE_AT_A_TIME, unmixed():
        collect()
    return found[-1]


def numbers(asked, thorough):
    more = [pytest.param(number, marks=pytest.mark.thorough) for number in thorough]
    return pytest.mark.parametrize("number", [*asked, *more])


@numbers(BATCHES, MORE_BATCHES)
def test_batches(runner, number):
    ask = drawn(batches, number)
    assert verdict(ask, partial(runner.run, ask)) in ("right", "refused")


@pytest.mark.streaming
@pytest.mark.slow
@numbers(STREAMS, MORE_STREAMS)
def test_streams(runner, number):
    ask = drawn(streams, number)
    assert verdict(ask, partial(runner.run, ask)) in ("right", "refused")


def test_a_wrong_answer_is_seen():
    ask = drawn(batches, 0)
    assert verdict(ask, lambda: [{"n": 1}]).startswith("wrong")


def test_only_strategies_that_are_forced_may_be_refused():
    def refused():
        raise fl.FanlightError("no")

    ask = drawn(batches, 0)
    assert verdict(ask.again(strategy="native"), refused) == "refused"
    assert verdict(ask.again(strategy="auto"), refused).startswith("refused 'auto'")
