"""Puts results of aggregates that were computed apart into one row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.sql import expr_as, group_rows


def lower_by_number(
    bound: Placed, windows: DataFrame, fields: Fields, numbers: Sequence[int]
) -> DataFrame:
    """Lower partials to results: keys, ``query``, ``start``, and ``r0``, ``r1``, … by number."""
    place = [*bound.keys, *bound.query_columns, "start"]
    texts = [output.sql(bound.shown_start) for output in fields.outputs]
    results = [expr_as(windows, text, f"r{n}") for text, n in zip(texts, numbers, strict=True)]
    return windows.select(*place, *results)


def put_beside(bound: Placed, parts: Sequence[DataFrame]) -> DataFrame:
    """Join parts into one row per key and window. Each part has at most one such row.

    Parts are added up rather than joined, so keys that are null or NaN need no care.
    """
    place = [*bound.keys, *bound.query_columns, "start"]
    rows = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)
    results = [name for name in rows.columns if name not in place]
    return group_rows(rows, place, [(name, f"first({name}, true)") for name in results])
