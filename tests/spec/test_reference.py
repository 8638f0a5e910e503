"""The oracle itself, on examples done by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal

import pytest

import fanlight as fl
from tests.oracle import rejected, sliding

NAN, INF = float("nan"), float("inf")
WHOLE = fl.Sliding(10)


def one(values, *request, spec=WHOLE, **columns):
    """The aggregate of one window over values at times 0, 1, 2, …"""
    rows = [
        {"t": at, "x": value, **{name: given[at] for name, given in columns.items()}}
        for at, value in enumerate(values)
    ]
    (found,) = sliding(rows, spec, time="t", aggregates={"a": request})
    return found["a"]


def starts(times, spec, **more):
    rows = [{"t": time} for time in times]
    found = sliding(rows, spec, time="t", aggregates={"n": ("count",)}, **more)
    return [(row["window"]["start"], row["window"]["end"], row["n"]) for row in found]


@pytest.mark.parametrize(
    ("times", "spec", "expected"),
    [
        ([0], fl.Sliding(4, 2), [(-2, 2, 1), (0, 4, 1)]),
        ([4], fl.Sliding(4, 2), [(2, 6, 1), (4, 8, 1)]),
        ([-1], fl.Sliding(4, 4), [(-4, 0, 1)]),
        ([1, 5, 7], fl.Sliding(2, 5), [(0, 2, 1), (5, 7, 1)]),
        ([3, 4], fl.Sliding(2, 5), []),
        ([0, 9], fl.Sliding(9, 6, offset=1), [(-5, 4, 1), (1, 10, 1), (7, 16, 1)]),
        ([0.3], fl.Sliding(0.1), [(0.3, 0.4, 1)]),
        ([0.1 + 0.2], fl.Sliding(0.1), [(0.3, 0.4, 1)]),
        ([math.nextafter(0.3, 0)], fl.Sliding(0.1), [(0.2, 0.3, 1)]),
        ([7, 7, 8], fl.Sliding(fl.Rows(2)), [(0, 2, 2), (2, 4, 1)]),
        ([7, 8], fl.Sliding(fl.Rows(2), fl.Rows(1)), [(-1, 1, 1), (0, 2, 2), (1, 3, 1)]),
        ([5, 5, 7], fl.Sliding("3 microseconds", fl.Rows(1)), [(3, 6, 2), (5, 8, 3)]),
        ([None, NAN, INF], fl.Sliding(1), []),
        ([], fl.Sliding(1), []),
    ],
)  # fmt: skip
def test_windows(times, spec, expected):
    assert starts(times, spec) == expected


def test_unfinished_windows_of_rows_can_be_left_out():
    spec = fl.Sliding(fl.Rows(2), fl.Rows(1))
    assert starts([7, 8], spec, unfinished=False) == [(-1, 1, 1), (0, 2, 2)]


def test_datetimes_are_microseconds():
    times = [datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1, tzinfo=UTC)]
    spec = fl.Sliding("1 second")
    assert starts(times, spec) == [(-1_000_000, 0, 1), (0, 1_000_000, 1)]


@pytest.mark.parametrize(
    ("values", "request_", "expected"),
    [
        ([1, None, 2], ("sum", "x"), 3),
        ([None], ("sum", "x"), None),
        ([1e16, 1.0, -1e16], ("sum", "x"), 1.0),
        ([INF, -INF], ("sum", "x"), NAN),
        ([INF, 1.0], ("avg", "x"), INF),
        ([Decimal("0.10"), Decimal("0.25")], ("sum", "x"), Decimal("0.35")),
        ([Decimal("0.10"), Decimal("0.25"), Decimal("0.25")], ("avg", "x"), Decimal("0.200000")),
        ([1, 2], ("avg", "x"), 1.5),
        ([None, 1], ("count", "x"), 1),
        ([None, 1], ("count",), 2),
        ([1.0, NAN], ("max", "x"), NAN),
        ([1.0, NAN], ("min", "x"), 1.0),
        (["é", "z"], ("max", "x"), "é"),
        ([1.0], ("var_samp", "x"), None),
        ([1.0], ("var_pop", "x"), 0.0),
        ([NAN], ("var_pop", "x"), NAN),
        ([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16], ("var_samp", "x"), 30.0),
        ([1.0, 3.0], ("stddev_pop", "x"), 1.0),
        ([None, 5], ("first", "x"), None),
        ([None, 5], ("first", "x", True), 5),
        ([5, None], ("last", "x"), None),
        ([1, 1, None, NAN, NAN], ("count_distinct", "x"), 2),
        ([3, None, 1], ("collect_list", "x"), [3, 1]),
        ([None], ("collect_list", "x"), []),
        (["b", None, "a"], ("listagg", "x", "-"), "b-a"),
        ([None], ("listagg", "x"), None),
        ([1, 2, 4, 8], ("median", "x"), 3.0),
        ([1, 2, 4, 8], ("percentile", "x", [0.0, 0.75, 1.0]), [1.0, 5.0, 8.0]),
        ([1, 2, 4, 8, NAN], ("approx_percentile", "x", 0.5), 2),
        ([2, 1, 2, 1, 3], ("mode", "x"), 1),
        ([None], ("mode", "x"), None),
        (["b", "a", "b", "c", "a", None], ("heavy_hitters", "x", 0.4), [("a", 2), ("b", 2)]),
        ([1, 3, 3, NAN], ("max_count", "x"), 1),
        ([1, 1, 3, None], ("min_count", "x"), 2),
        ([None], ("min_count", "x"), 0),
        ([3, 1, 1, None], ("nth_smallest", "x", 3), 3),
        ([3, 1, 1], ("nth_smallest", "x", 4), None),
        ([3, None, 1, None], ("nth_youngest", "x", 2), 3),
        ([1.0, 3.0, None, 7.0], ("linear_fit", "x"), (2.0, 1.0, 1.0)),
        ([4.0, 4.0], ("linear_fit", "x"), (0.0, 4.0, 1.0)),
        ([4.0], ("linear_fit", "x"), None),
        ([2.0, None, 5.0, 1.0], ("integral", "x"), 9.0),
        ([2.0], ("integral", "x"), 0.0),
        ([None], ("integral", "x"), None),
        ([2.0, None, 5.0, 1.0], ("time_weighted_avg", "x"), 3.0),
        ([2.0], ("time_weighted_avg", "x"), 2.0),
        ([40.0, None, 50.0, 6.0, 7.0], ("rate", "x"), 4.25),
        ([40.0], ("rate", "x"), None),
    ],
)  # fmt: skip
def test_aggregates(values, request_, expected):
    found = one(values, *request_)
    assert found == expected or math.isnan(found) is math.isnan(expected) is True
    assert type(found) is type(expected)


def test_extreme_rows():
    columns = {"y": [2, 1, 1, 2, None]}
    assert one(list("abcde"), "min_by", "x", "y", **columns) == "b"
    assert one(list("abcde"), "max_by", "x", "y", **columns) == "d"


def test_ties_in_time_are_settled_by_tiebreak_then_value():
    rows = [{"t": 0, "q": q, "x": x} for q, x in [(1, "c"), (0, "b"), (0, "a"), (None, "z")]]
    requests = {"l": ("collect_list", "x"), "f": ("first", "x")}
    (found,) = sliding(rows, WHOLE, time="t", tiebreak=["q"], aggregates=requests)
    assert (found["l"], found["f"]) == (["z", "a", "b", "c"], "z")
    (found,) = sliding(rows, WHOLE, time="t", aggregates=requests)
    assert found["l"] == ["a", "b", "c", "z"]


def test_a_null_key_is_a_key():
    rows = [{"t": 0, "k": key} for key in (None, "a", None)]
    found = sliding(rows, WHOLE, time="t", by=["k"], aggregates={"n": ("count",)})
    assert [(row["k"], row["n"]) for row in found] == [(None, 2), ("a", 1)]


def test_rejected_rows():
    rows = [{"t": None}, {"t": 1.0}, {"t": NAN}, {"t": INF}]
    assert [row["reason"] for row in rejected(rows, time="t")] == [
        *("t is null", "t is NaN", "t is infinite"),
    ]
