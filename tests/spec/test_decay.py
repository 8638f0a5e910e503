"""Weights that halve with age: the value, and what levels make of it."""

from __future__ import annotations

import copy
from datetime import timedelta

import pytest

import fanlight as fl

MINUTES = ["10 minutes", "20 minutes", "1 hour"], ["10 minutes"] * 3


@pytest.mark.parametrize(
    ("ranges", "slides", "half_life", "zone", "weights"),
    [
        (*MINUTES, "10 minutes", None, (1, 0.5, 0.25)),
        (*MINUTES, timedelta(minutes=20), None, (1, 0.5**0.5, 0.5)),
        (*MINUTES, "1 microsecond", None, (1, 0, 0)),
        ([10, 20, 60], [10] * 3, 5, None, (1, 0.25, 0.0625)),
        ([0.5, 1.5], [0.5, 0.5], 0.25, None, (1, 0.25)),
        ([fl.Rows(4), fl.Rows(8)], [fl.Rows(2)] * 2, fl.Rows(4), None, (1, 0.5)),
        (["1 day", "1 week"], ["1 day"] * 2, "12 hours", "Europe/Berlin", (1, 0.25)),
        (["1 month", "1 year"], ["1 month"] * 2, "1 quarter", "UTC", (1, 0.5 ** (1 / 3))),
    ],
)
def test_a_level_weighs_what_its_age_says(ranges, slides, half_life, zone, weights):
    """The finest level is new; another is as old as the next finer one is long."""
    spec = fl.MultiGranular(ranges, slides, weights=fl.decay(half_life), zone=zone)
    assert spec.weights == pytest.approx(weights)
    assert spec == fl.MultiGranular(ranges, slides, weights=list(spec.weights), zone=zone)


def test_a_frozen_value():
    one = fl.decay("10 minutes")
    assert one == fl.decay("600 seconds") == fl.decay(timedelta(minutes=10))
    assert hash(one) == hash(fl.decay("600 seconds"))
    assert one not in (fl.decay("11 minutes"), fl.decay(600_000_000), "10 minutes")
    assert repr(one) == "decay('10 minutes')"
    assert repr(fl.decay(fl.Rows(3))) == "decay(Rows(3))"
    assert copy.deepcopy(one) == one
    with pytest.raises(AttributeError):
        one.value = 3


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fl.decay("0 seconds"), "half_life='0 seconds' must be positive; write"),
        (lambda: fl.decay(-1), "half_life=-1 must be positive"),
        (lambda: fl.decay(None), "half_life=None is a NoneType"),
        (lambda: fl.decay("soon"), "half_life='soon'"),
        (lambda: fl.MultiGranular(*MINUTES, weights=fl.decay(3)),
         "is a number, but ranges[0]='10 minutes' is a duration; give the half-life in the same"),
        (lambda: fl.MultiGranular(*MINUTES, weights=fl.decay("1 month")), "is in months, but"),
        (lambda: fl.MultiGranular([1, 2], [1, 1], weights=fl.decay("1 day")), "fl.decay(10)"),
        (lambda: fl.MultiGranular(["1 month", "1 year"], ["1 month"] * 2, zone="UTC",
                                  weights=fl.decay("30 days")), "fl.decay('1 month')"),
        (lambda: fl.MultiGranular(*MINUTES, weights=fl.decay("1 day"), report="continuous"),
         "weights with report='continuous'"),
        (lambda: fl.MultiGranular(*MINUTES, weights="10 minutes"), "or fl.decay(half_life)"),
    ],
)  # fmt: skip
def test_what_is_no_half_life_of_these_levels(make, said):
    with pytest.raises(fl.FanlightError) as caught:
        make()
    assert said in str(caught.value)
