"""The first query of a process: of each kind, ours and the one that Spark itself has for it.

``python -m benchmarks.first KIND ours FOLDER`` starts a session, runs that one query over the table
in FOLDER and prints its seconds, from before anything of fanlight is imported, and its answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import sessions
from benchmarks.queries import Batch
from benchmarks.timing import seconds

SCHEMA = "start timestamp, stop timestamp, k int, v double, n int"  # as in cases/spans.py


@dataclass(frozen=True)
class Kind:
    """Two queries over one table; whether ours needs Python workers, and whether answers agree."""

    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    workers: bool = False
    alone: bool = False


def main():
    """Run one query, and print what it took and what it said."""
    name, whose, folder = sys.argv[1:]
    kind = KINDS[name]
    make = kind.ours if whose == "ours" else kind.theirs
    spark = sessions.start(smoke=True)
    found = []

    def run():
        df = spark.read.schema(SCHEMA).parquet(folder).withColumnRenamed("start", "ts")
        found.append(Batch(make(df)))
        found[0].run()

    took = seconds(run)
    print(json.dumps({"seconds": took, "answer": found[0].answer()}))
    spark.stop()


def _ours(*given):
    def made(df):
        from benchmarks import windows

        return windows.ours(df, *given)

    return made


def _theirs(*given):
    def made(df):
        from benchmarks import windows

        return windows.theirs(df, *given)

    return made


HORIZONS = [("1 minute", "1 minute"), ("10 minutes", "1 minute"), ("60 minutes", "10 minutes")]


def _levels(df):
    from benchmarks import windows

    return windows.levels(df, HORIZONS)


def _levels_apart(df):
    """A window ends at a multiple of its SLIDE in both; all RANGEs here are multiples of SLIDEs."""
    from benchmarks import windows

    return windows.theirs_apart(df, HORIZONS)


def _spans(df):
    import fanlight as fl
    from fanlight import agg

    spec = fl.Sliding("10 minutes", "1 minute")
    found = fl.over(df, spec, time=("ts", "stop"), by="k").agg(n=agg.count(), s=agg.sum("v"))
    return found.selectExpr("k", "window.start as start", "n", "s")


def _exploded(df):
    """Each event into each of its windows."""
    minute = 60_000_000
    first = f"timestamp_micros((unix_micros(ts) div {minute} - 9) * {minute})"
    last = f"timestamp_micros((unix_micros(stop) - 1) div {minute} * {minute})"
    windows = f"explode(sequence({first}, {last}, interval 1 minute)) as start"
    copies = df.selectExpr("k", windows, "v").groupBy("k", "start")
    return copies.agg({"*": "count", "v": "sum"}).selectExpr(
        "k", "start", "`count(1)` as n", "`sum(v)` as s"
    )


def _frames(name):
    def made(df):
        from benchmarks import frames

        return frames.ours(df, frames.SPECS[name]())

    return made


def _by_lag(before, inside="true"):
    """Runs of rows by ``lag`` and a running sum, as they are written by hand."""

    def made(df):
        order = "over (partition by k order by ts, n, v)"
        df = df.selectExpr("*", f"{before} as cell", f"{inside} as inside")
        df = df.selectExpr("*", f"lag(cell) {order} as other")
        df = df.selectExpr("*", f"sum(if(cell <=> other, 0, 1)) {order} as run")
        found = df.filter("inside").groupBy("k", "run").agg({"ts": "min", "v": "sum", "*": "count"})
        return found.selectExpr("k", "`min(ts)` as start", "`count(1)` as rows", "`sum(v)` as s")

    return made


def _by_pandas(full, *, crossing):
    """A Python loop a key, in ``applyInPandas``; ``full`` is asked of least, greatest and sum."""

    def cut(rows):
        import pandas as pd

        found, least, greatest, total, over = [], 0.0, 0.0, 0.0, True
        for row in rows.sort_values(["ts", "n", "v"]).itertuples():
            held = min(least, row.v), max(greatest, row.v), total + row.v
            if over or (not crossing and full(*held)):
                held = row.v, row.v, row.v
                found.append([row.k, row.ts, 0])
            least, greatest, total = held
            over = crossing and full(*held)
            found[-1][2:] = found[-1][2] + 1, total
        return pd.DataFrame(found, columns=["k", "start", "rows", "s"])

    return lambda df: df.groupBy("k").applyInPandas(
        cut, "k int, start timestamp, rows bigint, s double"
    )


def _sessions(df):
    import fanlight as fl
    from fanlight import agg

    found = fl.over(df, fl.Session("1 minute"), time="ts", by="k").agg(n=agg.count())
    return found.selectExpr("k", "window.start as start", "n")


def _session_window(df):
    from pyspark.sql import functions as F

    found = df.groupBy("k", F.session_window("ts", "1 minute")).count()
    return found.selectExpr("k", "session_window.start as start", "count as n")


def _median(df):
    import fanlight as fl
    from fanlight import agg

    found = fl.over(df, fl.Sliding("60 minutes", "1 minute"), time="ts", by="k")
    return found.agg(m=agg.median("v")).selectExpr("k", "window.start as start", "m")


def _median_of_copies(df):
    from pyspark.sql import functions as F

    found = df.groupBy("k", F.window("ts", "60 minutes", "1 minute")).agg(F.median("v").alias("m"))
    return found.selectExpr("k", "window.start as start", "m")


def _by_rows(df):
    import fanlight as fl
    from benchmarks import windows

    return windows.ours(df, fl.Sliding(fl.rows(100), fl.rows(10)))


def _over_rows(df):
    """Windows that end at a key's last row or before: nearly all of them."""
    over = "over (partition by k order by ts rows between 99 preceding and current row)"
    number = "row_number() over (partition by k order by ts)"
    columns = f"count(1) {over} as n", f"sum(v) {over} as s", f"max(v) {over} as m"
    rows = df.selectExpr("k", f"{number} as number", *columns).where("number % 10 = 0")
    return rows.selectExpr("k", "cast(number - 100 as bigint) as start", "n", "s", "m")


