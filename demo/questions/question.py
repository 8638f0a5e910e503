"""A question about the flights, written for fanlight and for plain Spark."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from textwrap import dedent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEPARTED = "departed"
LANDED = "landed"


@dataclass(frozen=True)
class Further:
    """A question of flights and weather whose answer is only drawn or listed.

    ``ask`` is also given the day that the pictures are about.
    """

    ask: Callable[[DataFrame, DataFrame, date], DataFrame]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question for one kind of window.

    ``ask`` and ``ask_spark`` return columns of the same names, of which ``keys`` identify a row.
    ``closed`` is a SQL condition for the batch's rows that a stream has, too. ``time`` is the
    column of the stream's watermark. ``further`` is what the page shows beside the answer.
    """

    name: str
    windows: str
    ask: Callable[[DataFrame], DataFrame]
    ask_spark: Callable[[DataFrame], DataFrame]
    spark_technique: str
    keys: tuple[str, ...]
    time: str = DEPARTED
    closed: str = "true"
    further: Further | None = None

    def ask_closed(self, flights: DataFrame) -> DataFrame:
        """Ask a batch, and keep the rows that a stream has, too."""
        return self.ask(flights).where(self.closed)

    @property
    def code(self) -> str:
        """The source lines of ``ask``, so that the page shows the code that runs."""
        return body_of(self.ask)

    @property
    def spark_code(self) -> str:
        """The source lines of ``ask_spark``."""
        return body_of(self.ask_spark)


def body_of(function: Callable[..., Any]) -> str:
    """The source of a function without its head and docstring."""
    lines = dedent(inspect.getsource(function)).splitlines()
    start = next(n for n, line in enumerate(lines) if line.endswith('."""'))
    return dedent("\n".join(lines[start + 1 :])).replace("  # fmt: skip", "")
