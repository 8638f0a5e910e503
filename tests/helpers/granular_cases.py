"""Levels and lists of windows to test with."""

from __future__ import annotations

import fanlight as fl

LEVELS = (
    fl.MultiGranular(
        ["4 minutes", "9 minutes", "18 minutes"], ["1 minute", "3 minutes", "6 minutes"]
    ),
    # slides that do not divide one another
    fl.MultiGranular(["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"]),
    fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "4 minutes"], offset="-25 seconds"),
)
SINCE = 1_700_000_000_000_000 - 1_700_000_000_000_000 % 60_000_000 + 120_000_000
BEGUN = fl.MultiGranular(
    ["4 minutes", "9 minutes"], ["2 minutes", "3 minutes"], offset=f"{SINCE} microseconds"
)
CONTINUOUS = fl.MultiGranular(
    ["4 minutes", "9 minutes"],
    ["2 minutes", "3 minutes"],
    report="continuous",
    horizons=["5 minutes", "30 seconds"],
)
AGED = fl.MultiGranular(
    ["4 minutes", "9 minutes", "18 minutes"],
    ["2 minutes", "3 minutes", "6 minutes"],
    weights=[1, 0.5, 0.1],
)
CHANGES = fl.MultiGranular(["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], changes_only=True)
ROWS = (
    fl.MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)]),
    fl.MultiGranular([fl.Rows(2), fl.Rows(6)], [fl.Rows(1), fl.Rows(2)], offset=2),
)
# lengths that are no multiples of the finest slide, of every measure
ENDING = fl.MultiGranular(
    ["4 minutes", "9 minutes"],
    ["2 minutes", "3 minutes"],
    offset=f"{SINCE} microseconds",
    report="continuous",
    horizons=["5 minutes"],
)
ENDING_ROWS = fl.MultiGranular(
    [fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)], report="continuous", horizons=[fl.Rows(5)]
)
ENDING_WHOLE = fl.MultiGranular(
    [4, 9], [2, 3], offset=-3, report="continuous", horizons=[5, 1], changes_only=True
)
ENDING_REAL = fl.MultiGranular([0.4, 0.9], [0.2, 0.3], report="continuous", horizons=[0.25])
WHOLE = fl.MultiGranular([4, 12], [2, 4], offset=-3)
REAL = fl.MultiGranular([0.3, 1.2], [0.1, 0.4])
QUERIES = (
    [
        fl.Sliding("9 minutes", "6 minutes"),
        fl.Sliding("4 minutes", "1 minute"),
        fl.Sliding("2 minutes", "5 minutes", offset="7 seconds"),
    ],
    [fl.Sliding("2 minutes", "5 minutes"), fl.Sliding("1 minute", "5 minutes", offset="1 minute")],
    [fl.Sliding("7 minutes"), fl.Sliding("10 minutes", "4 minutes"), fl.Sliding("70 seconds")],
)
ROW_QUERIES = [fl.Sliding(fl.Rows(5), fl.Rows(3)), fl.Sliding(fl.Rows(4))]

PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
LINEAR = {
    "n": ("count",),
    "n_v": ("count", "v"),
    "s": ("sum", "v"),
    "a": ("avg", "n"),
    "d": ("sum", "d"),
}
STEADY = {"n": ("count",), "m": ("max", "v"), "least": ("min", "s"), "d": ("avg", "d")}


def end_of(granules, coordinate):
    """Where the slice that a coordinate lies in ends."""
    return min(coordinate + every - (coordinate - first) % every for first, every in granules.edges)
