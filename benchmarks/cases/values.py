"""Exact aggregates that need every value, beside Spark's own windows."""

from __future__ import annotations

from dataclasses import replace

import fanlight as fl
from benchmarks.data import table
from benchmarks.timing import Entry, Result, Row, race
from benchmarks.windows import batch, minutes
from fanlight import agg

ROWS = 1_000_000  # at most: Spark's own plan copies every row into every window
SHAPES = ((60, 20), (720, 60), (60, 1))  # RANGE and SLIDE, in minutes
# Times faster than F.window.
DISTINCT = (1, 5, 30)
QUANTILES = (1, 4, 20)


def over(df, range_, slide, **aggregates):
    windows = fl.over(df, fl.Sliding(range_, slide), time="ts", by="k")
    return windows.agg(**aggregates).selectExpr("k", "window.start as start", *aggregates)


def windowed(df, range_, slide, **texts):
    """The same as Spark has it; aggregates as SQL."""
    from pyspark.sql import functions as F

    found = df.groupBy("k", F.window("ts", range_, slide))
    found = found.agg(*[F.expr(text).alias(name) for name, text in texts.items()])
    return found.selectExpr("k", "window.start as start", *texts)


def distinct(bench):
    """Distinct values, exactly: of 1,000 and of a million."""
    asked = {f"count_distinct({one})": (agg.count_distinct(one), f"count(distinct {one})")
             for one in "nv"}  # fmt: skip
    return _each(bench, asked, DISTINCT)


def quantiles(bench):
    """The middle of all values, and the one that 95 of 100 do not exceed, exactly."""
    asked = {
        "median(v)": (agg.median("v"), "median(v)"),
        "percentile(n, 0.95)": (agg.percentile("n", 0.95), "percentile(n, 0.95)"),
    }
    return _each(bench, asked, QUANTILES)


def _each(bench, asked, least):
    """Each aggregate by each shape of windows, beside Spark's text for it."""
    rows = []
    for name, (ours, theirs) in asked.items():
        for (range_, slide), times in zip(SHAPES, least, strict=True):
            shape = (minutes(range_), minutes(slide))
            rows.append(
                _beside(
                    bench, f"{name}, {range_}/{slide}", times,
                    (over, shape, {"d": ours}), (windowed, shape, {"d": theirs}),
                )
            )  # fmt: skip
    return Result(rows)


def beside(bench):
    """Value counts and a sketch in one query, beside the two in queries of their own."""
    spark, small, large = bench.spark, *_tables(bench)
    shape = (minutes(60), minutes(20))
    exact, about = {"m": agg.median("n")}, {"q": agg.approx_percentile("n", 0.5)}

    def both(df):
        keys = ["k", "start"]
        one, other = (over(df, *shape, **some) for some in (exact, about))
        return one.join(other, keys).select(*keys, "m", "q")

    entries = [
        Entry("in one query", batch(spark, over, *shape, **exact, **about)),
        Entry("two, joined", batch(spark, both)),
    ]
    best = race(entries, _with(bench, small, large))
    one, other = (entry.name for entry in entries)
    return Result(
        [Row("median and approx_percentile", one, best[one], other, best[other], at_most=1.2)]
    )


def _beside(bench, case, least, ours, theirs):
    """A row of the report: one query of fanlight and Spark's own."""
    small, large = _tables(bench)
    names = ("fanlight", "F.window")
    entries = [
        Entry(name, batch(bench.spark, make, *shape, **aggregates), slow=name == "F.window")
        for name, (make, shape, aggregates) in zip(names, (ours, theirs), strict=True)
    ]
    best = race(entries, _with(bench, small, large))
    return Row(case, names[0], best[names[0]], names[1], best[names[1]], at_least=least)


def _tables(bench):
    rows = min(bench.table.rows, ROWS)
    return bench.small, bench.small if bench.smoke else table(bench.spark, rows)


def _with(bench, small, large):
    return replace(bench, small=small, table=large)


def some_rows(bench):
    """Aggregates of some rows, and a ratio of two, beside the same aggregates without."""
    spark, shape = bench.spark, (minutes(60), minutes(1))
    plain = {"c": agg.count(), "s": agg.sum("v"), "m": agg.max("v")}
    half = {name: one.where("n % 2 = 0") for name, one in plain.items()}
    ratio = {"c": agg.sum("v") / agg.count(), "m": agg.max("v")}
    asked = {"without": plain, "where": half, "ratio": ratio}
    entries = [Entry(name, batch(spark, over, *shape, **one), alone=True)
               for name, one in asked.items()]  # fmt: skip
    best = race(entries, bench)
    return Result([
        Row("count, sum and max of half of the rows", "where", best["where"],
            "without", best["without"], at_most=1.1),
        Row("sum / count, and max", "ratio", best["ratio"], "without", best["without"]),
    ])  # fmt: skip
