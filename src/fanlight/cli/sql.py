"""All of the command line's uses of ``fl.sql``, and its tables from files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fanlight.language.columns import EarlyWord


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


def explain_sql(text: str, tables: Mapping[str, DataFrame]) -> str:
    """Spark's plan of a query as text."""
    result = run_sql(text, tables)
    (row,) = result.sparkSession.sql("EXPLAIN SELECT * FROM {df}", df=result).collect()
    return str(row[0])


def require_sql() -> None:
    """Raise an error before Spark starts if the parser of SQL is not installed."""
    _sql_function()


def sql_columns(text: str) -> tuple[str, ...] | None:
    """The names of the columns of a query's result; None if only Spark can tell them.

    A text that ``fl.sql`` cannot read is refused, without Spark.
    """
    from fanlight.language.columns import selected_columns

    return selected_columns(text)


def early_words_of(text: str) -> tuple[EarlyWord, ...]:
    """Where a query asks for windows while they are open."""
    from fanlight.language.columns import early_words

    return tuple(early_words(text))


def _sql_function() -> Callable[..., DataFrame]:
    """``fl.sql``; an error that says what to install if its parser is missing."""
    try:
        return fl.sql
    except ModuleNotFoundError as error:
        raise fl.FanlightError(str(error)) from error
