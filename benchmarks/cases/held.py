"""Readings that hold beyond the edge of a window, compared with the same windows without."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, race
from fanlight import agg

WINDOWS = {"an hour": ("1 hour", "1 hour"), "an hour every 20 minutes": ("1 hour", "20 minutes"),
           "an hour every minute": ("1 hour", "1 minute")}  # fmt: skip
DEEP = "an hour every minute"  # without, each window goes through its readings: one turn is enough


def measured(df, window, carry):
    """Count, sum and mean over time by key."""
    windows = fl.over(df, fl.Sliding(*window), time="ts", by="k")
    mean = agg.time_weighted_avg("v", carry=carry)
    found = windows.agg(n=agg.count(), s=agg.sum("v"), mean=mean)
    return found.selectExpr("k", "window.start as start", "n", "s", "mean")


def held(bench):
    """Means over time, with readings carried into windows and without, in a batch."""
    rows = []
    for name, window in WINDOWS.items():

        def batch(carry, window=window):
            return lambda of: Batch(measured(of.read(bench.spark), window, carry))

        entries = [
            Entry("carried", batch("1 hour"), alone=True),
            Entry("plain", batch(None), alone=True, slow=name == DEEP),
        ]
        best = race(entries, bench)
        rows.append(row(f"mean over time, {name}", best, "carried", "plain", at_most=1.3))
    return Result(rows)
