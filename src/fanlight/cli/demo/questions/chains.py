"""Progressive widening: a plane whose delays grow from flight to flight, within a day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

import fanlight as fl
from fanlight.cli.demo.questions.question import Question

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

FLIGHTS = 4
COLUMNS = "tail string, start timestamp, end timestamp, first_delay bigint, last_delay bigint"
MATCH = "start timestamp, end timestamp, first_delay bigint, last_delay bigint"


def growing(rows: pa.Table) -> Iterator[dict[str, Any]]:
    """Four flights one after the other, each later than the one before, the last by two hours."""
    times, delays = rows["departed"].to_pylist(), rows["delay"].to_pylist()
    for first in range(len(delays) - 3):
        some = delays[first : first + 4]
        if some[0] < some[1] < some[2] < some[3] and some[3] >= 120:
            yield {
                "start": times[first], "end": times[first + 3],
                "first_delay": some[0], "last_delay": some[3],
            }  # fmt: skip


def matches(flights: DataFrame) -> DataFrame:
    """Each with the window that found it."""
    widening = fl.ProgressiveWidening("3 hours", longest="24 hours", max_rows=16)
    windows = fl.over(flights, widening, time="departed", by="tail", tiebreak="flight")
    return windows.detect(growing, MATCH, span=("start", "end"), columns=["departed", "delay"])


def ask(flights: DataFrame) -> DataFrame:
    """By fanlight."""
    widening = fl.ProgressiveWidening("3 hours", longest="24 hours", max_rows=16)
    windows = fl.over(flights, widening, time="departed", by="tail", tiebreak="flight")
    found = windows.detect(growing, MATCH, span=("start", "end"), columns=["departed", "delay"])
    within_a_day = found.where("end <= start + interval 24 hours")
    return within_a_day.select("tail", "start", "end", "first_delay", "last_delay")


def plain(flights: DataFrame) -> DataFrame:
    """The same function in windows of two days, every day: each stretch of a day is in one."""

    def whole(table: pa.Table) -> pa.Table:
        import pyarrow as pa

        kinds = {"tail": pa.string(), **dict.fromkeys(("start", "end"), table["departed"].type)}
        kinds |= dict.fromkeys(("first_delay", "last_delay"), pa.int64())
        ordered = table.sort_by([("departed", "ascending"), ("flight", "ascending")])
        tail = ordered["tail"][0].as_py()
        found = [{"tail": tail, **one} for one in growing(ordered)]
        return pa.Table.from_pylist(found, pa.schema(kinds))

    days = F.window("departed", "48 hours", "24 hours")
    every = flights.select("tail", "flight", "departed", "delay", days.alias("days"))
    searched = every.groupBy("tail", "days").applyInArrow(whole, COLUMNS)
    return searched.where("end <= start + interval 24 hours").distinct()


QUESTION = Question(
    "planes whose delay grew four flights in a row, to two hours or more, within a day",
    "progressive widening",
    ask,
    plain,
    "`F.window` of two days, and `applyInArrow`",
    ("tail", "start", "end"),
)
