"""Several horizons at once: levels of granularity, sets of queries, recurring items."""

from __future__ import annotations

from benchmarks.cases.times import row
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, Row, race
from benchmarks.windows import batch, levels, ours, ours_apart, stream, theirs_apart

HORIZONS = (("1 minute", "10 seconds"), ("10 minutes", "1 minute"), ("1 hour", "5 minutes"))
# Levels that end at the same widest one: 1 hour, every 5 minutes.
EIGHT = (
    *HORIZONS[:1],
    *(("3 minutes", "30 seconds"), ("10 minutes", "1 minute"), ("16 minutes", "2 minutes")),
    *(("24 minutes", "2 minutes"), ("36 minutes", "4 minutes"), ("48 minutes", "4 minutes")),
    ("60 minutes", "4 minutes"),
)
TWO = (EIGHT[0], EIGHT[-1])
COARSER = (
    "the levels share one pass over the rows; each coarser one is a stage of Spark's over the "
    "pieces of the finer, whose start costs the same at any number of rows"
)


def several(bench):
    """1 minute every 10 seconds, 10 minutes every minute, 1 hour every 5 minutes, in a batch."""
    spark = bench.spark
    best = race(
        [
            Entry("fanlight 3 levels", batch(spark, levels, HORIZONS)),
            Entry("fanlight 3 windows apart", batch(spark, ours_apart, HORIZONS)),
            Entry("3 F.window queries", batch(spark, theirs_apart, HORIZONS), slow=True),
            Entry("fanlight finest alone", batch(spark, ours, *HORIZONS[0]), alone=True),
        ],
        bench,
    )
    case, mine = "levels", "fanlight 3 levels"
    return Result(
        [
            row(case, best, mine, "fanlight finest alone", at_most=1.25, why=COARSER),
            row(case, best, mine, "3 F.window queries", at_least=8, why=COARSER),
            row(case, best, mine, "fanlight 3 windows apart"),
        ]
    )


def shape(bench):
    """More levels, and wider ones."""
    spark = bench.spark
    wide = (HORIZONS[0], ("10 hours", "5 minutes"))
    narrow = (HORIZONS[0], ("1 hour", "5 minutes"))
    entries = {"2 levels": TWO, "8 levels": EIGHT, "1 hour": narrow, "10 hours": wide}
    best = race(
        [Entry(name, batch(spark, levels, given), alone=True) for name, given in entries.items()],
        bench,
    )
    case = "levels, shape"
    return Result(
        [
            row(case, best, "8 levels", "2 levels", at_most=1.3, why=COARSER),
            row(case, best, "10 hours", "1 hour"),
        ]
    )


def streamed(bench):
    """The same three horizons in a stream."""
    spark = bench.spark
    best = race(
        [
            Entry("fanlight 3 levels", stream(spark, levels, HORIZONS)),
            Entry("fanlight 3 levels, chain", stream(spark, levels, HORIZONS, strategy="chain")),
            Entry("3 F.window queries", stream(spark, theirs_apart, HORIZONS), slow=True),
            Entry("fanlight finest alone", stream(spark, ours, *HORIZONS[0]), alone=True),
        ],
        bench,
        rounds=min(bench.rounds, 2),
    )
    case, mine = "levels, stream", "fanlight 3 levels"
    return Result(
        [
            row(case, best, mine, "fanlight finest alone", at_most=1.8, why=COARSER),
            row(case, best, mine, "3 F.window queries", at_least=2, why=COARSER),
            row(case, best, mine, "fanlight 3 levels, chain"),
        ]
    )


def recurring(bench):
    """Items in each of three intervals, few and a million of them, in a batch."""
    import fanlight as fl

    spec = fl.MultiGranular(*zip(*HORIZONS, strict=True))
    best = {}
    for items in (1_000, 1_000_000):

        def make(table, items=items):
            # The small table has few rows: as many items would never recur in it.
            known = min(items, 100) if table is bench.small else items
            item = f"pmod(xxhash64(n, v, ts), {known}) as item"
            rows = table.read(bench.spark).selectExpr("ts", item)
            found = fl.over(rows, spec, time="ts").recurring("item")
            return Batch(found.selectExpr("window.start as start", "item"))

        entry = Entry(f"{items:,} items", make, alone=True)
        best |= race([entry], bench, rounds=min(bench.rounds, 2))
    names = list(best)
    return Result([Row("recurring", names[1], best[names[1]], names[0], best[names[0]])])
