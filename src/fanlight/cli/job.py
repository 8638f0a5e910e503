"""The job: departures an hour by airport and carrier, in windows of several lengths."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame

KEY = ("origin", "carrier")
TIME = "departed"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
}


@dataclass(frozen=True)
class Case:
    """One question: a RANGE, a SLIDE, and what is counted apart."""

    range: str
    slide: str
    hours: float  # RANGE
    by: tuple[str, ...] = KEY

    @property
    def name(self) -> str:
        """As it is written on the page: ``6 h every 30 min``."""
        return f"{_short(self.range)} every {_short(self.slide)}"

    @property
    def spec(self) -> fl.Sliding:
        """The windows."""
        return fl.Sliding(self.range, self.slide)


CASES = (
    Case("1 hour", "20 minutes", 1),
    Case("90 minutes", "1 hour", 1.5),
    Case("6 hours", "30 minutes", 6),
    Case("24 hours", "1 hour", 24),
)
AIRPORTS = Case("24 hours", "15 minutes", 24, by=("origin",))


@dataclass(frozen=True)
class Known:
    """What is known of the flights before the job begins, for the cost model."""

    rate: float  # departures a second
    groups: int  # keys


def windows(flights: DataFrame, case: Case, known: Known | None = None) -> Any:
    """The flights seen through the windows of a case."""
    seen = fl.over(flights, case.spec, time=TIME, by=list(case.by))
    return seen.using(rate=known.rate, groups=known.groups) if known else seen


def asked() -> dict[str, agg.Call]:
    """What is computed in each window."""
    return {
        "departures": agg.count(),
        "mean_delay": agg.avg("delay"),
        "worst_delay": agg.max("delay"),
    }


def answer(flights: DataFrame, case: Case, known: Known | None = None) -> DataFrame:
    """The job, by fanlight; the same lines for a batch and for a stream."""
    found: DataFrame = windows(flights, case, known).agg(**asked())
    return found


def plan(flights: DataFrame, case: Case, known: Known | None = None) -> str:
    """How fanlight goes about it, and why."""
    return str(windows(flights, case, known).explain(**asked()))


def technique(plan: str) -> str:
    """The technique that a plan names: ``panes``."""
    found = re.search(r"^ *strategy +(\w+)", plan, re.MULTILINE)
    return found[1] if found else ""


def answer_by_spark(flights: DataFrame, case: Case) -> DataFrame:
    """The same job by Spark's own window function."""
    window = F.window(TIME, case.range, case.slide)
    return flights.groupBy(*case.by, window).agg(
        F.count("*").alias("departures"),
        F.avg("delay").alias("mean_delay"),
        F.max("delay").alias("worst_delay"),
    )


def collected(result: DataFrame, case: Case) -> pa.Table:
    """A result as an Arrow table in a fixed order, its windows as two columns."""
    flat = result.select(
        *case.by, "window.start", "window.end", "departures", "mean_delay", "worst_delay"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which pandas Spark likes: none is used here
        table: pa.Table = flat.toArrow()
    return table.sort_by([(name, "ascending") for name in (*case.by, "start")]).combine_chunks()


def different(one: pa.Table, other: pa.Table) -> int:
    """How many windows are in one table only, or differ in any column."""
    if all(one[name].equals(other[name]) for name in one.column_names):
        return 0
    rows = [set(zip(*table.to_pydict().values(), strict=True)) for table in (one, other)]
    keys = one.column_names.index("end")
    return len({row[:keys] for row in rows[0] ^ rows[1]})


def seconds(result: DataFrame) -> float:
    """How long Spark works on a result, all of it computed and none of it kept."""
    began = time.perf_counter()
    result.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began


@contextmanager
def session(log: Path) -> Iterator[SparkSession]:
    """A Spark on this machine's cores; what its Java says goes to a file."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder.master("local[*]").appName("fanlight demo")
    for name, value in (*SETTINGS.items(), ("spark.sql.shuffle.partitions", str(cores()))):
        builder = builder.config(name, value)
    with log.open("w") as file, _stderr_to(file.fileno()):
        try:
            spark: SparkSession = builder.getOrCreate()
        except PySparkRuntimeError as error:
            raise fl.FanlightError(
                f"Spark did not start; is there a Java 17 or newer? Its messages are in {log}"
            ) from error
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _stderr_to(file: int) -> Iterator[None]:
    """What a process started meanwhile writes to standard error goes to a file."""
    kept = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _short(duration: str) -> str:
    for long, short in (("hours", "h"), ("hour", "h"), ("minutes", "min")):
        duration = duration.replace(long, short)
    return duration
