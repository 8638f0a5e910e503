"""The Spark that the experiments run on: two cores."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CORES = 2


def clock(spark):
    """A function that tells the CPU seconds of the JVM and its Python workers so far.

    Unlike the time on the wall they hardly change with whatever else the machine does.
    """
    process = int(spark._jvm.ProcessHandle.current().pid())
    return lambda: cpu_seconds(process)


def cpu_seconds(process):
    """CPU seconds of a process, and of all that it has started, still running or not."""
    total, left = 0, [process]
    while left:
        one = Path("/proc") / str(left.pop())
        try:
            fields = (one / "stat").read_text("ascii").rsplit(")", 1)[1].split()
            total += sum(int(field) for field in fields[11:15])
            for task in (one / "task").iterdir():
                left += [int(child) for child in (task / "children").read_text("ascii").split()]
        except FileNotFoundError:
            continue  # it has just ended
    return total / os.sysconf("SC_CLK_TCK")


def start(name, *, partitions=CORES):
    """A session for the experiment ``name``, with so many shuffle partitions."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(f"local[{CORES}]").appName(f"experiments.{name}")
    for setting, value in {
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()
