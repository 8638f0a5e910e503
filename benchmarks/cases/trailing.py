"""Features as of each row, beside Spark's windows and a bare pass of the same rows."""

from __future__ import annotations

from dataclasses import replace

import fanlight as fl
from benchmarks.cases.ordered import beside_bare
from benchmarks.cases.times import row
from benchmarks.data import SMALL, table
from benchmarks.frames import nothing
from benchmarks.growth.series import point
from benchmarks.queries import Batch, Stream
from benchmarks.timing import Entry, Result, Row, race
from fanlight import agg

MANY = 20_000
HOUR = 3_600
# With 500 rows a key and day about 30, 100 and 200 rows; with 100,000 half of the day's.
HOURS = {"short": 1.5, "middle": 5, "long": 10}
LATE = 12
BASE = "rows through Python"
# Aggregates, each with Spark's text for it, whose window is ``over``.
SUMS = {
    "c": (agg.count(), "count(1) {over}"),
    "s": (agg.sum("v"), "sum(v) {over}"),
    "m": (agg.max("n"), "max(n) {over}"),
}
# Spark has no count(DISTINCT …) over a window. Rows are so many that its own takes half a minute.
VALUES = {
    "count_distinct(n)": (1_000_000, (agg.count_distinct("n"), "size(collect_set(n) {over})")),
    "median(v)": (150_000, (agg.median("v"), "percentile(v, 0.5) {over}")),
}
LOOKED = 1_000  # rows of each window
HOT = {"all before": None, "100 rows": fl.Rows(100), "50,000 rows": fl.Rows(50_000)}


def ours(hours, asked):
    """Each row with aggregates of the hours before it."""
    spans = {name: fl.Trailing(f"{int(one * HOUR)} seconds") for name, one in hours.items()}

    def made(data):
        windows = fl.over(data, spans, time="ts", by="k")
        return windows.attach(**{name: call for name, (call, _) in asked.items()})

    return made


def theirs(hours, asked):
    """The same by one OVER RANGE for each span of hours."""

    def made(data):
        over = "over (partition by k order by t range between {} preceding and current row)"
        data = data.selectExpr("*", "unix_micros(ts) as t")
        return data.selectExpr("*", *(
            f"{text.format(over=over.format(int(one * HOUR) * 1_000_000 - 1))} as {name}_{span}"
            for name, (_, text) in asked.items()
            for span, one in hours.items()
        ))  # fmt: skip

    return made


def batch(spark, make, hours, asked=SUMS):
    names = [f"{name}_{span}" for name in asked for span in hours]
    shown = ("k", "unix_micros(ts) as at", "n", "v", *names)
    return lambda data: Batch(make(hours, asked)(data.read(spark)).selectExpr(*shown))


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


def trailing_values(bench):
    """Distinct values and medians of about 1,000 rows before each row."""
    spark, mine, other, found = bench.spark, "fanlight", "OVER RANGE", []
    for name, (most, each) in VALUES.items():
        rows = min(bench.table.rows, most)
        large = bench.small if bench.smoke else table(spark, rows, keys=bench.table.keys)
        hours = {"past": 24 * LOOKED * large.keys / rows}
        entries = [
            Entry(mine, batch(spark, ours, hours, {"x": each})),
            Entry(other, batch(spark, theirs, hours, {"x": each}), slow=True),
        ]
        best = race(entries, replace(bench, table=large), rounds=2)
        case = f"features of rows, {rows:,} rows, {name}, {LOOKED:,} rows"
        found.append(row(case, best, mine, other, at_least=20))
    return Result(found)


def trailing_stream(bench):
    """Count, sum and greatest value of an hour before each row, in a stream, 20,000 keys."""

    def attached(stream):
        return Stream(ours({"hour": 1}, SUMS)(stream))

    return beside_bare(bench, "features of rows, stream", {"trailing, 1 hour": attached}, 1 / 0.5)


def trailing_hot(bench):
    """One key that has all rows, beside 20,000 keys: seconds, and memory of Python workers."""
    spark, rows, files = bench.spark, bench.table.rows, bench.table.files
    calls = {name: call for name, (call, _) in SUMS.items()}
    found, listed = [], []
    for span, length in HOT.items():
        points = {}
        for keys in (MANY, 1):
            data = table(spark, rows, keys=keys, files=files).read(spark)
            windows = fl.over(data, fl.Trailing(length), time="ts", by="k").using("arrow")
            name = f"{keys:,} key{'s' * (keys > 1)}"
            points[name] = one = point(bench, rows, Batch(windows.attach(**calls)))
            held = f"{one.held.workers / 1e6:,.0f}"
            listed.append([span, name, f"{one.seconds:.2f}", held])
            bench.say(f"  {span}, {name}: {one.seconds:.2f} s, {held} MB")
        (many, second), (hot, first) = points.items()
        found.append(Row(f"features of rows, {span}", hot, first.seconds, many, second.seconds))
    head = ["windows", "keys", "s", "MB of Python workers"]
    return Result(found, [("Features of rows, one key that has all of them", head, listed)])
