"""Progressive widening: a plane that leaves on time, then an hour late, then two, within a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import fanlight as fl
from demo.questions.question import Further, Question

if TYPE_CHECKING:
    from datetime import date

    import pyarrow as pa
    from pyspark.sql import DataFrame

LEFT = """case when delay < 15 then 'on_time' when delay < 60 then 'late'
    when delay < 120 then 'one_hour' else 'two_hours' end as left"""
WIDENING = fl.ProgressiveWidening("3 hours", max_duration="24 hours", max_rows=16)
FOUND = "tail string, started timestamp, ended timestamp"


def find_matches(flights: DataFrame, _weather: DataFrame, _day: date) -> DataFrame:
    """The same matches, each with the window that found it."""
    growing = fl.Episode("on_time; one_hour; two_hours", event="left")
    flown = flights.selectExpr("departed", "tail", "flight", LEFT)
    windows = fl.over(flown, WIDENING, time="departed", by="tail", tiebreak="flight")
    return windows.detect(growing).where("ended <= started + interval 24 hours")


def ask(flights: DataFrame) -> DataFrame:
    """Ask fanlight."""
    growing = fl.Episode("on_time; one_hour; two_hours", event="left")
    flown = flights.selectExpr("departed", "tail", "flight", LEFT)
    windows = fl.over(flown, WIDENING, time="departed", by="tail", tiebreak="flight")
    within_a_day = windows.detect(growing).where("ended <= started + interval 24 hours")
    return within_a_day.select("tail", "started", "ended")


def ask_spark(flights: DataFrame) -> DataFrame:
    """A loop over a plane's whole year at once, which a stream could not hold."""

    def searched(table: pa.Table) -> pa.Table:
        import pyarrow as pa

        table = table.sort_by([("departed", "ascending"), ("flight", "ascending")])
        on_time = one_hour = last = None  # starts of the latest chains
        found: list[dict[str, Any]] = []
        times, events = table["departed"].to_pylist(), table["left"].to_pylist()
        for time, left in zip(times, events, strict=True):
            if left == "on_time":
                on_time = time
            elif left == "one_hour":
                one_hour = on_time
            elif left == "two_hours" and one_hour is not None and one_hour != last:
                found.append({"tail": table["tail"][0].as_py(), "started": one_hour, "ended": time})
                last = one_hour
        kind = pa.timestamp("us", "UTC")
        schema = pa.schema({"tail": pa.string(), "started": kind, "ended": kind})
        return pa.Table.from_pylist(found, schema)

    flown = flights.selectExpr("departed", "tail", "flight", LEFT).where("departed is not null")
    found = flown.groupBy("tail").applyInArrow(searched, FOUND)
    return found.where("ended <= started + interval 24 hours")


QUESTION = Question(
    "planes that left on time, then an hour late, then two hours late, within 24 hours",
    "progressive widening",
    ask,
    ask_spark,
    "`applyInArrow`, a year a plane",
    ("tail", "started", "ended"),
    further=Further(find_matches, ("tail", "found_at")),
)
