"""How many rows a DataFrame has, as Spark's optimizer estimates; nothing is read to find out."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.spark.quiet import quietly

BYTES_A_ROW = 8.0  # of a few columns in Parquet; only the order of magnitude matters
UNKNOWN = 2.0**60  # what Spark says of a source that does not tell its size, at least

_ONE_AT_A_TIME = threading.Lock()
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_SAID = re.compile(r"sizeInBytes=([\d.]+(?:E\+?\d+)?) (\w+)(?:, rowCount=([\d.]+(?:E\+?\d+)?))?")

_asked: WeakKeyDictionary[DataFrame, float | None] = WeakKeyDictionary()


@quietly()
def estimated_rows(df: DataFrame) -> float | None:
    """About how many rows there are; None where Spark does not know. It is asked once."""
    if df not in _asked:
        _asked[df] = _estimate(df)
    return _asked[df]


def _estimate(df: DataFrame) -> float | None:
    try:
        with _prints_of_this_thread() as printed:
            df.explain(mode="cost")
    except PySparkException:
        return None  # whatever is wrong with it shows when it runs
    said = _SAID.search("".join(printed))
    if said is None:
        return None
    number, unit, rows = said.groups()
    if rows is not None:
        return float(rows)
    size = float(number) * _UNITS.get(unit, UNKNOWN)
    return None if size >= UNKNOWN else size / BYTES_A_ROW


@contextmanager
def _prints_of_this_thread() -> Iterator[list[str]]:
    """What this thread prints meanwhile; ``DataFrame.explain`` prints, and returns nothing.

    ``contextlib.redirect_stdout`` would take what other threads print, too.
    """
    printed: list[str] = []
    with _ONE_AT_A_TIME:
        out = _OfOneThread(sys.stdout, printed)
        sys.stdout = out
        try:
            yield printed
        finally:
            out.done = True
            if sys.stdout is out:
                sys.stdout = out.stdout


class _OfOneThread:
    """A standard output that keeps what one thread writes, until it is done.

    All else is for the one it stands for, also later: another thread may have taken hold of it.
    """

    def __init__(self, stdout: Any, printed: list[str]) -> None:
        self.stdout, self.printed, self.done = stdout, printed, False
        self.thread = threading.get_ident()

    def write(self, text: str) -> int:
        if not self.done and threading.get_ident() == self.thread:
            self.printed.append(text)
        elif self.stdout is not None:
            self.stdout.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stdout, name)
