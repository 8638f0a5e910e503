"""Windows over rows in order, as a stream: one stateful operator orders, cuts and rolls up.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.operators.tuple_windows import TupleQuery
from fanlight.plan.sliding import SlidingPlan
from fanlight.spark.fields import Fields
from fanlight.spark.ordered.host import Hosting
from fanlight.spark.ordered.numbered import units
from fanlight.spark.sliding.batch import finished
from fanlight.spark.sliding.binding import SlidingBound


def windows(bound: SlidingBound, fields: Fields, plan: SlidingPlan) -> DataFrame:
    """One row a key and window, once the watermark has passed the window's last row."""
    names = [field.name for field in fields.all]
    rows, order = units(bound, fields)
    types = {f.name: f.dataType for f in rows.schema.fields}
    hosting = Hosting(rows, bound.keys, [*bound.keys, *order, *names])
    query = TupleQuery(
        hosting.schema,
        len(bound.keys),
        tuple(field.monoid for field in fields.all),
        None if bound.spec.slide_by_tuple else plan.chosen.cut,
        bound.axis.range,
    )
    out = [(key, types[key]) for key in bound.keys]
    out += [("w", LongType()), *((name, types[name]) for name in names)]
    found = hosting.run(
        query, out, name="tuple_windows", delay=bound.delay, what="windows over rows"
    )
    return finished(bound, fields, found, "w")
