"""The Spark session of a command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Keeps Spark's log and progress bar out of the terminal; a user's setting wins.
QUIET = {"spark.log.level": "FATAL", "spark.ui.showConsoleProgress": "false"}


def is_remote(settings: Mapping[str, str]) -> bool:
    """Whether the session will use Spark Connect."""
    return bool(settings.get("spark.remote") or os.environ.get("SPARK_REMOTE"))


@contextmanager
def session(name: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start a session with these settings, besides those that Spark finds itself; then stop it."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from fanlight.engine.spark.quiet import quietly

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.appName(f"fanlight {name}")
    quiet = {} if is_remote(settings) else QUIET  # a server keeps its own log settings
    for key, value in {**quiet, **settings}.items():
        builder = builder.config(key, value)
    try:
        spark: SparkSession = builder.getOrCreate()
    except PySparkException as error:
        raise fl.FanlightError(
            f"Spark did not start: {str(error).partition(chr(10))[0]}; is there a Java 17 or "
            "newer? Set JAVA_HOME to it, or SPARK_REMOTE to a Spark Connect server"
        ) from error
    try:
        # PySpark logs each error of a query as JSON; a command prints its own message.
        with _raise_on_interrupt(), quietly():
            yield spark
    finally:
        spark.stop()


@contextmanager
def _raise_on_interrupt() -> Iterator[None]:
    """Ctrl-C only raises KeyboardInterrupt: PySpark's own handler calls Spark within a call."""
    if current_thread() is not main_thread():  # only the main thread may set handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
