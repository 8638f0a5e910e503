"""Cumulative windows as values: what they are equal to, how they are kept, and what is refused."""

from __future__ import annotations

import pickle

import pytest

import fanlight as fl

RIGHT = [
    fl.Cumulative("1 day", "1 hour"),
    fl.Cumulative("1 day", "1 hour", offset="30 minutes"),
    fl.Cumulative("1 day", "1 hour", zone="UTC"),
    fl.Cumulative("1 month", "1 day", zone="Europe/Berlin"),
    fl.Cumulative("1 month", "1 day", zone=None),
    fl.Cumulative("1 year", "1 month", zone="UTC", offset="3 months"),
    fl.Cumulative("1 week", "1 day", zone="UTC", week_starts="sunday"),
    fl.Cumulative(10, 2.5),
    fl.Sliding("1 day", "1 hour"),
    fl.Sliding("1 day", "1 hour", closed="right"),
    fl.Calendar("1 day", "1 hour", zone="UTC"),
]


def test_no_two_are_equal_and_each_is_kept_as_it_is():
    assert len(set(RIGHT)) == len(RIGHT)
    for one in RIGHT:
        again = pickle.loads(pickle.dumps(one))  # noqa: S301 - made here
        assert (again, hash(again), repr(again), type(again)) == (
            one, hash(one), repr(one), type(one),
        )  # fmt: skip
        assert eval(repr(one), vars(fl).copy()) == one  # noqa: S307 - made here


@pytest.mark.parametrize(
    ("given", "more", "said"),
    [
        (("1 day", "5 hours"), {}, "does not divide it"),
        (("1 hour", "1 day"), {}, "does not divide it"),
        (("1 month", "7 days"), {"zone": "UTC"}, "does not divide every month"),
        (("1 day", "1 month"), {"zone": "UTC"}, "mixes in hours"),
        (("1 day", 3), {}, "mixes a duration with a number"),
        ((fl.Rows(3), 1), {}, "counts rows"),
        (("1 day", "1 hour"), {"offset": 3}, "is a number, but range='1 day' is a duration"),
        (("1 day", "1 hour"), {"zone": "Berlin"}, "is not a time zone"),
        (("1 week", "1 day"), {"week_starts": "sunday"}, "counted from Thursday"),
        (("1 day", "-1 hour"), {}, "must be positive"),
    ],
)
def test_what_is_refused(given, more, said):
    with pytest.raises(fl.FanlightError, match=said):
        fl.Cumulative(*given, **more)
