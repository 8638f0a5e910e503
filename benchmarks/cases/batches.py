"""Rows on their way to Python, with and without a limit on the bytes of a batch."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.frames import DELTA
from benchmarks.queries import Batch
from benchmarks.sessions import BATCH_BYTES, UNCOUNTED
from benchmarks.timing import Entry, Result, race
from fanlight import agg

SET, DEFAULT = "no limit on bytes", "Spark's default"
CALLS = {"c": agg.count(), "s": agg.sum("v"), "m": agg.max("n")}
SHOWN = ("unix_micros(window.start) as at", "c", "s", "m")


def _frames(spec):
    def made(data):
        windows = fl.over(data, spec, time="ts", by="k").using("arrow")
        return windows.agg(**CALLS).selectExpr("k", *SHOWN)

    return made


def _trailing(data):
    windows = fl.over(data, fl.Trailing("1 hour"), time="ts", by="k").using("arrow")
    return windows.attach(**CALLS).selectExpr("k", "unix_micros(ts) as at", *CALLS)


def _median(data):
    windows = fl.over(data, fl.Sliding("1 hour", "1 minute"), time="ts", by="k").using("ranks")
    return windows.agg(c=agg.median("v")).selectExpr("k", "unix_micros(window.start) as at", "c")


KINDS = {
    "delta frames": _frames(fl.DeltaFrame({"v": DELTA})),
    "sessions": _frames(fl.Session("10 seconds")),
    "features of rows": _trailing,
    "medians": _median,
}


def batches(bench):
    """Windows that Python workers compute, with a limit on the bytes of a batch and without one."""
    found = []
    for kind, make in KINDS.items():

        def entry(name, given, make=make):
            return Entry(name, lambda data: Batch(make(data.read(bench.spark)), given))

        entries = [entry(SET, {BATCH_BYTES: UNCOUNTED}), entry(DEFAULT, {})]
        best = race(entries, bench, rounds=min(bench.rounds, 3))
        found.append(row(f"{kind}, batches", best, SET, DEFAULT))
    return Result(found)
