"""Several windows over a stream through the stairwise chain: one stateful operator.

Granules are made natively and enter as partials; or rows do, lifted by Spark, where they have to be
counted in order first. Windows leave as partials that Spark lowers.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.algebra.monoids import Monoid
from fanlight.operators.chain import ChainQuery
from fanlight.plan.granular import GranularPlan
from fanlight.spark.coordinates import coordinate
from fanlight.spark.fields import Fields
from fanlight.spark.granular import stream
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.ordered.host import Hosting
from fanlight.spark.ordered.numbered import units


def windows(bound: GranularBound, fields: Fields, plan: GranularPlan) -> DataFrame:
    """One row a key and window: keys, ``q``, ``w``, partials."""
    names = [field.name for field in fields.all]
    monoids = [field.monoid for field in fields.all]
    if bound.coordinate.counted:
        rows, order = units(bound, fields)
        return hosted(bound, rows, order, names, monoids)
    granules = stream.granules_of(bound, fields, plan)
    return through(bound, granules, names, monoids)


def through(
    bound: GranularBound, granules: DataFrame, names: Sequence[str], monoids: Sequence[Monoid]
) -> DataFrame:
    """Granules (keys, ``end``, partials) to windows."""
    ends = f"{coordinate(bound.coordinate, 'end')} as t"
    return hosted(bound, granules.selectExpr(*bound.keys, ends, *names), ["t"], names, monoids)


def hosted(
    bound: GranularBound,
    rows: DataFrame,
    order: Sequence[str],
    names: Sequence[str],
    monoids: Sequence[Monoid],
) -> DataFrame:
    """The operator over rows or granules."""
    types = {f.name: f.dataType for f in rows.schema.fields}
    hosting = Hosting(rows, bound.keys, [*bound.keys, *order, *names])
    counted = bound.coordinate.counted
    query = ChainQuery(
        hosting.schema,
        len(bound.keys),
        tuple(monoids),
        tuple(axis.grid for axis in bound.axes),
        rows=counted,
        since=bound.since if counted else None,
    )
    out = [(key, types[key]) for key in bound.keys]
    out += [("q", LongType()), ("w", LongType()), *((name, types[name]) for name in names)]
    return hosting.run(
        query, out, name="chain_windows", delay=bound.delay, what="windows in a chain"
    )
