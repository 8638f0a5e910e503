"""Patterns: beside threshold frames over the same rows, and a regular expression a key by hand."""

from __future__ import annotations

from dataclasses import replace

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.data import SMALL, table
from benchmarks.frames import OUT
from benchmarks.queries import Batch
from benchmarks.timing import Entry, Result, race
from fanlight import agg

MANY = 20_000
WITHIN = "2 hours"
# Values lie between 0 and 1000. Each is a letter: the pattern is a regular expression over them.
LETTERS = {"low": "v < 300", "mid": "v >= 300 and v <= 600", "high": "v > 600 and v <= 900"}
LAST = {"top": "v > 900"}
DEFINE = {**LETTERS, **LAST}
PATTERN = "low+ mid* high{1,3} top?"
RUNNING = {
    "down": "v < prev(v)",
    "up": "v > last(down.v)",
    "far": "v > 2 * avg(down.v) and v > last(up.v)",
}


def searched(df, spec):
    """Matches with their number of rows and their sum."""
    windowed = fl.over(df, spec, time="ts", by="k", tiebreak="n")
    return windowed.agg(s=agg.sum("v")).selectExpr(*OUT)


SPECS = {
    "threshold": fl.ThresholdFrame("v > 500"),
    "pattern": fl.PatternFrame(PATTERN, DEFINE),
    "pattern, within": fl.PatternFrame(PATTERN, DEFINE, within=WITHIN),
    "pattern, absence": fl.PatternFrame("low !mid high{1,3} !top", DEFINE, within=WITHIN),
    "pattern, prev and running values": fl.PatternFrame(
        "start down{1,} up+ far?", RUNNING, within=WITHIN
    ),
}


def _by_spec(spark, spec):
    return lambda data: Batch(searched(data.read(spark), spec))


def _by_expression(spark):
    """A letter for each row, and Python's ``re`` over the letters of each key."""

    def made(data):
        found = (
            data.read(spark)
            .groupBy("k")
            .applyInPandas(_search_letters, "k int, start timestamp, rows bigint, s double")
        )
        return Batch(found)

    return made


def _search_letters(rows):
    import re

    import numpy as np
    import pandas as pd

    rows = rows.sort_values(["ts", "n", "v"])
    value = rows.v.to_numpy()
    number = np.searchsorted([300, 600, 900], value, "left") + (value == 300)
    letters = "".join(np.array(["l", "m", "h", "t"])[number])
    spans = [found.span() for found in re.finditer("l+m*h{1,3}t?", letters)]
    sums = np.append(0.0, np.cumsum(value))
    return pd.DataFrame(
        [
            (rows.k.iloc[0], rows.ts.iloc[begin], end - begin, sums[end] - sums[begin])
            for begin, end in spans
        ],
        columns=["k", "start", "rows", "s"],
    )


def patterns(bench):
    """Patterns of four variables, 20,000 keys, in a batch."""
    small = table(bench.spark, SMALL, keys=100, files=2)
    many = small if bench.smoke else table(bench.spark, bench.table.rows, keys=MANY)
    bench = replace(bench, small=small, table=many)
    base, case = "fanlight threshold", "patterns, 20,000 keys"
    entries = [
        Entry(f"fanlight {name}", _by_spec(bench.spark, spec), alone=True)
        for name, spec in SPECS.items()
    ]
    best = race(entries, bench, rounds=2)
    rows = [
        row(case, best, f"fanlight {name}", base, at_most=1.5)
        for name in SPECS if name != "threshold"
    ]  # fmt: skip
    mine, theirs = "fanlight pattern", "applyInPandas, re"
    entries = [
        Entry(mine, _by_spec(bench.spark, SPECS["pattern"])),
        Entry(theirs, _by_expression(bench.spark), slow=True),
    ]
    best = race(entries, bench, rounds=1)
    return Result([*rows, row(case, best, mine, theirs, at_least=1)])
