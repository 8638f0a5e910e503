"""The paper's techniques, each in one Python operator: :mod:`fanlight.operators.spanning`."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.operators.spanning import SpanningQuery
from fanlight.plan.spanning import SpanningPlan
from fanlight.spark.fields import Fields, selected
from fanlight.spark.host import Hosting
from fanlight.spark.slices import unit_partials
from fanlight.spark.sliding.batch import finished
from fanlight.spark.spanning import ranges
from fanlight.spark.spanning.binding import SpanningBound


def spanning(bound: SpanningBound, fields: Fields, plan: SpanningPlan) -> DataFrame:
    """One row a key and window; events enter Python as partials that Spark has lifted."""
    axis, keys = bound.axis, bound.keys
    rows = selected(bound, fields)
    # An event is late when its first window is released, so that window's end is its time.
    first = ranges.window_start(axis, ranges.first_window(axis, "s"))
    partials = unit_partials(rows, fields.all)
    rows = rows.selectExpr(*keys, f"{first} + {axis.range}L as t", "s", "l", *partials)
    types = {f.name: f.dataType for f in rows.schema.fields}
    names = [field.name for field in fields.all]
    hosting = Hosting(rows, keys, [*keys, "t", "s", "l", *names])
    query = SpanningQuery(
        hosting.schema,
        len(keys),
        tuple(field.monoid for field in fields.all),
        plan.cut,
        plan.chosen.strategy,
        plan.height,
    )
    out = [(key, types[key]) for key in keys]
    out += [("w", LongType()), *((name, types[name]) for name in names)]
    if not bound.df.isStreaming:
        return finished(bound, fields, hosting.complete(query, out), "w")
    what = f"windows over events that last, by {plan.chosen.strategy!r},"
    found = hosting.run(query, out, name="spanning", delay=bound.delay, what=what)
    return finished(bound, fields, found, "w")
