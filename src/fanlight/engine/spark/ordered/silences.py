"""Windows without rows, of a stream: one stateful operator after the windows that have rows."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.operators.silences import SilenceQuery
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import Hosted, alike, run_operator
from fanlight.engine.spark.ordered.host import numbers as of_windows


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
    query = partial(
        SilenceQuery, monoids=(), grids=bound.grids, rule=rule, most=most,
        numbers=tuple(name in numbers for name in values),
        clock=clock_of(bound.df.sparkSession, bound.coordinate),
    )  # fmt: skip
    # Options under the names that checkpoints have had from the beginning.
    told = {"empty": rule, "max_empty": most}
    given = alike(*bound.keys) | of_windows("query", "start") | alike(*values)
    hosted = Hosted("windows without rows", told, aggregated=True)
    return run_operator(bound, fields, rows, query, given, hosted)
