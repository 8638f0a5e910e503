"""The rows that are in no window because of their time, each with the reason."""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.algebra.text import literal
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.sql import among, sql
from fanlight.engine.spec.errors import refuse


def rejected_rows(bound: Bound) -> DataFrame:
    """The rows left out, with a column ``reason``."""
    df = bound.rows
    if among(df, "reason", bound.df.columns):
        raise refuse(
            "rejected(df)",
            "adds a column 'reason', which already exists in the DataFrame",
            "rename yours first: df.withColumnRenamed('reason', …)",
        )
    cases = " ".join(f"when {test} then {literal(reason)}" for test, reason in bound.rejections)
    return df.withColumn("reason", sql(df, f"case {cases} end")).filter("reason is not null")
