"""The competitors: the same windows, as each engine would have them written."""

from __future__ import annotations

import os

from benchmarks.queries import Batch, Duck, Polars, Stream
from benchmarks.sessions import CORES, SEGMENT_TREE

os.environ.setdefault("POLARS_MAX_THREADS", str(CORES))  # read when Polars is imported

MINUTE = 60_000_000
WINDOW = ("k", "window.start as start", "n", "s", "m")


def minutes(number):
    return f"{number} minutes"


def ours(df, range_, slide=None, *, rate=None, groups=None, strategy="auto"):
    """The query through fanlight: count, sum and max of each window and key."""
    import fanlight as fl
    from fanlight import agg

    spec = range_ if isinstance(range_, fl.Sliding) else fl.Sliding(range_, slide)
    windows = fl.over(df, spec, time="ts", by="k").using(strategy, rate=rate, groups=groups)
    return windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("v")).selectExpr(*WINDOW)


def levels(df, horizons, *, strategy="auto"):
    """Several horizons (range, slide) through fanlight, in one query; the level as a number."""
    import fanlight as fl
    from fanlight import agg

    spec = fl.MultiGranular(*zip(*horizons, strict=True))
    windows = fl.over(df, spec, time="ts", by="k").using(strategy)
    found = windows.agg(n=agg.count(), s=agg.sum("v"), m=agg.max("v"))
    return found.selectExpr("level", *WINDOW)


def ours_apart(df, horizons):
    """The horizons through fanlight, a query each."""
    return _together([ours(df, *one) for one in horizons])


def theirs_apart(df, horizons):
    """The horizons as Spark has them: a groupBy(window) each."""
    return _together([theirs(df, *one) for one in horizons])


def _together(queries):
    found = None
    for level, query in enumerate(queries):
        one = query.selectExpr(f"{level} as level", "*")
        found = one if found is None else found.unionAll(one)
    return found


def theirs(df, range_, slide=None):
    """The query as Spark has it: groupBy(window)."""
    from pyspark.sql import functions as F

    window = F.window("ts", range_, slide or range_)
    found = df.groupBy("k", window).agg(
        F.count("*").alias("n"), F.sum("v").alias("s"), F.max("v").alias("m")
    )
    return found.selectExpr(*WINDOW)


def batch(spark, make, *given, **hints):
    return lambda table: Batch(make(table.read(spark), *given, **hints))


def stream(spark, make, *given, **hints):
    return lambda table: Stream(make(table.stream(spark), *given, **hints))


def at_every_row(spark, length, *, segment_tree):
    """A window that ends at every row: Spark's OVER (RANGE BETWEEN …).

    The frame is closed at both ends; fanlight's is half-open, hence the microsecond.
    """
    before = f"interval '{length / 1e6 - 1e-6:.6f}' second"
    over = f"over (partition by k order by ts range between {before} preceding and current row)"
    columns = [
        *("k", f"ts - {before} as start"),
        *(f"count(1) {over} as n", f"sum(v) {over} as s", f"max(v) {over} as m"),
    ]
    given = {SEGMENT_TREE: str(segment_tree).lower()}
    return lambda table: Batch(table.read(spark).selectExpr(*columns), given)


def every_so_many_rows(spark, length, slide, *, segment_tree):
    """Windows of so many rows, every so many rows: Spark's OVER (ROWS BETWEEN …).

    A window is there if it holds any row, as elsewhere. The last ones run past a key's last row;
    rows without a time, put behind each key, give them rows to end at.
    """
    over = (
        f"over (partition by k order by ts nulls last rows between {length - 1} preceding "
        "and current row)"
    )
    number = "row_number() over (partition by k order by ts nulls last)"
    columns = [
        *("k", f"{number} as number"),
        *(f"count(ts) {over} as n", f"sum(v) {over} as s", f"max(v) {over} as m"),
    ]

    def make(table):
        past = spark.range(table.keys * length).selectExpr(
            "cast(null as timestamp) as ts",
            f"cast(id % {table.keys} as int) as k",
            "cast(null as double) as v",
        )
        rows = table.read(spark).select("ts", "k", "v").unionAll(past).selectExpr(*columns)
        ends = rows.where(f"number % {slide} = 0 and n > 0")
        found = ends.selectExpr("k", f"cast(number - {length} as bigint) as start", "n", "s", "m")
        return Batch(found, {SEGMENT_TREE: str(segment_tree).lower()})

    return make


def polars_sliding(range_, slide):
    """group_by_dynamic over rows that are in order already."""
    import polars as pl

    def make(table):
        rows = pl.scan_parquet(table.glob).set_sorted("ts")
        windows = rows.group_by_dynamic(
            "ts", every=f"{slide}m", period=f"{range_}m", offset=f"{slide - range_}m", group_by="k"
        ).agg(n=pl.len(), s=pl.col("v").sum(), m=pl.col("v").max())
        return Polars(windows.rename({"ts": "start"}))

    return make


def polars_tumbling(length):
    """group_by over truncated times: quicker than group_by_dynamic where windows do not overlap."""
    import polars as pl

    def make(table):
        start = pl.col("ts").dt.truncate(f"{length}m").alias("start")
        windows = (
            pl.scan_parquet(table.glob)
            .group_by("k", start)
            .agg(n=pl.len(), s=pl.col("v").sum(), m=pl.col("v").max())
        )
        return Polars(windows)

    return make


def duck():
    """A database in memory, with as many threads as Spark has cores."""
    import duckdb

    return duckdb.connect(config={"threads": CORES})


_SUMS = "count(*) as n, sum(v) as s, max(v) as m"


def duckdb_tumbling(length):
    """GROUP BY on whole microseconds."""
    width = length * MINUTE

    def make(table):
        t = "epoch_us(ts)"
        return Duck(
            duck(),
            f"select k, {t} - {t} % {width} as start, {_SUMS} "
            f"from read_parquet('{table.glob}') group by all",
        )

    return make


def duckdb_copies(range_, slide):
    """Each row joined with the windows that it lies in, then GROUP BY: what F.window does."""
    return lambda table: Duck(
        duck(),
        f"select k, t - t % {slide * MINUTE} - back * {slide * MINUTE} as start, {_SUMS} "
        f"from (select k, epoch_us(ts) as t, v from read_parquet('{table.glob}')), "
        f"range({range_ // slide}) as windows(back) group by all",
    )


def duckdb_panes(range_, slide):
    """Panes by hand: GROUP BY slide, every slide of every key beside it, OVER (RANGE BETWEEN …)."""
    step, length = slide * MINUTE, range_ * MINUTE
    over = (
        f"over (partition by k order by p range between {length - step} preceding and current row)"
    )
    return lambda table: Duck(
        duck(),
        f"""
        with panes as (
            select k, epoch_us(ts) - epoch_us(ts) % {step} as p, {_SUMS}
            from read_parquet('{table.glob}') group by all
        ), grid as (
            select k, p from (select distinct k from panes),
            (select unnest(range(min(p), max(p) + {length}, {step})) as p from panes)
        ), windows as (
            select k, p - {length - step} as start,
                sum(n) {over} as n, sum(s) {over} as s, max(m) {over} as m
            from grid left join panes using (k, p)
        )
        select * from windows where n > 0
        """,
    )
