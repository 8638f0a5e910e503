"""Sliding windows: the 24 hours before each quarter of an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import fanlight as fl
from demo.questions.question import Question
from fanlight import agg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def ask(flights: DataFrame) -> DataFrame:
    """Ask fanlight."""
    windows = fl.over(flights, fl.Sliding("24 hours", "15 minutes"), time="departed", by="origin")
    return windows.agg(
        departures=agg.count(), mean_delay=agg.avg("delay"), worst_delay=agg.max("delay")
    )


def ask_spark(flights: DataFrame) -> DataFrame:
    """Ask Spark, with its own windows."""
    window = F.window("departed", "24 hours", "15 minutes")
    return flights.groupBy("origin", window).agg(
        F.count("*").alias("departures"),
        F.avg("delay").alias("mean_delay"),
        F.max("delay").alias("worst_delay"),
    )


QUESTION = Question(
    "departures and delays of the last 24 hours, every 15 minutes",
    "sliding windows",
    ask,
    ask_spark,
    "`F.window`",
    ("origin", "window.start", "window.end"),
)
