"""All of the command line's uses of ``fl.sql``, and its tables from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fanlight.language.columns import AskedWindows


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
    from fanlight.language.columns import selected_columns

    return selected_columns(text)


def list_windows(text: str) -> tuple[AskedWindows, ...]:
    """The windows that a query asks for, in the order of its text."""
    from fanlight.language.columns import asked_windows

    return tuple(asked_windows(text))


def _sql_function() -> Callable[..., DataFrame]:
    """``fl.sql``; an error that says what to install if its parser is missing."""
    try:
        return fl.sql
    except ModuleNotFoundError as error:
        raise fl.FanlightError(str(error)) from error
