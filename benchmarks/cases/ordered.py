"""Streams of data-driven windows, beside a bare pass of their rows through Spark and Python."""

from __future__ import annotations

import fanlight as fl
from benchmarks.cases.patterns import DEFINE, PATTERN, WITHIN
from benchmarks.data import SMALL, SMALL_KEYS, table
from benchmarks.passing import passed
from benchmarks.queries import Stream
from benchmarks.timing import Result, Row, seconds
from fanlight import agg

KEYS, FILES = 20_000, 10
SPECS = {
    "delta": lambda: fl.DeltaFrame({"v": 900.0}),
    "threshold": lambda: fl.ThresholdFrame("v > 500"),
    "aggregate": lambda: fl.AggregateFrame(agg.sum("v"), 5_000),
    "sessions": lambda: fl.Session("10 minutes"),
    "patterns": lambda: fl.PatternFrame(PATTERN, DEFINE, within=WITHIN),
    "windows over rows": lambda: fl.Sliding(fl.Rows(60), fl.Rows(10)),
}
BARE = "bare pass, packed"


def ordered(bench):
    """Data-driven windows, 20,000 keys, ten micro-batches."""

    def windowed(spec):
        def made(rows):
            windows = fl.over(rows, spec(), time="ts", by="k")
            return Stream(windows.agg(agg.count(), agg.sum("v"), agg.max("n")))

        return made

    runs = {name: windowed(spec) for name, spec in SPECS.items()}
    return beside_bare(bench, "ordered stream", runs, 1 / 0.6)


def beside_bare(bench, case, runs, at_most):
    """Streams of 20,000 keys, each made of the same rows, beside a bare pass of them."""
    rows, keys, files = bench.table.rows, KEYS, FILES
    if bench.smoke:
        rows, keys, files = SMALL, SMALL_KEYS, 2
    data = table(bench.spark, rows, keys=keys, files=files)
    runs = {BARE: lambda stream: Stream(passed(stream)), **runs}
    turns = 1 if bench.smoke else 1 + min(bench.rounds, 2)
    best, listed = {}, []
    for turn in range(turns):
        for name, make in runs.items():
            took = seconds(make(data.stream(bench.spark)).run)
            bench.say(f"  {name}: {took:.2f} s, {rows / took:,.0f} rows a second")
            if turn or bench.smoke:  # the first turn warms up
                best[name] = min(took, best.get(name, took))
    bare = best.pop(BARE)
    case = f"{case}, {data.keys:,} keys"
    for name, took in best.items():
        listed.append([name, f"{rows / took:,.0f}", f"{bare / took:.2f}"])
    return Result(
        [Row(case, name, took, BARE, bare, at_most=at_most) for name, took in best.items()],
        [(case, ["windows", "rows a second", "of the bare pass"], listed)],
    )
