"""A question about the flights, as one asks it of fanlight and as one writes it in plain Spark."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from textwrap import dedent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEPARTED = "departed"
LANDED = "landed"


@dataclass(frozen=True)
class Further:
    """What is asked of the flights and the weather for a picture or a table only.

    It is told the day that pictures are around.
    """

    ask: Callable[[DataFrame, DataFrame, date], DataFrame]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One kind of window, asked something.

    ``ask`` and ``plain`` give columns of the same names; what ``keys`` name tells the rows of an
    answer apart. ``closed`` is what a stream has of the batch's rows, as SQL. ``time`` is the
    column that the stream's watermark is on. ``further`` is what the page shows beside the answer.
    """

    name: str
    windows: str
    ask: Callable[[DataFrame], DataFrame]
    plain: Callable[[DataFrame], DataFrame]
    beside: str
    keys: tuple[str, ...]
    time: str = DEPARTED
    closed: str = "true"
    further: Further | None = None

    def ask_closed(self, flights: DataFrame) -> DataFrame:
        """The answer of a batch, as a stream has it."""
        return self.ask(flights).where(self.closed)

    @property
    def code(self) -> str:
        """The lines that ask it: what runs is what is shown."""
        return _body_of(self.ask)

    @property
    def plain_code(self) -> str:
        """The lines that ask plain Spark."""
        return _body_of(self.plain)


def _body_of(function: Callable[[DataFrame], DataFrame]) -> str:
    """What a function does, without its head and docstring."""
    lines = dedent(inspect.getsource(function)).splitlines()
    start = next(n for n, line in enumerate(lines) if line.endswith('."""'))
    return dedent("\n".join(lines[start + 1 :])).replace("  # fmt: skip", "")
