"""How long a living stream takes: from the arrival of a result's last row to its emission."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

import fanlight as fl
from benchmarks.data import SCHEMA
from benchmarks.timing import Result, Row
from fanlight import agg

TRIGGERS = ("0 seconds", "1 second")
SECONDS, SETTLE = 45.0, 15.0  # how long a stream runs, and what of it is not measured
EVERY = 0.1  # seconds from one file to the next
ROWS, KEYS = 1_000, 10  # of a file
RANGE, SLIDE = "2 seconds", "1 second"
PERCENTS = (50, 95, 99, 100)


def latency(bench):
    """Ten files a second, each of rows that are as old as the file: Spark's windows and ours."""
    ways = {"F.window 2/1": _theirs, "fanlight 2/1": _ours, "fanlight delta frames": _delta}
    middle, listed = {}, []
    for trigger in TRIGGERS[: 1 if bench.smoke else None]:
        for name, make in ways.items():
            late = _late(bench, make, trigger)
            found = np.percentile(late, PERCENTS)
            middle[trigger, name] = found[0]
            told = [f"{one:.2f}" for one in found]
            listed.append([name, trigger, f"{len(late):,}", *told])
            bench.say(f"  {name}, every {trigger}: {', '.join(told)} s")
    theirs, *others = ways
    head = ["windows", "trigger", "results", *(f"{percent} %" for percent in PERCENTS)]
    title = f"Latency in seconds, {int(ROWS / EVERY):,} rows a second, {KEYS} keys"
    return Result(
        [
            Row(f"latency, median, trigger {trigger}", name, middle[trigger, name],
                theirs, middle[trigger, theirs])
            for trigger, name in middle
            if name in others
        ],
        [(title, head, listed)],
    )  # fmt: skip


def _theirs(rows):
    found = rows.groupBy("k", F.window("ts", RANGE, SLIDE))
    return found.agg(F.count("*"), F.sum("v"), F.max("ts").alias("last"))


def _ours(rows):
    windows = fl.over(rows, fl.Sliding(RANGE, SLIDE), time="ts", by="k")
    return windows.agg(agg.count(), agg.sum("v"), agg.max("ts").alias("last"))


def _delta(rows):
    """A frame ends at each tenth file."""
    frames = fl.over(rows, fl.DeltaFrame({"v": 9.5}), time="ts", by="k")
    return frames.agg(agg.count(), agg.sum("v"), agg.max("ts").alias("last"))


def _late(bench, make, trigger):
    """For each result that a stream emits, how old its last row is then, in seconds."""
    settle, length = (0.0, 3.0) if bench.smoke else (SETTLE, SECONDS)
    late = []
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as scratch:
        inbox = Path(scratch, "in")
        inbox.mkdir()
        rows = bench.spark.readStream.schema(SCHEMA).parquet(str(inbox))
        result = make(rows.withWatermark("ts", "0 seconds"))

        def emitted(df, _):
            lasts = [row.last for row in df.select(F.unix_micros("last").alias("last")).collect()]
            now = time.time()
            late.extend((now, now - last / 1e6) for last in lasts)

        writer = result.writeStream.foreachBatch(emitted).trigger(processingTime=trigger)
        query = writer.option("checkpointLocation", f"{scratch}/state").start()
        began, ended = time.time(), threading.Event()
        feeder = threading.Thread(target=_feed, args=(inbox, ended))
        feeder.start()
        # Where Spark starts slowly, as in a smoke run, until there is a result.
        while query.isActive and (time.time() < began + length or not late):
            time.sleep(EVERY)
        ended.set()
        feeder.join()
        failed = query.exception()
        if failed is None:
            query.processAllAvailable()  # stopped within a batch, Spark fails at length
        query.stop()
    if failed is not None:
        raise failed
    return [seconds for at, seconds in late if at >= began + settle]


def _feed(inbox, ended):
    """A file of rows of this instant, again and again, until told to end."""
    number, keys = 0, np.arange(ROWS) % KEYS
    while not ended.wait(EVERY):
        table = pa.table(
            {
                "ts": pa.array(np.full(ROWS, int(time.time() * 1e6)), pa.timestamp("us", "UTC")),
                "k": pa.array(keys, pa.int32()),
                "v": pa.array(np.full(ROWS, float(number))),
                "n": pa.array(keys, pa.int32()),
            }
        )
        unfinished = inbox / f".{number:06}"
        pq.write_table(table, unfinished)
        unfinished.rename(inbox / f"{number:06}.parquet")
        number += 1
