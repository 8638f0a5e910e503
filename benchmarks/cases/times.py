"""Windows over time, in a batch and in a stream."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.data import table
from benchmarks.timing import Entry, Result, Row, race
from benchmarks.windows import batch, minutes, ours, stream, theirs

RANGE, SLIDE = minutes(60), minutes(1)
TUMBLING = minutes(1)

ROLLED_UP = (
    "panes are rolled up in a second stage of Spark's, whose shuffle and start cost the same at "
    "any number of rows; less would need an operator that does both, which SQL cannot say"
)
PLAIN = (
    "Spark's own side has become faster since the target was set; ours reads the rows, and groups "
    "them by two numbers"
)
MORE_WINDOWS = (
    "windows of 1,000 minutes begin up to 1,000 minutes before the first row: there are 1.7 times "
    "as many results to give"
)
TWICE = (
    "panes and windows are two stateful aggregations, each with its shuffle and its commit a "
    "micro-batch; less would need one operator for both"
)


def sliding(bench):
    """60 minutes every minute, in a batch."""
    return _sliding(bench, "batch")


def disordered(bench):
    """The same over rows that are in no order."""
    spark, small, large = bench.spark, bench.small, bench.table
    small = table(spark, small.rows, keys=small.keys, files=small.files, ordered=False)
    large = table(spark, large.rows, keys=large.keys, files=large.files, ordered=False)
    return _sliding(replace(bench, small=small, table=large), "batch, no order")


def _sliding(bench, case):
    spark = bench.spark
    slid = [
        Entry("fanlight 60/1", batch(spark, ours, RANGE, SLIDE)),
        Entry("F.window 60/1", batch(spark, theirs, RANGE, SLIDE), slow=True),
    ]
    tumbled = [
        Entry("fanlight tumbling", batch(spark, ours, TUMBLING)),
        Entry("F.window tumbling", batch(spark, theirs, TUMBLING)),
        Entry("fanlight 60/1", slid[0].make, alone=True),
    ]
    one, other = race(slid, bench), race(tumbled, bench)
    return Result(
        [
            row(case, one, "fanlight 60/1", "F.window 60/1", at_least=30, why=PLAIN),
            row(case, other, "fanlight 60/1", "fanlight tumbling", at_most=1.25, why=ROLLED_UP),
            row(case, other, "fanlight tumbling", "F.window tumbling", at_least=2, why=PLAIN),
        ]
    )


def flat(bench):
    """The same slide, longer and longer windows."""
    overlaps = (1, 10, 60, 200, 1000)
    entries = [
        Entry(str(n), batch(bench.spark, ours, minutes(n), SLIDE), alone=True) for n in overlaps
    ]
    best = race(entries, bench)
    lines = [[f"{n:,}", f"{best[str(n)]:.2f}", f"{best[str(n)] / best['1']:.2f}"] for n in overlaps]
    longest = Row(
        "flat",
        "fanlight, RANGE/SLIDE 1000",
        best["1000"],
        "RANGE/SLIDE 1",
        best["1"],
        at_most=1.2,
        why=MORE_WINDOWS,
    )
    title = "Batch, SLIDE 1 minute, longer and longer RANGE"
    return Result([longest], [(title, ["RANGE/SLIDE", "s", "x the time of 1"], lines)])


def streaming(bench):
    """60 minutes every minute, in a stream of micro-batches."""
    spark = bench.spark
    slid = [
        Entry("fanlight 60/1", stream(spark, ours, RANGE, SLIDE)),
        Entry("F.window 60/1", stream(spark, theirs, RANGE, SLIDE), slow=True),
        Entry("fanlight tumbling", stream(spark, ours, TUMBLING), alone=True),
        Entry("F.window tumbling", stream(spark, theirs, TUMBLING), alone=True),
    ]
    best = race(slid, bench, rounds=min(bench.rounds, 2))
    case = "stream"
    return Result(
        [
            row(case, best, "fanlight 60/1", "F.window 60/1", at_least=6, why=PLAIN),
            row(case, best, "fanlight 60/1", "fanlight tumbling", at_most=1.6, why=TWICE),
            row(case, best, "fanlight tumbling", "F.window tumbling"),
        ]
    )


def row(case, best, one, other, **target):
    """A row of the report from the times of a race."""
    return Row(case, one, best[one], other, best[other], **target)
