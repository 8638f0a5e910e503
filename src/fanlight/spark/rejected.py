"""The rows that have no place in any window, each with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.spark.bound import Bound
from fanlight.spark.columns import sql
from fanlight.spark.times import rejections
from fanlight.spec.errors import refuse


def rejected_rows(bound: Bound, reasons: Sequence[tuple[str, str]] | None = None) -> DataFrame:
    """The rows left out, with a column ``reason``; ``reasons`` if the axis alone does not tell."""
    df = bound.df
    if "reason" in df.columns:
        raise refuse(
            "rejected(df)",
            "adds a column 'reason', which the DataFrame already has",
            "rename yours first: df.withColumnRenamed('reason', …)",
        )
    cases = " ".join(
        "when " + test + " then '" + reason.replace("\\", "\\\\").replace("'", "\\'") + "'"
        for test, reason in reasons or rejections(bound.axis, bound.time, bound.time_sql)
    )
    return df.withColumn("reason", sql(df, f"case {cases} end")).filter("reason is not null")
