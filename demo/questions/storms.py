"""Frames: the hours in which an airport's flights all left late, and the weather meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

import fanlight as fl
from demo.questions.question import Further, Question
from fanlight import agg

if TYPE_CHECKING:
    from datetime import date

    from pyspark.sql import DataFrame


def ask(flights: DataFrame) -> DataFrame:
    """Ask fanlight."""
    late = fl.ThresholdFrame("delay >= 60", min_rows=8)
    order = ["carrier", "flight"]  # of flights that leave together
    windows = fl.over(flights, late, time="departed", by="origin", tiebreak=order)
    return windows.agg(mean_delay=agg.avg("delay"), worst_delay=agg.max("delay")).drop("frame_id")


def ask_spark(flights: DataFrame) -> DataFrame:
    """A flag, `lag`, and a running sum."""
    order = Window.partitionBy("origin").orderBy("departed", "carrier", "flight")
    marked = flights.where("departed is not null").withColumn("late", F.expr("delay >= 60"))
    changes = (~F.col("late").eqNullSafe(F.lag("late").over(order))).cast("int")
    runs = marked.withColumn("run", F.sum(changes).over(order)).withColumn(
        "next", F.lead("departed").over(order)
    )
    return (
        runs.where("late")
        .groupBy("origin", "run")
        .agg(
            F.min("departed").alias("start"),
            F.expr("if(count(*) = count(next), max(next), null)").alias("end"),
            F.count("*").alias("rows"),
            F.avg("delay").alias("mean_delay"),
            F.max("delay").alias("worst_delay"),
            F.max("departed").alias("last"),
        )
        .where("rows >= 8")
        .withColumn("stop", F.expr("coalesce(end, last + interval '0.000001' second)"))
        .selectExpr(
            "origin", "named_struct('start', start, 'end', stop) as window", "rows",
            "end is not null as closed", "mean_delay", "worst_delay",
        )
    )  # fmt: skip


def fill_weather(flights: DataFrame, measured: DataFrame, _day: date) -> DataFrame:
    """The weather during each frame."""
    late = fl.ThresholdFrame("delay >= 60", min_rows=8)
    order = ["carrier", "flight"]
    windows = fl.over(flights, late, time="departed", by="origin", tiebreak=order)
    return windows.fill(measured, time="measured", by="origin").agg(
        wind=agg.max("wind_speed"), rain=agg.sum("precip"), sight=agg.min("visib")
    )


QUESTION = Question(
    "8 departures in a row, or more, 60 minutes late or more",
    "frames",
    ask,
    ask_spark,
    "`lag` and a running sum",
    ("origin", "window.start"),
    closed="closed",
    further=Further(fill_weather, ("origin", "window.start")),
)
