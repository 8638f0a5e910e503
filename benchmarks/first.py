"""Queries of a fresh process: of each kind, ours and the one that Spark itself has for it.

``python -m benchmarks.first ours FOLDER SECONDS KIND…`` starts a session and runs these queries
over the table in FOLDER, one after the other. Of each it prints a line: the seconds of its first
call (the very first from before anything of fanlight is imported), the best of more calls in so
many SECONDS, unless the first took long, and its answer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import sessions
from benchmarks.queries import Batch
from benchmarks.timing import seconds

LONG = 20.0  # seconds: what takes longer is called once
SCHEMA = "start timestamp, stop timestamp, k int, v double, n int"  # as in cases/spans.py


@dataclass(frozen=True)
class Kind:
    """Two queries over one table; whether ours needs Python workers, and whether answers agree."""

    ours: Callable[[Any], Any]
    theirs: Callable[[Any], Any]
    workers: bool = False
    alone: bool = False


def main():
    """Run queries, and print what they took and what they said."""
    whose, folder, given, *names = sys.argv[1:]
    more = float(given)
    spark = sessions.start(smoke=True)

    def call(make):
        made = []

        def run():
            df = spark.read.schema(SCHEMA).parquet(folder).withColumnRenamed("start", "ts")
            made.append(Batch(make(df)))
            made[0].run()

        taken = seconds(run)
        return made[0], taken

    for name in names:
        make = KINDS[name].ours if whose == "ours" else KINDS[name].theirs
        first, cold = call(make)
        warm, spent = None, 0.0
        while more and cold < LONG and (warm is None or spent < more):
            taken = call(make)[1]
            warm, spent = min(taken, warm or taken), spent + taken
        answer = None if KINDS[name].alone else first.answer()  # of lists it has none
        told = {"name": name, "cold": cold, "warm": warm, "answer": answer}
        print(json.dumps(told), flush=True)
    spark.stop()


def fresh(names, whose, folder, *, more=0.0):
    """What a fresh process says of queries, a dictionary each; no kernel is compiled yet.

    ``more`` is for how many seconds a query is called again.
    """
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as cache:
        told = subprocess.run(
            [sys.executable, "-m", "benchmarks.first", whose, folder, str(more), *names],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        ).stdout
    return [json.loads(line) for line in told.splitlines() if line.startswith('{"name"')]


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

    return windows.ours(df, fl.Sliding(fl.Rows(100), fl.Rows(10)))


def _over_rows(df):
    """Windows that end at a key's last row or before: nearly all of them."""
    over = "over (partition by k order by ts rows between 99 preceding and current row)"
    number = "row_number() over (partition by k order by ts)"
    columns = f"count(1) {over} as n", f"sum(v) {over} as s", f"max(v) {over} as m"
    rows = df.selectExpr("k", f"{number} as number", *columns).where("number % 10 = 0")
    return rows.selectExpr("k", "cast(number - 100 as bigint) as start", "n", "s", "m")


def _widening(df):
    import fanlight as fl

    spec = fl.ProgressiveWidening("1 minute", max_duration="1 day", max_rows=100)
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
SHAPES = ("60/20", "720/60", "60/1")  # RANGE and SLIDE, in minutes


ASKED = (
    "count", "sum", "stddev_samp", "max", "min_by", "first", "collect_list", "linear_fit", "median",
    "mode", "count_distinct", "approx_count_distinct", "approx_percentile",
    "count, median, approx_percentile",
)  # fmt: skip
ALIKE = frozenset(
    ("count", "sum", "stddev_samp", "max", "median", "mode", "count_distinct")
)  # ours and theirs give the same; of the others ties, order or error differ


def _line(of, over):
    """What a line over time is made of, as fanlight gives it in one."""
    parts = ", ".join(f"regr_{part}({of}, {over})" for part in ("slope", "intercept", "r2"))
    return f"struct({parts})"


def _calls(name):
    """The aggregates of a name: ours, and Spark's as SQL."""
    from fanlight import agg

    known = {
        "count": (agg.count, (), "count(1)"),
        "sum": (agg.sum, ("v",), "sum(v)"),
        "stddev_samp": (agg.stddev_samp, ("v",), "stddev_samp(v)"),
        "max": (agg.max, ("n",), "max(n)"),
        "min_by": (agg.min_by, ("n", "v"), "min_by(n, v)"),
        "first": (agg.first, ("v",), "min_by(v, ts)"),
        "collect_list": (agg.collect_list, ("n",), "collect_list(n)"),
        "linear_fit": (agg.linear_fit, ("v",), _line("v", "unix_micros(ts) / 1e6")),
        "median": (agg.median, ("v",), "median(v)"),
        "mode": (agg.mode, ("n",), "mode(n, true)"),
        "count_distinct": (agg.count_distinct, ("n",), "count(distinct n)"),
        "approx_count_distinct": (agg.approx_count_distinct, ("n",), "approx_count_distinct(n)"),
        "approx_percentile": (agg.approx_percentile, ("v", 0.5), "approx_percentile(v, 0.5)"),
    }
    parts = [known[part] for part in name.split(", ")]
    ours = {f"a{at}": make(*given) for at, (make, given, _) in enumerate(parts)}
    return ours, {f"a{at}": text for at, (_, _, text) in enumerate(parts)}


def _windows_of(name, shape):
    """An aggregate in sliding windows, each whole query made anew."""
    range_, slide = (f"{length} minutes" for length in shape.split("/"))

    def ours(df):
        import fanlight as fl

        asked, _ = _calls(name)
        found = fl.over(df, fl.Sliding(range_, slide), time="ts", by="k").agg(**asked)
        return found.selectExpr("k", "window.start as start", *asked)

    def theirs(df):
        from pyspark.sql import functions as F

        _, texts = _calls(name)
        asked = [F.expr(text).alias(one) for one, text in texts.items()]
        found = df.groupBy("k", F.window("ts", range_, slide)).agg(*asked)
        return found.selectExpr("k", "window.start as start", *texts)

    return Kind(ours, theirs, alone=name not in ALIKE)


KINDS |= {f"{name} {shape}": _windows_of(name, shape) for name in ASKED for shape in SHAPES}


if __name__ == "__main__":
    main()
