"""As-of joins: the latest row of one table before each row of another, one tenth as many."""

from __future__ import annotations

from dataclasses import replace

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.data import SMALL, SMALL_KEYS, table
from benchmarks.queries import Batch, Duck, Polars
from benchmarks.sessions import settings
from benchmarks.timing import Entry, Result, race
from benchmarks.windows import duck
from fanlight import agg

MANY = 20_000
EACH = 10  # rows looked at for each row that asks
# Every row that asks, and of the other table's latest row of its key a double and an integer.
OUT = ("k", "t", "asked", "v", "n")
MINE, BY_HAND, OWN = "fanlight", "union, last(…) OVER ROWS", "Spark's ASOF JOIN"
# From Spark 4.3 on. It compares a row that asks with each row of its key, so one key takes hours.
SWITCH = "spark.sql.join.asofJoin.enabled"
BY_SPARK = (
    "it is the plan by hand, with each value in a struct with its place in the order; less would "
    "need a join of Spark's own that reads both tables in order"
)


def asking(spark, data):
    """The table whose rows ask: of the same keys and the same day."""
    return table(spark, data.rows // EACH, keys=data.keys, files=2)


def ours(spark):
    """The last row as of each row that asks."""

    def made(data):
        rows = data.read(spark).select("ts", "k", "v", "n")
        asks = asking(spark, data).read(spark).selectExpr("k", "ts", "n as asked")
        found = fl.over(rows, fl.Trailing(), time="ts", by="k").at(asks, time="ts")
        found = found.attach(v=agg.last("v"), n=agg.last("n"))
        return Batch(found.selectExpr("k", "unix_micros(ts) as t", "asked", "v", "n"))

    return made


def by_hand(spark):
    """Both tables in one, sorted; what is null in rows that ask comes from the row before."""

    def made(data):
        rows = data.read(spark).selectExpr(
            "k", "unix_micros(ts) as t", "0 as side", "cast(null as int) as asked", "v", "n"
        )
        asks = asking(spark, data).read(spark)
        asks = asks.selectExpr(
            "k", "unix_micros(ts) as t", "1 as side", "n as asked", "cast(null as double) as v",
            "cast(null as int) as n",
        )  # fmt: skip
        over = (
            "over (partition by k order by t, side rows between unbounded preceding and "
            "current row)"
        )
        both = rows.unionAll(asks).selectExpr(
            "k", "t", "side", "asked", f"last(v, true) {over} as v", f"last(n, true) {over} as n"
        )
        return Batch(both.where("side = 1").select(*OUT))

    return made


def own(spark):
    """Spark's own join, which is off unless a setting says otherwise."""

    def made(data):
        with settings(spark, {SWITCH: "true"}):
            found = spark.sql(
                "select a.k, unix_micros(a.ts) as t, a.n as asked, r.v, r.n from {asks} a "
                "left asof join {rows} r match_condition (a.ts >= r.ts) on a.k = r.k",
                asks=asking(spark, data).read(spark),
                rows=data.read(spark),
            )
        return Batch(found)

    return made


def duckdb_join(spark):
    def made(data):
        asks = asking(spark, data)
        return Duck(
            duck(),
            "select a.k as k, epoch_us(a.ts) as t, a.n as asked, r.v as v, r.n as n "
            f"from read_parquet('{asks.glob}') a asof left join read_parquet('{data.glob}') r "
            "on a.k = r.k and a.ts >= r.ts",
        )

    return made


def polars_join(spark):
    """Over rows that are in order already."""
    import polars as pl

    def made(data):
        rows = pl.scan_parquet(data.glob).set_sorted("ts")
        asks = pl.scan_parquet(asking(spark, data).glob).set_sorted("ts")
        found = (
            asks.rename({"n": "asked"})
            .drop("v")
            .join_asof(rows, on="ts", by="k", check_sortedness=False)
        )
        return Polars(found.select("k", pl.col("ts").dt.epoch("us").alias("t"), *OUT[2:]))

    return made


def as_of(bench):
    """The latest row before each row of a table a tenth as long, by 20,000 keys and by one."""
    spark, found = bench.spark, []
    there = spark.conf.isModifiable(SWITCH)
    for keys in (MANY, 1):
        small = table(spark, SMALL, keys=min(keys, SMALL_KEYS), files=2)
        large = small if bench.smoke else table(spark, bench.table.rows, keys=keys)
        entries = [
            Entry(MINE, ours(spark)),
            Entry(BY_HAND, by_hand(spark)),
            *([Entry(OWN, own(spark))] if there and keys > 1 else []),
            Entry("DuckDB ASOF JOIN", duckdb_join(spark)),
            Entry("Polars join_asof", polars_join(spark)),
        ]
        best = race(entries, replace(bench, small=small, table=large), rounds=min(bench.rounds, 3))
        case = f"as-of join, {keys:,} key{'s' * (keys > 1)}"
        goal = {BY_HAND: {"at_most": 0.7, "why": BY_SPARK}}
        found += [row(case, best, MINE, name, **goal.get(name, {})) for name in list(best)[1:]]
    return Result(found)
