"""Specs: what they read, what they refuse, and that they are values."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.spec.units import MICROSECONDS, parse_duration, write_duration

MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1 microsecond", 1),
        ("7 us", 7),
        ("4 minutes", 4 * MINUTE),
        ("4 MINUTES", 4 * MINUTE),
        ("  90 seconds ", 90_000_000),
        ("interval 1 hour", 60 * MINUTE),
        ("1 hour 30 minutes", 90 * MINUTE),
        ("1 hour, 30 minutes", 90 * MINUTE),
        ("2 hours -30 minutes", 90 * MINUTE),
        ("1.5 milliseconds", 1500),
        ("2 weeks", 14 * 24 * 60 * MINUTE),
        ("1d", 24 * 60 * MINUTE),
    ],
)
def test_durations(text, micros):
    assert fl.Sliding(text).range.value == micros


@given(st.integers(1, 2**61))
def test_a_duration_is_read_as_it_is_spelled(micros):
    assert parse_duration("range", write_duration(micros)) == micros


@given(st.timedeltas(timedelta(microseconds=1), timedelta(days=53_000_000)))
def test_timedeltas_are_exact(length):
    spec = fl.Sliding(length)
    assert spec.range.value == length // timedelta(microseconds=1)
    assert fl.Sliding(write_duration(int(spec.range.value))) == spec


@given(st.decimals(min_value="0.001", max_value=1000, places=3))
def test_numbers_mean_their_decimals(number):
    assert fl.Sliding(float(number)).range.value == Fraction(number)


def test_units_are_multiples():
    sizes = sorted(MICROSECONDS.values())
    assert all(large % small == 0 for small, large in pairwise(sizes))


@pytest.mark.parametrize(
    ("spec", "measure", "tumbling", "by_tuple", "overlap"),
    [
        (fl.Sliding("4 minutes", "1 minute"), "time", False, False, 4),
        (fl.Sliding("9 minutes", "6 minutes"), "time", False, False, Fraction(3, 2)),
        (fl.Sliding("4 minutes"), "time", True, False, 1),
        (fl.Sliding("60 seconds", "1 minute"), "time", True, False, 1),
        (fl.Sliding("1 minute", "4 minutes"), "time", False, False, Fraction(1, 4)),
        (fl.Sliding(fl.Rows(10), fl.Rows(5)), "rows", False, False, 2),
        (fl.Sliding("4 minutes", fl.Rows(1)), "time", False, True, 1),
        (fl.Sliding("4 minutes", fl.Rows(10)), "time", False, True, 1),
        (fl.Sliding(fl.Rows(10), "4 minutes"), "rows", False, False, 1),
        (fl.Sliding(0.3, 0.1), "number", False, False, 3),
    ],
    ids=repr,
)
def test_what_a_spec_says(spec, measure, tumbling, by_tuple, overlap):
    told = (spec.measure, spec.tumbling, spec.slide_by_tuple, spec.overlap)
    assert told == (measure, tumbling, by_tuple, overlap)


def test_specs_are_values():
    spec = fl.Sliding("60 seconds", "1 minute", offset="1 minute")
    same = fl.Sliding("1 minute", timedelta(minutes=1), offset=timedelta(minutes=1))
    assert spec == same
    assert hash(spec) == hash(same)
    assert len({spec, same, fl.Sliding("1 minute"), fl.Sliding(60)}) == 3
    for copied in (copy.copy(spec), copy.deepcopy(spec), pickle.loads(pickle.dumps(spec))):  # noqa: S301
        assert copied == spec
        assert repr(copied) == repr(spec)
    with pytest.raises(AttributeError, match="frozen"):
        spec.range = fl.Sliding("1 hour").range


@pytest.mark.parametrize(
    "spec",
    [
        fl.Sliding("4 minutes", "1 minute"),
        fl.Sliding("4 minutes", offset="-1 minute"),
        fl.Sliding(timedelta(hours=1), timedelta(seconds=1)),
        fl.Sliding(fl.Rows(3), fl.Rows(2), offset=fl.Rows(1)),
        fl.Sliding(0.3, 0.1),
        fl.Sliding("1 hour", fl.Rows(1)),
        fl.Sliding("1 hour", fl.Rows(10), offset=3),
        fl.Sliding(fl.Rows(10), "1 hour", offset="5 minutes"),
        fl.Sliding(fl.Rows(10), 5, offset=2),
    ],
    ids=repr,
)
def test_repr_makes_the_spec(spec):
    names = {"Sliding": fl.Sliding, "Rows": fl.Rows}
    assert eval(repr(spec), names) == spec  # noqa: S307 - our own text


BAD = [
    (lambda: fl.Sliding("0 minutes"), "range='0 minutes'"),
    (lambda: fl.Sliding("-4 minutes"), "range='-4 minutes'"),
    (lambda: fl.Sliding(timedelta(0)), "range=datetime.timedelta(0)"),
    (lambda: fl.Sliding(0), "range=0"),
    (lambda: fl.Sliding(-0.5), "range=-0.5"),
    (lambda: fl.Sliding(float("nan")), "range=nan"),
    (lambda: fl.Sliding(float("inf")), "range=inf"),
    (lambda: fl.Sliding("4 minutes", "0 seconds"), "slide='0 seconds'"),
    (lambda: fl.Sliding("4 minutes", "-1 minute"), "slide='-1 minute'"),
    (lambda: fl.Sliding(4, 0), "slide=0"),
    (lambda: fl.Sliding("soon"), "range='soon'"),
    (lambda: fl.Sliding(""), "range=''"),
    (lambda: fl.Sliding("4"), "range='4'"),
    (lambda: fl.Sliding("4 minutes ago"), "range='4 minutes ago'"),
    (lambda: fl.Sliding("4 fortnights"), "fortnights"),
    (lambda: fl.Sliding("4 minutes", "often"), "slide='often'"),
    (lambda: fl.Sliding("4 minutes", offset="later"), "offset='later'"),
    (lambda: fl.Sliding("0.5 microseconds"), "range='0.5 microseconds'"),
    (lambda: fl.Sliding("1 month"), "range='1 month'"),
    (lambda: fl.Sliding("2 years", "1 day"), "range='2 years'"),
    (lambda: fl.Sliding("30 days", "1 month"), "slide='1 month'"),
    (lambda: fl.Sliding("1 quarter"), "range='1 quarter'"),
    (lambda: fl.Sliding("4 minutes", 1), "slide=1"),
    (lambda: fl.Sliding(4, "1 minute"), "slide='1 minute'"),
    (lambda: fl.Sliding(fl.Rows(10), "1 minute", offset=1), "offset=1"),
    (lambda: fl.Sliding(fl.Rows(10), 5, offset=fl.Rows(2)), "offset=Rows(2)"),
    (lambda: fl.Sliding("4 minutes", fl.Rows(2), offset="1 minute"), "offset='1 minute'"),
    (lambda: fl.Sliding("4 minutes", fl.Rows(2), offset=0.5), "offset=0.5"),
    (lambda: fl.Sliding("4 minutes", fl.Rows(1), offset=1), "offset=1"),
    (lambda: fl.Sliding("4 minutes", fl.Rows(2), closed="right"), "closed='right'"),
    (lambda: fl.Sliding(fl.Rows(2), "4 minutes", closed="both"), "closed='both'"),
    (lambda: fl.Sliding("4 minutes", offset=1), "offset=1"),
    (lambda: fl.Sliding(4, offset="1 minute"), "offset='1 minute'"),
    (lambda: fl.Sliding(fl.Rows(4), offset=0.5), "offset=0.5"),
    (lambda: fl.Sliding("4 minutes", fl.Rows(1), offset="1 minute"), "offset='1 minute'"),
    (lambda: fl.Sliding(None), "range=None"),
    (lambda: fl.Sliding(True), "range=True"),  # noqa: FBT003 - that is the mistake
    (lambda: fl.Sliding(b"4 minutes"), "range=b'4 minutes'"),
    (lambda: fl.Sliding(2**63), f"range={2**63}"),
    (lambda: fl.Sliding("99999999999 weeks"), "range='99999999999 weeks'"),
    (lambda: fl.Rows(0), "Rows(0)"),
    (lambda: fl.Rows(-1), "Rows(-1)"),
    (lambda: fl.Rows(1.0), "Rows(1.0)"),
    (lambda: fl.Rows(True), "Rows(True)"),  # noqa: FBT003
    (lambda: fl.Rows("3"), "Rows('3')"),
]


@pytest.mark.parametrize(("make", "named"), BAD, ids=[named for _, named in BAD])
def test_bad_specs_are_refused_when_made(make, named):
    with pytest.raises(fl.FanlightError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert named in str(caught.value)
    assert ";" in str(caught.value)  # … and what to write instead
