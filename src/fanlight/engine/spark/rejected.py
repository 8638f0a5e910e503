"""The rows that are in no window because of their time, each with the reason."""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.engine.algebra.sql_text import literal
from fanlight.engine.spark.binding.bound import Bound
from fanlight.engine.spark.sql import expr, is_taken
from fanlight.engine.spec.errors import refuse


def rejected_rows(bound: Bound) -> DataFrame:
    """The rows that no window can hold, with a column ``reason``."""
    df = bound.rows
    if is_taken(df, "reason", bound.df.columns):
        raise refuse(
            "rejected(df)",
            "adds a column 'reason', which already exists in the DataFrame",
            "rename yours first: df.withColumnRenamed('reason', …)",
        )
    cases = " ".join(f"when {test} then {literal(reason)}" for test, reason in bound.rejections)
    return df.withColumn("reason", expr(df, f"case {cases} end")).filter("reason is not null")
