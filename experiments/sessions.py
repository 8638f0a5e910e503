"""The Spark that the experiments run on: two cores."""

from __future__ import annotations

import os
import sys

CORES = 2


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
