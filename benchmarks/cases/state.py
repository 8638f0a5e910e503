"""What a micro-batch of a thousand rows costs, by how many keys have state."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from statistics import median

import fanlight as fl
from benchmarks.data import BEGIN, SCHEMA
from benchmarks.timing import Result, Row
from fanlight import agg

KEYS = (1_000, 1_000_000)
ROWS = 1_000  # a micro-batch
FILL = 4  # files that bring all keys
BATCHES, SETTLE = 16, 4  # micro-batches, the first of which are not measured
WRITTEN = "rocksdbTotalBytesWritten"


def state(bench):
    """Micro-batches of a thousand rows over a thousand keys, and over a million."""
    counts = (100, 2_000) if bench.smoke else KEYS
    batches = SETTLE + 1 if bench.smoke else BATCHES
    found = {keys: _measured(bench.spark, keys, batches) for keys in counts}
    listed = []
    for keys, (took, written, copied) in found.items():
        listed.append([f"{keys:,}", f"{took:.2f}", f"{written / 1e6:.2f}", f"{copied / 1e6:.2f}"])
        bench.say(f"  {keys:,} keys: {took:.2f} s, {written / 1e6:.2f} MB a micro-batch")
    few, many = (found[keys][0] for keys in counts)
    names = [f"{keys:,} keys" for keys in counts]
    head = ["keys", "s a micro-batch", "MB into RocksDB", "MB into the checkpoint"]
    return Result(
        [Row("1,000 rows a micro-batch", names[1], many, names[0], few, at_most=1.3)],
        [("1,000 rows a micro-batch, delta frames, medians", head, listed)],
    )


def _measured(spark, keys, batches):
    """Medians of a micro-batch: seconds, bytes written to RocksDB, bytes of new files."""
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as folder:
        _write(spark, Path(folder), keys, batches)
        rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        arriving = rows.parquet(f"{folder}/in").withWatermark("ts", "1 second")
        frames = fl.over(arriving, fl.DeltaFrame({"v": 2}), time="ts", by="k")
        writer = frames.agg(agg.count(), agg.sum("v"), agg.max("n")).writeStream.format("noop")
        writer = writer.option("checkpointLocation", f"{folder}/state")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        progress = [one for one in query.recentProgress if one.numInputRows == ROWS][SETTLE:]
        metrics = [one.stateOperators[0].customMetrics for one in progress]
        return (
            median(one.durationMs["triggerExecution"] / 1000 for one in progress),
            median(one[WRITTEN] for one in metrics),
            median(one["rocksdbBytesCopied"] for one in metrics),
        )


def _write(spark, folder, keys, batches):
    """Files in the order of their times: first all keys, then a thousand rows each."""
    part = keys // FILL
    parts = [
        spark.range(n * part, (n + 1) * part).selectExpr(
            f"timestamp_seconds({BEGIN + n}) as ts", "cast(id as int) as k",
            "double(id % 7) as v", "cast(id % 5 as int) as n",
        )
        for n in range(FILL)
    ]  # fmt: skip
    parts += [
        spark.range(ROWS).selectExpr(
            f"timestamp_millis({BEGIN + 100 + 20 * n}000 + id) as ts",
            f"cast(pmod(xxhash64(id, {n}), {keys}) as int) as k",
            f"double(id % 7) + {3 * n} as v", "cast(id % 5 as int) as n",
        )
        for n in range(batches)
    ]  # fmt: skip
    (folder / "in").mkdir()
    for number, rows in enumerate(parts):
        rows.coalesce(1).write.parquet(str(folder / "one"))
        (path,) = (folder / "one").glob("*.parquet")
        to = folder / "in" / f"{number:03}.parquet"
        path.rename(to)
        os.utime(to, (BEGIN + number, BEGIN + number))  # a stream takes files by modification
        shutil.rmtree(folder / "one")
