"""The Spark session of a command."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What a terminal should not be filled with. A setting of the user's goes before.
QUIET = {"spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def session(name: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session with these settings, besides those that Spark finds by itself; stopped after."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
    builder: Any = SparkSession.builder.appName(f"fanlight {name}")
    for key, value in {**QUIET, **settings}.items():
        builder = builder.config(key, value)
    try:
        spark: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        raise fl.FanlightError(
            f"Spark did not start: {str(error).partition(chr(10))[0]}; is there a Java 17 or "
            "newer? Set JAVA_HOME to it, or SPARK_REMOTE to a Spark Connect server"
        ) from error
    try:
        yield spark
    finally:
        spark.stop()