def _widening(df):
    import fanlight as fl

    spec = fl.ProgressiveWidening("1 minute", longest="1 day", max_rows=100)
    named = df.selectExpr("*", "if(n % 500 = 0, 'c', 'd') as name")
    never = fl.Episode("a n=x; b n=x", event="name")
    return fl.over(named, spec, time="ts", by="k").detect(never).selectExpr("k")


def _nothing(df):
    """Rows in order through Python and back."""
    placed = df.repartition("k").sortWithinPartitions("k", "ts")
    return placed.mapInArrow(_passed, placed.schema)


def _passed(batches):
    yield from batches


KINDS = {
    "sliding": Kind(_ours("10 minutes", "1 minute"), _theirs("10 minutes", "1 minute")),
    "tumbling": Kind(_ours("1 minute"), _theirs("1 minute")),
    "levels": Kind(_levels, _levels_apart),
    "spanning": Kind(_spans, _exploded),
    "threshold": Kind(_frames("threshold"), _by_lag("v > 500", "v > 500")),
    "sessions": Kind(_sessions, _session_window),
    "counted rows": Kind(_by_rows, _over_rows, alone=True),
    "boundary": Kind(_frames("boundary"), _by_lag("ceil(v / 200)"), workers=True),
    "delta": Kind(
        _frames("delta"),
        _by_pandas(lambda low, high, total: high - low >= 900.0, crossing=False),  # noqa: ARG005
        workers=True,
    ),
    "aggregate": Kind(
        _frames("aggregate"),
        _by_pandas(lambda low, high, total: total >= 5_000, crossing=True),  # noqa: ARG005
        workers=True,
    ),
    "median": Kind(_median, _median_of_copies, workers=True),
    "widening": Kind(_widening, _nothing, workers=True, alone=True),
}

if __name__ == "__main__":
    main()
