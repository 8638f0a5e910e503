"""Windows while they are open: each airport's day so far, in a table that a stream writes by key.

Four winter days are followed, those around the one with the most cancelled flights.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import fanlight as fl
from demo import arrivals, compare, figures, flights, running, streamed
from demo.outcome import Comparison
from fanlight import agg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

Array = np.ndarray[Any, Any]

DAYS = 4  # the second of them is the worst
DAY = np.timedelta64(1, "D")
MIDNIGHT = np.timedelta64(5, "h")  # at the airports in winter, in UTC
STEP = np.timedelta64(6, "h")  # a micro-batch has the flights that become known in this time
MOST = (DAYS + 1) * int(DAY // STEP)  # micro-batches: of a time without flights there is none
KEYS = ("origin", "window.start")
TIME = pa.timestamp("us", "UTC")
COLUMNS = pa.schema({
    "origin": pa.string(), "window.start": TIME, "window.end": TIME,
    "final": pa.bool_(), "departures": pa.int64(), "mean_delay": pa.float64(),
})  # fmt: skip
READ = """
    SELECT origin, window_start, window_end, final, departures, mean_delay FROM days
    WHERE origin <> '' ORDER BY origin, window_start
"""  # without the flight of no airport, which closes all windows


@dataclass(frozen=True)
class SoFar:
    """What the table ``said`` after each micro-batch; its last final rows compared with a batch.

    Beside the table's columns ``said`` has ``known``: the time up to which flights had arrived.
    """

    said: pa.Table
    compared: Comparison


def ask(flights: DataFrame) -> DataFrame:
    """Ask a batch."""
    days = fl.Sliding("1 day", offset="5 hours")
    windows = fl.over(flights, days, time="departed", by="origin")
    return windows.agg(departures=agg.count(), mean_delay=agg.avg("delay"))


def start(arriving: DataFrame, base: Path, checkpoint: Path, read: Callable[[int], None]) -> Any:
    """Ask a stream, which keeps a table up to date; ``read`` is called after each micro-batch."""
    days = fl.Sliding("1 day", offset="5 hours")  # from midnight to midnight in New York
    windows = fl.over(arriving, days, time="departed", by="origin").early()
    so_far = windows.agg(departures=agg.count(), mean_delay=agg.avg("delay"))
    write = fl.upsert(f"sqlite:///{base}", table="days", key=["origin", "window"])

    def write_and_read(changed: DataFrame, batch: int) -> None:
        write(changed, batch)
        read(batch)  # the whole table, for the picture

    return (
        so_far.writeStream.outputMode("update")
        .foreachBatch(write_and_read)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )


def follow(
    spark: SparkSession, table: pa.Table, work: Path, tick: Callable[[int], None] = lambda _: None
) -> SoFar:
    """Follow some of a table's days as a stream, and compare their final rows with a batch.

    ``tick`` is called with the number of micro-batches that have been read.
    """
    shown = days_around(table, flights.cancelled_days(table)[0][0])
    known, files = arrange(shown)
    arrivals.write(files, work / "arrivals")
    base = work / "days.db"
    readings: list[pa.Table] = []

    def read(batch: int) -> None:
        after = batch - len(known) + 1  # the closing flight is in the last file
        by = known[batch] if after <= 0 else known[-1] + after * STEP
        now = read_table(base)
        times = pa.repeat(pa.scalar(by.item(), TIME), now.num_rows)
        readings.append(now.append_column("known", times))
        tick(len(readings))

    arriving = streamed.read_stream(spark, work / "arrivals", "departed")
    start(arriving, base, work / "checkpoint", read).awaitTermination()
    last = readings[-1]
    got = last.filter(last["final"]).drop_columns(["final", "known"])
    right = running.answer(ask, KEYS, running.write_table(spark, shown, work / "days.parquet"))
    wrong = compare.count_differences(got, right, KEYS)
    return SoFar(pa.concat_tables(readings), Comparison(right.num_rows, wrong))


def days_around(table: pa.Table, worst: np.datetime64) -> pa.Table:
    """The flights that departed on ``DAYS`` days, of which the second is ``worst``."""
    departed = figures.utc_times(table, "departed")
    first = worst - DAY + MIDNIGHT
    return table.filter(pa.array((departed >= first) & (departed < first + DAYS * DAY)))


def arrange(table: pa.Table) -> tuple[Array, list[pa.Table]]:
    """When each file's flights have all become known (UTC), and the files: one per micro-batch."""
    known = arrivals.known_times(table, np.random.default_rng(arrivals.SEED))
    begin = np.datetime64(0, "us") + MIDNIGHT
    steps = (known - begin) // STEP
    distinct = np.unique(steps)
    return begin + (distinct + 1) * STEP, [table.filter(pa.array(steps == one)) for one in distinct]


def read_table(base: Path) -> pa.Table:
    """The table of open and final windows, as it stands."""
    with closing(sqlite3.connect(base)) as opened:
        rows = opened.execute(READ).fetchall()
    found = [
        (origin, datetime.fromisoformat(first), datetime.fromisoformat(last), bool(final), *values)
        for origin, first, last, final, *values in rows
    ]
    return pa.Table.from_pylist(
        [dict(zip(COLUMNS.names, row, strict=True)) for row in found], COLUMNS
    )
