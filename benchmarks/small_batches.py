"""Streams of small micro-batches, a file each: what each micro-batch takes, as Spark tells it."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from benchmarks.data import BEGIN, SCHEMA

ROWS = 1_000  # a micro-batch
FILL = 4  # files that bring all keys


def marked(rows):
    """With a watermark, as all that is timed here needs one."""
    return rows.withWatermark("ts", "1 second")


@contextmanager
def arriving(spark, keys, batches):
    """Rows as a stream: first all keys, then so many files of a thousand rows each."""
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as folder:
        _write(spark, Path(folder), keys, batches)
        rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        yield rows.parquet(f"{folder}/in")


def progress(df, settle, mode="append"):
    """The progress of each micro-batch of a thousand rows, but for the first few."""
    with tempfile.TemporaryDirectory(prefix="fanlight-benchmarks-") as folder:
        writer = (
            df.writeStream.outputMode(mode)
            .format("noop")
            .option("checkpointLocation", f"{folder}/state")
        )
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        if query.exception() is not None:
            raise query.exception()
        found = [one for one in query.recentProgress if one.numInputRows == ROWS]
        return found[settle:]


def _write(spark, folder, keys, batches):
    """Files in the order of their times."""
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
