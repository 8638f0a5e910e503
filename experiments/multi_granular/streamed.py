"""Figures 5 to 8 over streams of Spark: ``python -m experiments.multi_granular.streamed``."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fanlight as fl
from experiments import commands, sessions
from experiments.multi_granular.connections import connections
from experiments.multi_granular.figures import BY_COUNT, BY_EXTENT
from experiments.multi_granular.tables import table
from fanlight import agg

HERE = Path(__file__).parent
BEGIN = 1_700_006_400  # seconds; a timestamp of the figures is a second
FILES = 6  # micro-batches
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "ts timestamp, duration double, protocol bigint, link bigint"
COUNTS = (2, 3, 5, 8)  # levels; one alone is no multi-granular window
EXTENTS = tuple(BY_EXTENT)[:3]
TEXT = """\
# Figures 5 to 8 over streams of Spark

{cores} cores, Python {python}, PySpark {spark}. Written by `{command}`{size}. Generated connection
records of one link, a timestamp is a second; {files} micro-batches of Parquet files,
local[{cores}]. CPU milliseconds are a timestamp, of the JVM and its Python workers together, the
least of {runs} in turn; *reading* is a query that counts the same stream's rows an instant.
*state*: the most rows that the state of all operators held after a micro-batch. SUM and recurring
items are native; regression goes through the chain. *apart*: one stream a level, each a
`fl.Sliding`, added up.
"""


@dataclass(frozen=True)
class Told:
    """What a stream took."""

    cpu: float  # seconds
    state: int  # rows, the most after a micro-batch


class Source:
    """Records in files, one a micro-batch; the folder goes with the object's use."""

    def __init__(self, spark: Any, timestamps: int, rate: int, files: int = FILES) -> None:
        self.spark, self.timestamps, self.rate = spark, timestamps, rate
        self.folder = Path(tempfile.mkdtemp(prefix="fanlight-streams-"))
        each = -(-timestamps // files)
        for number in range(files):
            made = connections(each, rate, seed=number)
            seconds = made.timestamp + (BEGIN + number * each)
            columns = {
                "ts": pa.array(seconds * 1_000_000).cast(pa.timestamp("us", tz="UTC")),
                "duration": made.duration,
                "protocol": made.protocol,
                "link": np.zeros(len(seconds), np.int64),
            }
            path = self.folder / f"{number:03}.parquet"
            pq.write_table(pa.table(columns), path)
            moment = time.time() - 1000 + number  # files are taken in order of these
            os.utime(path, (moment, moment))

    def stream(self) -> Any:
        reader = self.spark.readStream.schema(SCHEMA)
        found = reader.option("maxFilesPerTrigger", 1).parquet(str(self.folder))
        return found.withWatermark("ts", "1 second")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def run(result: Any) -> Told:
    """A query to its end."""
    folder = tempfile.mkdtemp(prefix="fanlight-checkpoint-")
    clock = sessions.clock(result.sparkSession)
    began = clock()
    writer = result.writeStream.format("noop").option("checkpointLocation", folder)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    cpu = clock() - began
    held = [
        sum(operator.numRowsTotal for operator in progress.stateOperators)
        for progress in query.recentProgress
    ]
    shutil.rmtree(folder, ignore_errors=True)
    return Told(cpu, max(held, default=0))


def spec(given: tuple[list[int], list[int]]) -> Any:
    lengths, slides = ([f"{n} seconds" for n in part] for part in given)
    return fl.MultiGranular(lengths, slides)


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "SUM": lambda windows: windows.agg(agg.sum("duration")),
    "regression": lambda windows: windows.fit("duration", filled=True),
    "recurring": lambda windows: windows.recurring("protocol"),
}


def measured(
    source: Source, given: tuple[list[int], list[int]], runs: int, *, beside: bool = False
) -> dict[str, Any]:
    """Milliseconds a timestamp and rows of state, by operation; and a stream a level beside."""

    def one(name: str) -> Told:
        windows = fl.over(source.stream(), spec(given), time="ts", by="link")
        return run(OPERATIONS[name](windows))

    def reading() -> Told:
        return run(source.stream().groupBy("ts").count())

    def apart() -> Told:
        each = [
            run(fl.over(source.stream(), fl.Sliding(f"{length} seconds", f"{slide} seconds"),
                        time="ts", by="link").agg(agg.sum("duration")))
            for length, slide in zip(*given, strict=True)
        ]  # fmt: skip
        return Told(sum(told.cpu for told in each), sum(told.state for told in each))

    works = {name: lambda name=name: one(name) for name in OPERATIONS}
    works |= {"reading": reading} | ({"SUM, apart": apart} if beside else {})
    found: dict[str, list[Told]] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            found[name].append(work())
    row: dict[str, Any] = {}
    for name, told in found.items():
        row[f"{name} (ms)"] = min(t.cpu for t in told) / source.timestamps * 1000
    for name in [name for name in found if name != "reading"]:
        row[f"{name}: state"] = max(t.state for t in found[name])
    return row


def tables(spark: Any, scale: float, runs: int, *, smoke: bool = False) -> list[str]:
    """The figures; ``scale`` is a share of the full size."""
    parts: list[str] = []

    def add(*told: str) -> None:
        for part in told:
            print(part, end="\n\n", flush=True)
        parts.extend(told)

    few, files = (slice(1), 1) if smoke else (slice(None), FILES)
    rates = [max(int(rate * scale), 1) for rate in (1_000, 10_000, 100_000)]
    if not smoke:
        with Source(spark, 120, rates[0]) as source:
            measured(source, BY_COUNT[2], 1)  # warm-up
    rows = []
    for rate in rates[few]:
        with Source(spark, 240, rate, files) as source:
            rows.append({"rate": rate} | measured(source, BY_COUNT[5], runs))
    add("## Figure 5: cost against arrival rate, 5 levels, extent 40", table(rows))
    rows = []
    with Source(spark, 240, rates[-1], files) as source:
        for count in COUNTS[few]:
            rows.append({"levels": count} | measured(source, BY_COUNT[count], runs, beside=True))
    add(
        f"## Figures 6 and 8: cost and state against levels, extent 40, {rates[-1]:,} records a "
        "timestamp",
        table(rows),
    )
    rows = []
    rate = rates[0]
    with Source(spark, 120 if smoke else 6_144, rate, files) as source:
        for extent in EXTENTS[few]:
            rows.append({"extent": extent} | measured(source, BY_EXTENT[extent], runs))
    add(
        f"## Figure 7: cost and state against extent, 5 levels of 12 granules, {rate:,} records a "
        "timestamp",
        table(rows),
    )
    return parts


@commands.command()
@commands.smoke
@click.option("--small", is_flag=True, help="A tenth of the records, and one run.")
def main(*, smoke: bool, small: bool) -> None:
    """Multi-granular windows over streams of Spark: the paper's Figures 5 to 8.

    Prints tables, and writes them to streamed.md beside this file, which says what its size was.
    """
    scale, runs = (0.1, 1) if small else (0.001, 1) if smoke else (1.0, 3)
    spark = sessions.start("multi_granular.streamed")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    head = TEXT.format(
        cores=sessions.CORES,
        python=platform.python_version(),
        spark=spark.version,
        command="python -m experiments.multi_granular.streamed" + (" --small" if small else ""),
        size=": a tenth of the full size, which was not run" if small else "",
        files=FILES,
        runs=runs,
    )
    parts = tables(spark, scale, runs, smoke=smoke)
    spark.stop()
    if not smoke:
        (HERE / "streamed.md").write_text("\n\n".join([head.rstrip(), *parts]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
