"""One key with a third of the rows, beside keys that have equally many."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.ordered import SPECS
from benchmarks.cases.times import RANGE, SLIDE, row
from benchmarks.data import SMALL, SMALL_KEYS, table
from benchmarks.queries import Stream
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import WINDOW, batch, ours, stream, theirs
from fanlight import agg

FEW, MANY = 100, 20_000  # keys: as elsewhere, of sliding windows few, of frames many
FILES = 10
ROWS = 5_000_000  # at most
EVEN, SKEWED = "even", "one key with a third"


def skew(bench):
    """Sliding windows in a batch and in a stream, delta frames in a stream."""
    spark, rows = bench.spark, min(bench.table.rows, ROWS)

    def tables(rows, keys, files):
        return {
            which: table(spark, rows, keys=keys, files=files, skewed=3 * (which == SKEWED))
            for which in (EVEN, SKEWED)
        }

    small = tables(SMALL, SMALL_KEYS, 2)

    def delta(of):
        frames = fl.over(of.stream(spark), SPECS["delta"](), time="ts", by="k")
        found = frames.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("n"))
        return Stream(found.selectExpr(*WINDOW))

    ways = {
        "batch, 60/1": (FEW, batch(spark, ours, RANGE, SLIDE)),
        "batch, tumbling, F.window": (FEW, batch(spark, theirs, SLIDE)),
        "stream, 60/1": (FEW, stream(spark, ours, RANGE, SLIDE)),
        "stream, delta frames": (MANY, delta),
    }
    found = []
    for name, (keys, make) in ways.items():
        large = small if bench.smoke else tables(rows, keys, FILES)

        def entry(which, make=make, large=large):
            def made(of):
                return make((small if of is bench.small else large)[which])

            return Entry(which, made, alone=True)

        best = race([entry(EVEN), entry(SKEWED)], bench, rounds=min(bench.rounds, 2))
        found.append(row(f"skew, {name}, {keys:,} keys", best, SKEWED, EVEN))
    return Result(found)
