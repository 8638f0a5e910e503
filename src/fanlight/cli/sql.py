"""The one place that asks for ``fl.sql``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

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
    return _sql()(text, **tables)


def why(text: str, tables: Mapping[str, DataFrame]) -> str:
    """How the text runs: Spark's plan of it, which Spark can only print."""
    printed = StringIO()
    with redirect_stdout(printed):
        over_tables(text, tables).explain()
    return printed.getvalue()


def available() -> None:
    """Refuse SQL where it cannot be read: said before Spark starts."""
    _sql()


def columns(text: str) -> tuple[str, ...] | None:
    """The columns of a text's result by their names; None where only Spark knows them.

    A text that ``fl.sql`` cannot read is refused; no Spark is needed for that.
    """
    from fanlight.language.columns import named

    return named(text)


def _sql() -> Callable[..., DataFrame]:
    """The function; without what reads its text it says what to install."""
    try:
        return fl.sql
    except ModuleNotFoundError as error:
        raise fl.FanlightError(str(error)) from error
