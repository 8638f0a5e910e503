"""Stored pieces: windows of them beside windows of the rows, and how soon a server answers."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.data import SMALL, table
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, race
from fanlight import agg

KEYS = 20_000
PIECE = "1 hour"
PAST = {"3h": fl.Trailing("3 hours"), "12h": fl.Trailing("12 hours"), "ever": fl.Trailing()}
SLIDING = fl.Sliding("6 hours", "1 hour")
NUMBERS = {"c": agg.count(), "s": agg.sum("v"), "m": agg.max("n")}
OTHERS = {"d": agg.count_distinct("n"), "p": agg.median("n"), "l": agg.stddev_samp("v")}
ASKED = 5_000
LATE = 100
PERCENTS = (50, 99, 100)


def stored(bench):
    """Sliding windows from pieces in Parquet and from the rows; and the times of answers."""
    case, spark = f"stored pieces, {KEYS:,} keys", bench.spark
    small = table(spark, SMALL, keys=100, files=2)
    large = small if bench.smoke else table(spark, bench.table.rows, keys=KEYS)
    with tempfile.TemporaryDirectory() as home:
        kept = {one: str(Path(home) / f"{number}") for number, one in enumerate((small, large))}
        for one, folder in kept.items():
            _pieces(one.read(spark), NUMBERS).write.mode("overwrite").parquet(folder)
        ours, theirs, anew = "roll_up of pieces", "agg of the rows", f"repair of {LATE} late rows"
        entries = [
            Entry(ours, lambda data: _shown(fl.roll_up(spark.read.parquet(kept[data]), SLIDING))),
            Entry(theirs, lambda data: _shown(_windows(data.read(spark)).agg(**NUMBERS))),
            Entry(anew, lambda data: _shown(_repaired(kept[data], data.read(spark))), alone=True),
        ]
        best = race(entries, replace(bench, small=small, table=large), rounds=2)
        numbers = _answer_times(kept[large], large)
        few = table(spark, min(large.rows, 1_000_000), keys=KEYS)
        folder = str(Path(home) / "others")
        _pieces(few.read(spark), OTHERS).write.parquet(folder)
        others = _answer_times(folder, few)
    listed = [
        ["count, sum, max", "again", *numbers[1]],
        ["count, sum, max", "first", *numbers[0]],
        ["median, distinct, stddev", "again", *others[1]],
        ["median, distinct, stddev", "first", *others[0]],
    ]
    for line in listed:
        bench.say(f"  {', '.join(line)}")
    head = ["aggregates", "question about a key", *(f"{percent} %" for percent in PERCENTS)]
    title = f"Answers of fl.serve in microseconds, {len(PAST)} windows of pieces of {PIECE}"
    rows = [row(case, best, ours, theirs, at_most=1), row(case, best, anew, ours, at_most=1)]
    return Result(rows, [(title, head, listed)])


def _shown(found):
    return Batch(found.selectExpr("k", "unix_micros(window.start) as at", *NUMBERS))


def _repaired(folder, rows):
    late = _pieces(rows.limit(LATE), NUMBERS)
    return fl.roll_up_late(rows.sparkSession.read.parquet(folder), late, SLIDING)


def _windows(data):
    return fl.over(data, SLIDING, time="ts", by="k")


def _pieces(data, asked):
    return fl.over(data, fl.Sliding(PIECE), time="ts", by="k").pieces(**asked)


def _answer_times(folder, data):
    """The quantiles of the times of answers, as text: of a key's first question, of others."""
    server = fl.serve(folder, PAST)
    keys = np.random.default_rng(7).integers(0, data.keys, ASKED).tolist()
    at = server.until - timedelta(hours=1)
    found = []
    for _ in range(2):
        taken = []
        for key in keys:
            begun = time.perf_counter()
            server.ask(key, at=at)
            taken.append(1e6 * (time.perf_counter() - begun))
        found.append([f"{one:,.0f}" for one in np.percentile(taken, PERCENTS)])
    return found
