"""Levels: what is taken, and what every refusal names and proposes."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

import fanlight as fl
from fanlight import FanlightError, MultiGranular

R, S = ["1 minute", "10 minutes", "1 hour"], ["10 seconds", "1 minute", "5 minutes"]


def test_levels_are_sliding_windows():
    levels = MultiGranular(R, S).levels
    assert [level.number for level in levels] == [0, 1, 2]
    assert [level.windows for level in levels] == [
        fl.Sliding(r, s) for r, s in zip(R, S, strict=True)
    ]


def test_continuous_levels_have_the_finest_pace():
    spec = MultiGranular(R, S, report="continuous", horizons=["5 minutes", "30 seconds"])
    assert [(one.number, one.windows) for one in spec.levels] == [
        (0, fl.Sliding("1 minute", "10 seconds")),
        (1, fl.Sliding("10 minutes", "10 seconds")),
        (2, fl.Sliding("1 hour", "10 seconds")),
        (1, fl.Sliding("5 minutes", "10 seconds")),
        (0, fl.Sliding("30 seconds", "10 seconds")),
    ]
    assert [one.slide.value // 1_000_000 for one in spec.subwindows] == [10, 60, 300]


def test_continuous_windows_end_at_multiples_whatever_their_length():
    spec = MultiGranular([4, 9], [2, 3], report="continuous", horizons=[5, 1], offset=3)
    assert [one.windows for one in spec.levels] == [
        fl.Sliding(4, 2, offset=3),
        fl.Sliding(9, 2, offset=4),
        fl.Sliding(5, 2, offset=4),
        fl.Sliding(1, 2, offset=4),
    ]
    lengths = [(one.windows.offset.value + one.windows.range.value - 3) % 2 for one in spec.levels]
    assert set(lengths) == {0}
    timed = MultiGranular(R, S, report="continuous", horizons=["61 seconds"])
    assert timed.levels[-1].windows == fl.Sliding("61 seconds", "10 seconds", offset="9 seconds")
    assert str(timed.levels[-1].windows.offset) == "'9 seconds'"


@pytest.mark.parametrize(
    "spec",
    [
        MultiGranular(R, S),
        MultiGranular(R, S, offset="5 hours", changes_only=True),
        MultiGranular(R, S, weights=[1, 0.5, 0.25]),
        MultiGranular(R, S, report="continuous", horizons=["5 minutes"]),
        MultiGranular([fl.Rows(4), fl.Rows(8)], [fl.Rows(2), fl.Rows(4)], offset=3),
        MultiGranular([0.3, 1.2], [0.1, 0.4]),
    ],
    ids=repr,
)
def test_frozen_equal_and_picklable(spec):
    again = pickle.loads(pickle.dumps(spec))  # noqa: S301
    assert again == spec
    assert hash(again) == hash(spec)
    assert spec != MultiGranular(["1 minute", "2 minutes"], ["1 minute", "2 minutes"])
    with pytest.raises(AttributeError, match="frozen"):
        spec.report = "continuous"


def test_equal_lengths_are_equal_however_they_are_written():
    assert MultiGranular([timedelta(minutes=1), "2 minutes"], ["60 seconds", "1 minute"]) == (
        MultiGranular(["60 seconds", "120 seconds"], ["1 minute", "1 minute"])
    )


WRONG = {
    "do not grow": (
        {"ranges": ["1 minute", "1 minute"], "slides": ["10 seconds", "1 minute"]},
        r"ranges\[1\]='1 minute' does not exceed ranges\[0\].*ranges\[1\]='2 minutes'",
    ),
    "widest first": (
        {"ranges": R[::-1], "slides": S[::-1]},
        r"ranges\[1\]='10 minutes'.*finest level first: fl.MultiGranular\(\['1 minute', '10 min",
    ),
    "slides shrink": (
        {"ranges": ["1 minute", "10 minutes"], "slides": ["30 seconds", "10 seconds"]},
        r"slides\[1\]='10 seconds' is shorter than slides\[0\].*slides\[1\]='30 seconds'",
    ),
    "slides shrink later": (
        {
            "ranges": ["1 minute", "10 minutes", "1 hour"],
            "slides": ["10 seconds", "5 minutes", "1 minute"],
        },
        r"slides\[2\]='1 minute' is shorter than slides\[1\].*slides\[2\]='5 minutes'",
    ),
    "no multiple": (
        {"ranges": ["1 minute", "100 minutes"], "slides": ["10 seconds", "7 minutes"]},
        r"ranges\[1\]='100 minutes' is not a multiple of slides\[1\].*ranges\[1\]='98 minutes'",
    ),
    "no multiple, and the nearest is too short": (
        {"ranges": ["1 hour", "61 minutes"], "slides": ["1 minute", "30 minutes"]},
        r"ranges\[1\]='61 minutes'.*ranges\[1\]='90 minutes'",
    ),
    "the finest is no multiple": (
        {"ranges": ["25 seconds", "1 minute"], "slides": ["10 seconds", "1 minute"]},
        r"ranges\[0\]='25 seconds'.*ranges\[0\]='20 seconds'",
    ),
    "unequal lists": ({"ranges": R, "slides": S[:2]}, "3 ranges but 2 slides"),
    "one level": (
        {"ranges": ["1 hour"], "slides": ["1 minute"]},
        r"only one level.*fl.Sliding\('1 hour', '1 minute'\)",
    ),
    "no level": ({"ranges": [], "slides": []}, "lists no level"),
    "no list": ({"ranges": "1 hour", "slides": "1 minute"}, "ranges='1 hour' is not a list"),
    "mixed units": (
        {"ranges": ["1 minute", fl.Rows(10)], "slides": ["10 seconds", fl.Rows(5)]},
        r"ranges\[1\]=Rows\(10\) is a number of rows, but ranges\[0\]",
    ),
    "mixed slides": (
        {"ranges": [10, 20], "slides": [5, "1 minute"]},
        r"slides\[1\]='1 minute' is a duration",
    ),
    "mixed offset": ({"ranges": R, "slides": S, "offset": 7}, "offset=7 is a number"),
    "a month": ({"ranges": ["1 day", "1 month"], "slides": S[:2]}, r"ranges\[1\]='1 month'"),
    "no length": ({"ranges": ["1 minute", True], "slides": S[:2]}, r"ranges\[1\]=True is a bool"),
    "not positive": (
        {"ranges": R, "slides": ["0 seconds", *S[1:]]},
        r"slides\[0\]='0 seconds' must be positive",
    ),
    "no mode": ({"ranges": R, "slides": S, "report": "often"}, "'often' is not a way to report"),
    "no flag": ({"ranges": R, "slides": S, "changes_only": 1}, "changes_only=1"),
    "too few weights": (
        {"ranges": R, "slides": S, "weights": [1, 0.5]},
        r"has 2 weights for 3 levels.*\[1.0, 0.5, 0.33\]",
    ),
    "weights no list": ({"ranges": R, "slides": S, "weights": 0.5}, "weights=0.5 is not a list"),
    "weights below 0": (
        {"ranges": R, "slides": S, "weights": [1, -1, 0]},
        r"weights\[1\]=-1 is not a number of at least 0",
    ),
    "weights not finite": (
        {"ranges": R, "slides": S, "weights": [1, float("nan"), 0]},
        r"weights\[1\]=nan",
    ),
    "weights of levels at odd times": (
        {"ranges": R, "slides": S, "weights": [1, 1, 1], "report": "continuous"},
        "report='periodic'",
    ),
    "too far": (
        {"ranges": R, "slides": S, "report": "continuous", "horizons": ["2 hours"]},
        r"horizons\[0\]='2 hours' reaches beyond.*ranges\[2\]='1 hour'.*horizons\[0\]='1 hour'",
    ),
    "a horizon that is a level": (
        {"ranges": R, "slides": S, "report": "continuous", "horizons": ["10 minutes"]},
        "is already reported",
    ),
    "a horizon of another kind": (
        {"ranges": R, "slides": S, "report": "continuous", "horizons": [7]},
        r"horizons\[0\]=7 is a number",
    ),
    "horizons at no pace": (
        {"ranges": R, "slides": S, "horizons": ["5 minutes"]},
        "add report='continuous'",
    ),
    "horizons no list": (
        {"ranges": R, "slides": S, "report": "continuous", "horizons": "5 minutes"},
        "horizons='5 minutes' is not a list",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(FanlightError, match=message):
        MultiGranular(**given)
