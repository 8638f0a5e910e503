"""Events that last: the planes in the air."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import fanlight as fl
from demo.questions.question import LANDED, Question
from fanlight import agg

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def ask(flights: DataFrame) -> DataFrame:
    """Ask fanlight."""
    windows = fl.over(
        flights, fl.Sliding("1 hour", "5 minutes"), time=("departed", "landed"), by="origin"
    )
    return windows.agg(planes=agg.count())


def ask_spark(flights: DataFrame) -> DataFrame:
    """Each flight copied into each window that it is in."""
    flying = flights.where("landed is not null")
    starts = (
        "sequence("
        "window(departed, '5 minutes').start - interval 55 minutes, "
        "if(landed > departed, landed - interval '0.000001' second, landed), "
        "interval 5 minutes)"
    )
    copies = flying.select("origin", F.explode(F.expr(starts)).alias("start"))
    counted = copies.groupBy("origin", "start").agg(F.count("*").alias("planes"))
    window = "named_struct('start', start, 'end', start + interval 1 hour) as window"
    return counted.selectExpr("origin", window, "planes")


QUESTION = Question(
    "planes in the air in the last 1 hour, every 5 minutes",
    "events that last",
    ask,
    ask_spark,
    "`explode`, one row a window",
    ("origin", "window.start"),
    time=LANDED,
)
