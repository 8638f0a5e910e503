"""The Spark session of a command."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fanlight.language.query import AskedWindows


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


QUERY_PACKAGES = ("pyspark", "rich")  # of the commands that run a query


def require(*packages: str, extra: str) -> None:
    """Exit with the line to write if a package is not installed."""
    import click  # which is one of them

    for package in packages:
        if find_spec(package) is None:
            wanted = "spark" if package == "pyspark" else extra
            raise click.ClickException(install_advice(package, wanted))


def install_advice(package: str, extra: str) -> str:
    """The line to write for a package that is not installed."""
    return f"this needs {package}, which is not installed; write: pip install 'fanlight[{extra}]'"


SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json"}


def read_table(spark: SparkSession, path: str) -> DataFrame:
    """A file or folder as a table: CSV or JSON by its suffix, else Parquet."""
    format = SUFFIXES.get(Path(path).suffix.lower(), "parquet")
    reader = spark.read.format(format)
    if format == "csv":
        reader = reader.options(header=True, inferSchema=True)
    return reader.load(path)


def run_sql(text: str, tables: Mapping[str, DataFrame]) -> DataFrame:
    """The result of a query over tables by name."""
    return _sql_function()(text, **tables)


def explain_sql(text: str, tables: Mapping[str, DataFrame], *, verbose: bool) -> str:
    """How a query over tables by name will run, and why, as text."""
    from fanlight.language.running.run import explain

    return explain(text, tables, verbose=verbose)


def require_sql() -> None:
    """Raise an error before Spark starts if the parser of SQL is not installed."""
    _sql_function()


def sql_columns(text: str) -> tuple[str, ...] | None:
    """The names of the columns of a query's result; None if only Spark can tell them.

    A text that ``fl.sql`` cannot read is refused, without Spark.
    """
    from fanlight.language.query import selected_columns

    return selected_columns(text)


def list_windows(text: str) -> tuple[AskedWindows, ...]:
    """The windows that a query asks for, in the order of its text."""
    from fanlight.language.query import asked_windows

    return tuple(asked_windows(text))


def _sql_function() -> Callable[..., DataFrame]:
    """``fl.sql``; an error that says what to install if its parser is missing."""
    try:
        return fl.sql
    except ModuleNotFoundError as error:
        raise fl.FanlightError(str(error)) from error
