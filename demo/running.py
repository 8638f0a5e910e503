"""A local Spark session, and queries run in it and timed."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

import fanlight as fl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    # needed by the streams whose windows are cut by rows
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}


def write_table(spark: SparkSession, table: pa.Table, path: Path) -> DataFrame:
    """Write a table to a Parquet file, and return a DataFrame that reads it."""
    pq.write_table(table, path)
    return spark.read.parquet(str(path))


def collect(result: DataFrame, keys: tuple[str, ...]) -> pa.Table:
    """Collect a result as an Arrow table, sorted by its keys."""
    table: pa.Table = result.toArrow()
    order = pc.sort_indices(table.flatten(), [(name, "ascending") for name in keys])
    return table.take(order).combine_chunks()


def answer(ask: Callable[..., DataFrame], keys: tuple[str, ...], *arguments: Any) -> pa.Table:
    """Ask a question, and collect its result."""
    return collect(ask(*arguments), keys)


def time_answer(
    ask: Callable[[DataFrame], DataFrame], df: DataFrame, keys: tuple[str, ...]
) -> tuple[pa.Table, float]:
    """Ask a question, and return its result and the seconds that it took.

    A new DataFrame is made each time, as Spark reuses the shuffle files of one that has run.
    """
    began = time.perf_counter()
    table = answer(ask, keys, df)
    return table, time.perf_counter() - began


@contextmanager
def session(log: Path) -> Iterator[SparkSession]:
    """A Spark session on this machine's cores; its JVM logs to a file."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[*]").appName("fanlight demo")
    for name, value in (*SETTINGS.items(), ("spark.sql.shuffle.partitions", str(count_cores()))):
        builder = builder.config(name, value)
    with log.open("w") as file, _stderr_to(file.fileno()):
        try:
            spark: SparkSession = builder.getOrCreate()
        except PySparkRuntimeError as error:
            raise fl.FanlightError(
                f"Spark did not start; is there a Java 17 or newer? Its messages are in {log}"
            ) from error
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """Processes started inside write their standard error to a file."""
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def count_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
