"""Progressive widening beside a bare pass of the rows through a stateful operator."""

from __future__ import annotations

import fanlight as fl
from benchmarks.data import table
from benchmarks.passing import passed
from benchmarks.queries import Stream
from benchmarks.timing import Result, Row, seconds

ROWS, KEYS, FILES = 1_000_000, 1_000, 10
SMALL = 20_000
SPEC = {"first": "1 minute", "max_duration": "1 day", "max_rows": 100}
NEVER = fl.Episode("a n=x; b n=x", event="name")
SEARCHED = (
    "a row is in windows of twelve levels, and the detector is asked of each window that has new "
    "rows; less would need a detector of many windows at once"
)


def nothing(rows):
    """A detector that finds nothing."""
    del rows
    return []


def widening(bench):
    """A million events of a thousand keys in a stream, nothing to be found."""
    rows, keys, files = (SMALL, 20, 2) if bench.smoke else (ROWS, KEYS, FILES)
    data = table(bench.spark, rows, keys=keys, files=files)
    spec = fl.ProgressiveWidening(
        SPEC["first"], max_duration=SPEC["max_duration"], max_rows=SPEC["max_rows"]
    )

    def widened(detector, *more):
        named = data.stream(bench.spark).selectExpr("*", "if(n % 2 = 0, 'c', 'd') as name")
        return Stream(fl.over(named, spec, time="ts", by="k").detect(detector, *more))

    runs = {
        "bare pass": lambda: Stream(passed(data.stream(bench.spark))),
        "widening, no-op": lambda: widened(nothing, "x int"),
        "widening, episode": lambda: widened(NEVER),
    }
    best = {}
    for turn in range(1 if bench.smoke else 3):
        for name, make in runs.items():
            took = seconds(make().run)
            bench.say(f"  {name}: {took:.2f} s")
            if turn or bench.smoke:
                best[name] = min(took, best.get(name, took))
    bare = best["bare pass"]
    return Result(
        [
            Row("widening", name, best[name], "bare pass", bare, at_most=1.3, why=SEARCHED)
            for name in runs
            if name != "bare pass"
        ]
    )
