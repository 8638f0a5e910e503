"""Events that last: the planes in the air."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.cli.demo.questions.question import LANDED, Question

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MINUTES = 2


def ask(flights: DataFrame) -> DataFrame:
    """By fanlight."""
    windows = fl.over(
        flights, fl.Sliding("1 hour", "2 minutes"), time=("departed", "landed"), by="origin"
    )
    return windows.agg(planes=agg.count()).select(
        "origin", "window.start", "window.end", "planes"
    )


def plain(flights: DataFrame) -> DataFrame:
    """Each flight copied into each window that it is in."""
    flying = flights.where("landed is not null")
    starts = (
        "sequence("
        "window(departed, '2 minutes').start - interval 58 minutes, "
        "if(landed > departed, landed - interval '0.000001' second, landed), "
        "interval 2 minutes)"
    )
    copies = flying.select("origin", F.explode(F.expr(starts)).alias("start"))
    return (
        copies.groupBy("origin", "start")
        .agg(F.count("*").alias("planes"))
        .selectExpr("origin", "start", "start + interval 1 hour as end", "planes")
    )


QUESTION = Question(
    "planes in the air in the hour before, every two minutes",
    "events that last",
    ask,
    plain,
    "`explode`, one row a window",
    ("origin", "start", "end"),
    time=LANDED,
)
