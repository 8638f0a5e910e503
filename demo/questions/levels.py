"""Multi-granular windows: the last hour, 6 hours and 24 hours at once."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import fanlight as fl
from demo.questions.question import Further, Question
from fanlight import agg

if TYPE_CHECKING:
    from datetime import date

    from pyspark.sql import DataFrame

LEVELS = (("1 hour", "15 minutes"), ("6 hours", "15 minutes"), ("24 hours", "1 hour"))
AROUND = 4  # days: more than are shown


def ask(flights: DataFrame) -> DataFrame:
    """Ask fanlight."""
    levels = fl.MultiGranular(
        ranges=["1 hour", "6 hours", "24 hours"], slides=["15 minutes", "15 minutes", "1 hour"]
    )
    windows = fl.over(flights, levels, time="departed", by="origin")
    return windows.agg(mean_delay=agg.avg("delay"), worst_delay=agg.max("delay"))


def fit_trends(flights: DataFrame, _weather: DataFrame, day: date) -> DataFrame:
    """The line that the delays follow in the same windows, at one airport, around a day."""
    levels = fl.MultiGranular(
        ranges=["1 hour", "6 hours", "24 hours"], slides=["15 minutes", "15 minutes", "1 hour"]
    )
    first, last = day - timedelta(days=AROUND), day + timedelta(days=AROUND)
    span = f"timestamp'{first} 00:00:00Z' and timestamp'{last} 00:00:00Z'"
    shown = flights.where(f"origin = 'JFK' and departed between {span}")
    return fl.over(shown, levels, time="departed", by="origin").fit("delay", filled=True)


def ask_spark(flights: DataFrame) -> DataFrame:
    """Ask Spark, with three queries of its own windows."""
    parts = [
        flights.groupBy("origin", F.window("departed", length, slide))
        .agg(F.avg("delay").alias("mean_delay"), F.max("delay").alias("worst_delay"))
        .withColumn("level", F.lit(level))
        for level, (length, slide) in enumerate(LEVELS)
    ]
    return reduce(lambda one, other: one.unionByName(other), parts)


QUESTION = Question(
    "delays of the last 1 hour, 6 hours and 24 hours at once",
    "multi-granular windows",
    ask,
    ask_spark,
    "three queries of `F.window`",
    ("origin", "level", "window.start"),
    further=Further(fit_trends, ("origin", "level", "window.start")),
)
