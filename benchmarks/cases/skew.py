"""One key with a third of the rows, beside keys that have equally many."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.times import RANGE, SLIDE, row
from benchmarks.data import SMALL, SMALL_KEYS, table
from benchmarks.queries import Stream
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import WINDOW, batch, ours, stream, theirs
from fanlight import agg

KEYS, FILES = 20_000, 10
ROWS = 5_000_000  # at most
EVEN, SKEWED = "even", "one key with a third"


def skew(bench):
    """Sliding windows in a batch and in a stream, delta frames in a stream; 20,000 keys."""
    spark, rows = bench.spark, min(bench.table.rows, ROWS)

    def tables(rows, keys, files):
        return {
            which: table(spark, rows, keys=keys, files=files, skewed=which == SKEWED)
            for which in (EVEN, SKEWED)
        }

    small = tables(SMALL, SMALL_KEYS, 2)
    large = small if bench.smoke else tables(rows, KEYS, FILES)

    def delta(of):
        frames = fl.over(of.stream(spark), fl.DeltaFrame({"v": 900.0}), time="ts", by="k")
        found = frames.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("n"))
        return Stream(found.selectExpr(*WINDOW))

    ways = {
        "batch, 60/1": batch(spark, ours, RANGE, SLIDE),
        "batch, tumbling, F.window": batch(spark, theirs, SLIDE),
        "stream, 60/1": stream(spark, ours, RANGE, SLIDE),
        "stream, delta frames": delta,
    }
    found = []
    for name, make in ways.items():

        def entry(which, make=make):
            def made(of):
                return make((small if of is bench.small else large)[which])

            return Entry(which, made, alone=True)

        best = race([entry(EVEN), entry(SKEWED)], bench, rounds=min(bench.rounds, 2))
        found.append(row(f"skew, {name}", best, SKEWED, EVEN))
    return Result(found)
