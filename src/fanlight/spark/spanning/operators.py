"""The paper's techniques, each in one Python operator: :mod:`fanlight.operators.spanning`."""

from __future__ import annotations

from pyspark.sql import DataFrame

from fanlight.plan.spanning import SpanningPlan
from fanlight.spark.fields import Fields
from fanlight.spark.spanning.binding import SpanningBound


def spanning(bound: SpanningBound, fields: Fields, plan: SpanningPlan) -> DataFrame:
    """One row a key and window."""
    raise NotImplementedError
