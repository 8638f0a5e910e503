"""Windows without rows, of a stream: one stateful operator after the windows that have rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.silences import SilenceQuery
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.ordered.clocks import clock_of
from fanlight.engine.spark.ordered.host import Hosting


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
    bound.source.check_comparable()
    place = [*bound.keys, *bound.query_columns, "start"]
    values = [name for name in results.columns if name not in place]
    which = "cast(query as bigint) as query" if bound.query_columns else "0L as query"
    rows = results.selectExpr(*bound.keys, "start as t", which, "start", *values)
    hosting = Hosting(rows, bound, rows.columns, aggregated=True)
    query = SilenceQuery(
        hosting.schema,
        len(hosting.keys),
        (),
        bound.grids,
        rule,
        most,
        tuple(name in numbers for name in values),
        clock=clock_of(bound.df.sparkSession, bound.coordinate),
    )
    out = [(key, hosting.types[key]) for key in bound.keys]
    out += [("query", LongType()), ("start", LongType())]
    out += [(name, hosting.types[name]) for name in values]
    what = "windows without rows"
    # Under the names that checkpoints have had from the beginning.
    asked = fingerprint(what, bound, hosting, fields, empty=rule, max_empty=most)
    return hosting.run(query, out, asked, what=what)
