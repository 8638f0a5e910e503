"""Three queries of Nexmark, an auction site's, over made-up bids: q5, q7 and q11.

The bids are invented, by a generator of this module's own that keeps Nexmark's proportions (one
person, three auctions and 46 bids in 50 events) and its skew, so figures are not comparable with
those of Nexmark's own generator. There are 1,000 events a second, a tenth of Nexmark's, so that a
bidder has more than one session.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import functions as F

import fanlight as fl
from benchmarks.cases.times import row
from benchmarks.data import BEGIN, cache, write
from benchmarks.queries import Batch, Duck, Stream
from benchmarks.timing import Entry, Page, Result, race
from benchmarks.windows import duck
from fanlight import agg

RANGE, SLIDE, GAP = "10 seconds", "2 seconds", "10 seconds"
LENGTH, STEP, SILENCE = 10_000_000, 2_000_000, 10_000_000  # the same in microseconds
SCHEMA = "ts timestamp, auction long, bidder long, price long"
FEW = 100_000  # bids of a hundred seconds, so that a stream ends sessions, too
PEOPLE, AUCTIONS, HOT = 1_000, 100, 100  # who bids, for what, and one in how many is hot
PRICES = 10_007  # so few that the highest one of a window is often bid more than once
MINE, THEIRS, DUCKDB = "fanlight", "Spark", "DuckDB"

TEXT = """\
Three queries of [Nexmark](https://github.com/nexmark/nexmark): q5, the auctions with the most bids
in the last ten seconds, every two seconds; q7, the bids at the highest price of each ten seconds;
q11, the bids of each of a bidder's sessions. The bids are invented by a generator of this
repository, which keeps Nexmark's proportions and skew at a tenth of its rate, so these figures are
not comparable with those of other generators. Times are wall-clock seconds over {rows:,} bids in
Parquet files, the best of {rounds} turns (of two for streams); streams run in 10 micro-batches,
with state in RocksDB. Before they are timed, all must give the same answer on {few:,} bids."""


@dataclass(frozen=True)
class Bids:
    """Parquet files of made-up bids; rows follow time, and so does the files' modification."""

    folder: str
    rows: int

    def read(self, spark):
        return spark.read.schema(SCHEMA).parquet(self.folder)

    def stream(self, spark):
        source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return source.parquet(self.folder).withWatermark("ts", "1 second")

    def sql(self, columns):
        """The bids for DuckDB, with their times in microseconds."""
        return f"(select epoch_us(ts) as t, {columns} from read_parquet('{self.folder}/*.parquet'))"


def bids(spark, rows, *, files=10):
    """The bids, made if they are not there yet.

    Half of them are for the hot auction, which changes with every 100th auction; the others for one
    of the last 100. Three of four are by the hot bidder, who changes with every 100th person; the
    others by one of the last 1,000.
    """
    folder = cache() / f"nexmark-{rows}-{files}"
    found = Bids(str(folder), rows)
    if folder.exists():
        return found
    numbered = spark.range(0, rows, 1, files).selectExpr(
        "id", "id div 46 as person", "id div 46 * 3 + 2 as auction"
    )
    auction, bidder = (
        f"greatest({last} - {most - 1}, 0) + pmod(xxhash64(id, {seed}), least({last} + 1, {most}))"
        for last, most, seed in (("auction", AUCTIONS, 2), ("person", PEOPLE, 4))
    )
    made = numbered.selectExpr(
        f"timestamp_millis({BEGIN}000 + person * 50 + 4 + id % 46) as ts",
        f"if(pmod(xxhash64(id, 1), 2) > 0, auction div {HOT} * {HOT}, {auction}) as auction",
        f"if(pmod(xxhash64(id, 3), 4) > 0, person div {HOT} * {HOT} + 1, {bidder}) as bidder",
        f"cast(pow(10, pmod(xxhash64(id, 5), {PRICES}) * 6 / {PRICES}) * 100 as long) as price",
    )
    write(made, folder)
    return found


def counted(rows):
    """How many bids each auction has in each window, through fanlight."""
    return fl.over(rows, fl.Sliding(RANGE, SLIDE), time="ts", by="auction").agg(n=agg.count())


def counted_by_spark(rows):
    return rows.groupBy("auction", F.window("ts", RANGE, SLIDE)).agg(F.count("*").alias("n"))


def hottest(counts):
    """q5: the auctions with the most bids of each window, all that have as many."""
    most = counts.selectExpr("*", "max(n) over (partition by window) as most")
    return most.where("n = most").selectExpr("window.start as start", "auction", "n")


def hottest_so_far(counts):
    """q5 in a stream, where there is no OVER: each window's auctions are collected."""
    lists = counts.groupBy("window").agg(
        F.max("n").alias("most"), F.collect_list(F.struct("auction", "n")).alias("all")
    )
    found = lists.selectExpr("window.start as start", "most", "inline(all)")
    return found.where("n = most").select("start", "auction", "n")


def hottest_by_duckdb(of):
    return f"""
        with counts as (
            select t - t % {STEP} - back * {STEP} as start, auction, count(*) as n
            from {of.sql("auction")}, range({LENGTH // STEP}) as windows(back) group by all
        )
        select start, auction, n from counts qualify n = max(n) over (partition by start)
        """


def highest(rows):
    """The highest price of each window, through fanlight."""
    return fl.over(rows, fl.Sliding(RANGE), time="ts").agg(price=agg.max("price"))


def highest_by_spark(rows):
    return rows.groupBy(F.window("ts", RANGE)).agg(F.max("price").alias("price"))


def at_highest(make):
    """q7: the bids of each window at its highest price, all of them."""

    def made(rows):
        windowed = rows.withColumn("window", F.window("ts", RANGE))
        found = windowed.join(make(rows), ["window", "price"])
        return found.selectExpr("window.start as start", "auction", "bidder", "price")

    return made


def highest_by_duckdb(of):
    return f"""
        with bids as (
            select t - t % {LENGTH} as start, auction, bidder, price
            from {of.sql("auction, bidder, price")}
        ), highest as (select start, max(price) as price from bids group by start)
        select start, auction, bidder, price from bids join highest using (start, price)
        """


def sessions(rows):
    """q11: the bids of each of a bidder's sessions, through fanlight."""
    found = fl.over(rows, fl.Session(GAP), time="ts", by="bidder").agg(n=agg.count())
    return _lasting(found)


def sessions_by_spark(rows):
    found = rows.groupBy("bidder", F.session_window("ts", GAP)).agg(F.count("*").alias("n"))
    return _lasting(found.withColumnRenamed("session_window", "window"))


def _lasting(found):
    lasts = "unix_micros(window.end) - unix_micros(window.start) as lasts"
    return found.selectExpr("bidder", "window.start as start", lasts, "n")


def sessions_by_duckdb(of):
    over = "over (partition by bidder order by t)"
    return f"""
        with opened as (
            select bidder, t, coalesce(t - lag(t) {over} > {SILENCE}, true) as opens
            from {of.sql("bidder")}
        ), numbered as (select bidder, t, sum(opens::int) {over} as session from opened)
        select bidder, min(t) as start, max(t) - min(t) + {SILENCE} as lasts, count(*) as n
        from numbered group by bidder, session
        """


QUERIES = {
    "Nexmark q5, hot items": (
        lambda rows: hottest(counted(rows)),
        lambda rows: hottest(counted_by_spark(rows)),
        hottest_by_duckdb,
    ),
    "Nexmark q7, highest bid": (
        at_highest(highest),
        at_highest(highest_by_spark),
        highest_by_duckdb,
    ),
    "Nexmark q11, user sessions": (sessions, sessions_by_spark, sessions_by_duckdb),
}
STREAMS = {
    "Nexmark q5, stream": (
        lambda rows: hottest_so_far(counted(rows)),
        lambda rows: hottest_so_far(counted_by_spark(rows)),
    ),
    "Nexmark q11, stream": (sessions, sessions_by_spark),
}


def nexmark(bench):
    """Nexmark's hot items, highest bids and user sessions over made-up bids."""
    spark, found, listed = bench.spark, [], []
    small = bids(spark, FEW, files=5)
    large = small if bench.smoke else bids(spark, bench.table.rows)
    bench = replace(bench, small=small, table=large)

    def batch(make):
        return lambda of: Batch(make(of.read(spark)))

    def stream(make):
        return lambda of: Stream(make(of.stream(spark)))

    for case, (ours, theirs, text) in QUERIES.items():
        entries = [
            Entry(MINE, batch(ours)),
            Entry(THEIRS, batch(theirs)),
            Entry(DUCKDB, lambda of, text=text: Duck(duck(), text(of))),
        ]
        best = race(entries, bench)
        found += [row(case, best, MINE, other) for other in (THEIRS, DUCKDB)]
        listed.append(_line(case, best))
    for case, (ours, theirs) in STREAMS.items():
        entries = [Entry(MINE, stream(ours)), Entry(THEIRS, stream(theirs))]
        best = race(entries, bench, rounds=min(bench.rounds, 2))
        found.append(row(case, best, MINE, THEIRS))
        listed.append(_line(case, best))
    text = TEXT.format(rows=bench.table.rows, rounds=bench.rounds, few=FEW)
    page = Page("nexmark", "Nexmark", text, {})
    return Result(found, [("Seconds", ["query", MINE, THEIRS, DUCKDB], listed)], page=page)


def _line(case, best):
    """A query's times; DuckDB has no streams."""
    times = (best.get(name) for name in (MINE, THEIRS, DUCKDB))
    return [case.removeprefix("Nexmark "), *("" if one is None else f"{one:.2f}" for one in times)]
