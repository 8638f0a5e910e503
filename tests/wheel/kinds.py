"""Every kind of window, what is asked of it, and how many windows and rows there must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import fanlight as fl
from fanlight import agg


@dataclass(frozen=True)
class Case:
    """``ask`` makes a DataFrame of windows; ``each`` and ``all`` are (windows, rows in them).

    ``each`` is by lane, ``all`` without keys. Rows are the sum of the column ``n``, where there is
    one.
    """

    name: str
    spec: Any
    each: tuple[int, int]
    all: tuple[int, int]
    ask: Callable[[Any], Any] | None = None
    time: Any = "end"
    native: bool = True  # whether a stream of it runs on the state store that Spark comes with
    compiled: bool = False  # whether no plan in Spark SQL gives it in a batch either
    forget_after: str | None = None
    since: tuple[int, int] = (3, 5)  # the first Spark that has it in a batch
    streams_since: tuple[int, int] = (3, 5)  # and in a stream

    def of(self, df, by):
        """The answer over a DataFrame."""
        more = {"time": self.time, "by": by, "forget_after": self.forget_after}
        windows = fl.over(df, self.spec, **more)
        return (self.ask or counted)(windows)


def counted(windows):
    return windows.agg(agg.max("a.b"), agg.median("a.b"), n=agg.count())


def lasting(windows):
    return windows.agg(agg.max("a.b"), n=agg.count())


def filled(windows):
    return windows.with_empty("zero", most=1).agg(n=agg.count())


def approximated(windows):
    return windows.agg(agg.approx_percentile("a.b", 0.5), n=agg.count())


def mine():
    """A user's functions; no worker could import them from here, so they must come along."""

    def pairs(rows):
        """Two of the highest values in a row."""
        ends, values = rows["end"].to_pylist(), rows["a.b"].to_pylist()
        found = pairwise(zip(ends, values, strict=True))
        return [{"first": a, "second": b} for (a, x), (b, y) in found if x == y == 9 and a < b]

    def opens(row, _):
        return row[0] > 4

    def closes(row, _):
        return row[0] < 4

    return pairs, opens, closes


PAIRS, OPENS, CLOSES = mine()


def detected(windows):
    return windows.detect(PAIRS, "first timestamp, second timestamp")


LEVELS = fl.MultiGranular(["1 minute", "5 minutes"], ["1 minute", "5 minutes"])

KINDS = (
    Case("sliding", fl.Sliding("4 minutes", "1 minute"), (42, 96), (21, 96)),
    Case("list", [fl.Sliding("4 minutes", "1 minute"), fl.Sliding("10 minutes")],
         (48, 120), (24, 120)),
    # From half past to half past in UTC; the sentinel's is long after.
    Case("calendar", fl.Calendar("1 hour", zone="Asia/Kolkata"), (2, 24), (1, 24)),
    Case("cumulative", fl.Cumulative("4 minutes", "1 minute"), (28, 60), (14, 60)),
    Case("levels", LEVELS, (30, 48), (15, 48)),
    Case("events", fl.Sliding("1 minute"), (30, 48), (15, 48), time=("begin at", "end")),
    Case("snapshots", fl.Snapshot(merge_equal=True), (42, 60), (21, 60), lasting,
         time=("begin at", "end"), native=False),
    Case("without rows", fl.Sliding("2 minutes", "1 minute"), (36, 48), (18, 48), filled,
         native=False, streams_since=(4, 0)),
    Case("approximate", fl.Sliding("2 minutes"), (12, 24), (6, 24), approximated,
         since=(4, 1), streams_since=(4, 1)),
    Case("recurring", fl.MultiGranular(["2 minutes", "4 minutes"], ["2 minutes", "2 minutes"]),
         (4, 0), (2, 0), lambda w: w.recurring("a.b")),
    Case("rows", fl.Sliding(fl.Rows(4), fl.Rows(2)), (12, 44), (6, 22), native=False),
    Case("at every row", fl.Sliding("4 minutes", fl.Rows(1)), (24, 60), (12, 60), native=False),
    Case("fit", LEVELS, (30, 0), (15, 0), lambda w: w.fit("a.b", filled=True), native=False,
         streams_since=(4, 0)),
    Case("session", fl.Session("3 minutes"), (6, 24), (3, 24), native=False),
    Case("threshold", fl.ThresholdFrame("`a.b` > 4"), (6, 12), (3, 12), native=False),
    Case("boundary", fl.BoundaryFrame({"a.b": [0, 4, 10]}), (12, 24), (6, 24), native=False),
    Case("delta", fl.DeltaFrame({"a.b": 3}), (12, 24), (6, 24), native=False, compiled=True),
    Case("dwelling", fl.ThresholdFrame("`a.b` > 4", enter_for="1 minute"), (6, 12), (3, 12),
         native=False, compiled=True),
    Case("cut short", fl.DeltaFrame({"a.b": 3}, max_rows=2), (14, 24), (12, 24),
         native=False, compiled=True),
    Case("state", fl.StateFrame("a.b"), (16, 24), (8, 24), native=False),
    Case("pattern", fl.PatternFrame("low+ high", {"low": "`a.b` < 4", "high": "`a.b` > 4"},
                                    within="1 hour"), (6, 18), (3, 15),
         native=False, compiled=True),
    Case("aggregate", fl.AggregateFrame(agg.sum("a.b"), 10), (6, 22), (7, 24),
         native=False, compiled=True),
    Case("limit of a row", fl.AggregateFrame(agg.count(), "`a.b` + 1"), (6, 16), (6, 25),
         native=False, compiled=True),
    Case("adapting limit", fl.AggregateFrame(agg.sum("a.b"), "8 + coalesce(mean_rows(2), 0)"),
         (6, 22), (7, 24), native=False, compiled=True),
    Case("forgetting", fl.DeltaFrame({"a.b": 3}), (8, 14), (4, 14), forget_after="2 minutes",
         native=False, compiled=True),
    Case("predicate", fl.PredicateFrame("`a.b` > 4", "`a.b` < 4"), (6, 12), (3, 12),
         native=False, compiled=True),
    Case("functions", fl.PredicateFrame(OPENS, CLOSES, columns=["a.b"]), (6, 12), (3, 12),
         native=False, compiled=True),
    Case("several at once",
         fl.PredicateFrame(OPENS, CLOSES, columns=["a.b"], overlapping=True), (12, 18), (12, 30),
         native=False, compiled=True),
    Case("tagged rows", fl.ThresholdFrame("`a.b` > 4"), (24, 0), (24, 0), lambda w: w.rows(),
         native=False),
    Case("trailing", fl.Trailing("2 minutes"), (24, 42), (24, 84),
         lambda w: w.attach(n=agg.count()), native=False),
    Case("detect", fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=8),
         (2, 0), (1, 0), detected, native=False, compiled=True),
)  # fmt: skip
