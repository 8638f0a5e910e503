"""The Spark that everything runs on, and what is known of the machine."""

from __future__ import annotations

import atexit
import os
import platform
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

CORES = 2
HEAP = 6  # GB that the JVM's heap may grow to
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SEGMENT_TREE = "spark.sql.window.segmentTree.enabled"
BATCH_BYTES, UNCOUNTED = "spark.sql.execution.arrow.maxBytesPerBatch", str(2**31 - 1)
# What each collection left on the heap, for `benchmarks.growth.memory`.
GC_LOG = Path(tempfile.gettempdir()) / f"fanlight-benchmarks-{os.getpid()}-gc.log"


def start(*, smoke):
    """A session of two cores; what one competitor alone is given, `settings` sets."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(f"local[{CORES}]").appName("fanlight-benchmarks")
    for name, value in {
        "spark.driver.memory": f"{2 if smoke else HEAP}g",
        "spark.driver.extraJavaOptions": f"-Xlog:gc:file={GC_LOG}:none:filecount=0",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(CORES),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    atexit.register(GC_LOG.unlink, missing_ok=True)
    return spark


@contextmanager
def settings(spark, given):
    """Settings of one competitor, there while it runs."""
    before = {name: spark.conf.get(name, None) for name in given}
    for name, value in given.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def machine():
    """The machine in general terms: nothing that names it."""
    names = ("pyspark", "polars", "duckdb")
    found = {
        "cores": f"{os.cpu_count()} (Spark, Polars and DuckDB use {CORES})",
        "memory": f"{_memory():.0f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "Java": _java(),
        "Python": platform.python_version(),
    }
    return found | {name: version(name) for name in names}


def _memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def _java():
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    found = re.search(r'version "([^"]+)"', told.stderr)
    return found[1] if found else "unknown"
