"""How many rows a DataFrame has, as Spark's optimizer estimates; no job runs to find out."""

from __future__ import annotations

import re
import time
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from fanlight.engine.spark.quiet import quietly

BYTES_A_ROW = 8.0  # of a few columns in Parquet; only the order of magnitude matters
UNKNOWN = 2.0**60  # what Spark says of a source that does not tell its size, at least

_NOBODY_S = "'fanlight' = 'fanlight'"  # true of each row, which the optimizer leaves out
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_SAID = re.compile(r"sizeInBytes=([\d.]+(?:E\+?\d+)?) (\w+)(?:, rowCount=([\d.]+(?:E\+?\d+)?))?")

KEPT = 60.0  # seconds for which an estimate holds: files may be added to a table
_MOST = 1_000  # estimates that are kept

_asked: WeakKeyDictionary[DataFrame, float | None] = WeakKeyDictionary()
_kept: dict[int, tuple[float, float | None]] = {}  # by the hash of the plan: when, and rows


@quietly()
def estimated_rows(df: DataFrame) -> float | None:
    """About how many rows there are; None where Spark does not know.

    Spark is asked once for a DataFrame, and once in a minute for DataFrames with equal plans: the
    question takes as long as a small query, and the hash of a plan hardly anything.
    """
    if df not in _asked:
        _asked[df] = _estimate_or_recall(df)
    return _asked[df]


def _estimate_or_recall(df: DataFrame) -> float | None:
    try:
        plan = df.semanticHash()
    except PySparkException:
        return None  # whatever is wrong with it shows when it runs
    now = time.monotonic()
    when, rows = _kept.get(plan, (-KEPT, None))
    if now - when >= KEPT:
        rows = _estimate(df)
        if len(_kept) >= _MOST:
            _kept.clear()
        _kept[plan] = now, rows
    return rows


def _estimate(df: DataFrame) -> float | None:
    # For a DataFrame in SQL, classic PySpark makes a view and drops it again, by which a DataFrame
    # with the view's plan would no longer be cached: nobody caches one with this condition.
    asked = df.where(_NOBODY_S)
    try:
        (row,) = df.sparkSession.sql("EXPLAIN COST SELECT * FROM {df}", df=asked).collect()
    except PySparkException:
        return None  # whatever is wrong with it shows when it runs
    said = _SAID.search(row[0])
    if said is None:
        return None
    number, unit, rows = said.groups()
    if rows is not None:
        return float(rows)
    size = float(number) * _UNITS.get(unit, UNKNOWN)
    return None if size >= UNKNOWN else size / BYTES_A_ROW
