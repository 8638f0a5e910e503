"""Whether ``auto`` is ever slower than Spark's own windows, cell by cell, as it is without hints.

A query is timed from the call of ``over`` (or ``groupBy``) to the last result: over little data to
make the plan is a good part of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import fanlight as fl
from benchmarks.data import table
from benchmarks.queries import Batch, agree
from benchmarks.timing import DisagreementError, Result, Row, seconds
from fanlight import agg

LIMIT = 1.1
SHAPES = ((60, 60), (60, 20), (720, 60), (60, 1), (1000, 1))  # RANGE and SLIDE, in minutes
KEYS = (1, 100, 20_000)
ROWS = (10_000, 1_000_000, 10_000_000)
COPIES = 15_000_000  # of rows into windows, that Spark is still waited for
SMOKED = ("sum", "median", "count_distinct, avg")  # in a run that only proves that it runs

# What is asked of fanlight, and of Spark, by the names of the results.
ASKED = {
    "count": {"a": (agg.count(), "count(1)")},
    "count of values": {"a": (agg.count("v"), "count(v)")},
    "sum": {"a": (agg.sum("v"), "sum(v)")},
    "sum of integers": {"a": (agg.sum("n"), "sum(n)")},
    "avg": {"a": (agg.avg("v"), "avg(v)")},
    "min": {"a": (agg.min("v"), "min(v)")},
    "max": {"a": (agg.max("n"), "max(n)")},
    "stddev_samp": {"a": (agg.stddev_samp("v"), "stddev_samp(v)")},
    "var_pop": {"a": (agg.var_pop("v"), "var_pop(v)")},
    "min_by": {"a": (agg.min_by("n", "v"), "min_by(n, v)")},
    "max_by": {"a": (agg.max_by("n", "v"), "max_by(n, v)")},
    "count_distinct": {"a": (agg.count_distinct("n"), "count(distinct n)")},
    "approx_count_distinct": {"a": (agg.approx_count_distinct("n"), "approx_count_distinct(n)")},
    "median": {"a": (agg.median("v"), "median(v)")},
    "percentile": {"a": (agg.percentile("n", 0.95), "percentile(n, 0.95)")},
    "approx_percentile": {"a": (agg.approx_percentile("n", 0.5), "approx_percentile(n, 0.5)")},
    "mode": {"a": (agg.mode("n"), "mode(n, true)")},
    "count, sum, max": {
        "a": (agg.count(), "count(1)"), "b": (agg.sum("v"), "sum(v)"), "c": (agg.max("v"), "max(v)")
    },
    "median, sum": {"a": (agg.median("v"), "median(v)"), "b": (agg.sum("v"), "sum(v)")},
    "count_distinct, avg": {
        "a": (agg.count_distinct("n"), "count(distinct n)"), "b": (agg.avg("v"), "avg(v)")
    },
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One query over one table."""

    asked: str
    shape: tuple[int, int]
    keys: int
    rows: int

    @property
    def copies(self):
        return self.rows * self.shape[0] / self.shape[1]

    def ours(self, df):
        range_, slide = (f"{length} minutes" for length in self.shape)
        windows = fl.over(df, fl.Sliding(range_, slide), time="ts", by="k")
        return self._plain(windows.agg(**{name: a for name, (a, _) in self._of.items()}))

    def theirs(self, df):
        from pyspark.sql import functions as F

        window = F.window("ts", *(f"{length} minutes" for length in self.shape))
        found = [F.expr(text).alias(name) for name, (_, text) in self._of.items()]
        return self._plain(df.groupBy("k", window).agg(*found))

    @property
    def _of(self):
        return ASKED[self.asked]

    def _plain(self, found):
        return found.selectExpr("k", "window.start as start", *self._of)


def cells(most, *, smoke):
    """All cells over tables of up to so many rows."""
    if smoke:
        return [Cell(asked, shape, 10, most) for asked in SMOKED for shape in SHAPES[1:4:2]]
    return [
        Cell(asked, shape, keys, rows)
        for rows in ROWS
        for keys in KEYS
        for shape in SHAPES
        for asked in ASKED
        if rows <= most
    ]


def never_slower(bench):
    """fanlight's time over that of Spark's own windows, in each cell."""
    lines, worst, skipped = [], None, 0
    for cell in cells(bench.table.rows, smoke=bench.smoke):
        if cell.copies > COPIES:
            skipped += 1
            continue
        ours, theirs = _timed(bench, cell)
        ratio = ours / theirs
        if worst is None or ratio > worst[0]:
            worst = (ratio, cell, ours, theirs)
        overlap = f"{cell.shape[0] / cell.shape[1]:g}"
        shown = [f"{1000 * ours:,.0f}", f"{1000 * theirs:,.0f}", f"{ratio:.2f}"]
        lines.append([cell.asked, overlap, f"{cell.keys:,}", f"{cell.rows:,}", *shown])
        bench.say(f"  {' | '.join(lines[-1])}")
    _, cell, ours, theirs = worst
    shape = "/".join(map(str, cell.shape))
    case = f"worst cell: {cell.asked}, {shape}, {cell.keys:,} keys, {cell.rows:,} rows"
    ratios = [float(line[-1]) for line in lines]
    good = sum(ratio <= LIMIT for ratio in ratios)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    title = (
        "fanlight beside F.window, ms, the plan made anew each time; at most "
        f"{LIMIT} times its time in {good} of {len(lines)} cells, {mean:.2f} times in the mean "
        f"(geometric); {skipped} cells with more than {COPIES:,} copies of rows were not run"
    )
    header = ["aggregates", "RANGE/SLIDE", "keys", "rows", "fanlight", "F.window", "ratio"]
    row = Row("never-slower", f"auto ({case})", ours, "F.window", theirs, at_most=LIMIT)
    return Result([row], [(title, header, lines)])


def _timed(bench, cell):
    """The best time of each, in turn."""
    data = bench.small if bench.smoke else table(bench.spark, cell.rows, keys=cell.keys, files=2)
    df = data.read(bench.spark)
    if bench.smoke:
        answers = [Batch(make(df)).answer() for make in (cell.ours, cell.theirs)]
        if not agree(*answers):
            raise DisagreementError(f"{cell}: {answers}")
    rounds = 1 if bench.smoke else bench.rounds if cell.copies <= 1_000_000 else 2
    makers, best = (cell.ours, cell.theirs), [math.inf, math.inf]
    for turn in range(rounds + (not bench.smoke)):
        for place, make in enumerate(makers):
            taken = seconds(lambda m=make: Batch(m(df)).run())
            if turn or bench.smoke:
                best[place] = min(best[place], taken)
    return best[0], best[1]
