"""Features as of each row, beside Spark's windows and a bare pass of the same rows."""

from __future__ import annotations

from dataclasses import replace

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.data import SMALL, table
from benchmarks.frames import nothing
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, race
from fanlight import agg

MANY = 20_000
HOUR = 3_600
# With 500 rows a key and day about 30, 100 and 200 rows; with 100,000 half of the day's.
HOURS = {"short": 1.5, "middle": 5, "long": 10}
LATE = 12
BASE = "rows through Python"


def ours(hours):
    """Each row with count, sum and greatest value over the hours before it."""
    spans = {name: fl.Trailing(f"{int(one * HOUR)} seconds") for name, one in hours.items()}

    def made(data):
        windows = fl.over(data, spans, time="ts", by="k")
        return windows.attach(c=agg.count(), s=agg.sum("v"), m=agg.max("n"))

    return made


def theirs(hours):
    """The same by one OVER RANGE for each span of hours."""
    asked = {"c": "count(1)", "s": "sum(v)", "m": "max(n)"}

    def made(data):
        over = "over (partition by k order by t range between {} preceding and current row)"
        data = data.selectExpr("*", "unix_micros(ts) as t")
        return data.selectExpr("*", *(
            f"{text} {over.format(int(one * HOUR) * 1_000_000 - 1)} as {name}_{span}"
            for name, text in asked.items()
            for span, one in hours.items()
        ))  # fmt: skip

    return made


def batch(spark, make, hours):
    names = [f"{name}_{span}" for name in "csm" for span in hours]
    shown = ("k", "unix_micros(ts) as at", "n", "v", *names)
    return lambda data: Batch(make(hours)(data.read(spark)).selectExpr(*shown))


def trailing(bench):
    """Count, sum and greatest value of three spans before each row; and how flat one is."""
    spark, case = bench.spark, f"features of rows, {MANY:,} keys"
    small = table(spark, SMALL, keys=100, files=2)
    large = small if bench.smoke else table(spark, bench.table.rows, keys=MANY)
    many = replace(bench, small=small, table=large)
    mine, other = "fanlight, three spans", "OVER RANGE, three"
    one = "fanlight, 100 rows"
    entries = [
        Entry(BASE, nothing(spark), alone=True),
        Entry(mine, batch(spark, ours, HOURS)),
        Entry(other, batch(spark, theirs, HOURS), slow=True),
        Entry(one, batch(spark, ours, {"middle": HOURS["middle"]}), alone=True),
    ]
    best = race(entries, many, rounds=2)
    found = [
        row(case, best, mine, other, at_least=5),
        row(case, best, one, BASE, at_most=1.5),
    ]
    few, long = f"features of rows, {bench.table.keys} keys", "fanlight, 50,000 rows"
    entries = [
        Entry(BASE, nothing(spark), alone=True),
        Entry(long, batch(spark, ours, {"late": LATE}), alone=True),
    ]
    best = race(entries, bench, rounds=2)
    return Result([*found, row(few, best, long, BASE, at_most=2)])
