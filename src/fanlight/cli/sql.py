"""The one place that asks for ``fl.sql``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fanlight as fl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "json"}


def read_table(spark: SparkSession, path: str) -> DataFrame:
    """A file or a folder of them as a table; Parquet, unless its name ends otherwise."""
    format = SUFFIXES.get(Path(path).suffix.lower(), "parquet")
    reader = spark.read.format(format)
    if format == "csv":
        reader = reader.options(header=True, inferSchema=True)
    return reader.load(path)


def over_tables(text: str, tables: Mapping[str, DataFrame]) -> DataFrame:
    """The result of a text over tables by name."""
    found: DataFrame = _sql()(text, **tables)
    return found


def why(text: str, tables: Mapping[str, DataFrame]) -> str:
    """How the text runs: Spark's plan of it, which Spark can only print."""
    printed = StringIO()
    with redirect_stdout(printed):
        over_tables(text, tables).explain()
    return printed.getvalue()


def available() -> None:
    """Refuse SQL where it cannot be read: said before Spark starts."""
    _sql()


def _sql() -> Any:
    """The function; a release without it, or without what it is read by, says so."""
    try:
        found = getattr(fl, "sql", None)
    except ModuleNotFoundError as error:  # which says what to install
        raise fl.FanlightError(str(error)) from error
    if found is None:
        raise fl.FanlightError(
            f"fanlight {fl.__version__} has no SQL; give the query as window, time, by and "
            "aggregates, or install a newer fanlight"
        )
    return found
