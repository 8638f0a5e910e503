"""Windows without rows, of a stream: one stateful operator after the windows that have rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.operators.silences import SilenceQuery
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import run_operator


def follow_windows(
    bound: Placed,
    fields: Fields,
    results: DataFrame,
    *,
    rule: Any,
    most: int,
    numbers: Collection[str],
) -> DataFrame:
    """Windows (keys, ``query``, ``start``, results), and those without rows that follow them.

    At most ``most`` follow one with rows; ``numbers`` are the results that are numbers.
    """
    place = [*bound.keys, *bound.query_columns, "start"]
    values = [name for name in results.columns if name not in place]
    which = "cast(query as bigint) as query" if bound.query_columns else "0L as query"
    rows = results.selectExpr(*bound.keys, "start as t", which, "start", *values)

    def query(schema: pa.Schema, keys: int) -> SilenceQuery:
        clock = clock_of(bound.df.sparkSession, bound.coordinate)
        numeric = tuple(name in numbers for name in values)
        return SilenceQuery(schema, keys, (), bound.grids, rule, most, numeric, clock=clock)

    # Options under the names that checkpoints have had from the beginning.
    return run_operator(
        bound, fields, rows, query, what="windows without rows", aggregated=True,
        numbers=["query", "start"], values=values, empty=rule, max_empty=most,
    )  # fmt: skip
