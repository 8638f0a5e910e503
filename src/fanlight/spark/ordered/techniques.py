"""The paper's techniques, each in one Python operator: :mod:`fanlight.operators.spanning`."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.operators.complete import Complete
from fanlight.operators.spanning import SpanningQuery
from fanlight.plan.spanning import SpanningPlan
from fanlight.spark.fields import Fields, selected
from fanlight.spark.ordered.arrow_types import arrow_schema
from fanlight.spark.ordered.batch import Passing
from fanlight.spark.ordered.encoding import plain_schema
from fanlight.spark.ordered.host import Hosting
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
    columns = [*keys, "t", "s", "l", *names]
    out = [(key, types[key]) for key in keys]
    out += [("w", LongType()), *((name, types[name]) for name in names)]
    monoids = tuple(field.monoid for field in fields.all)
    technique = plan.chosen.strategy

    def query(schema: pa.Schema) -> SpanningQuery:
        return SpanningQuery(schema, len(keys), monoids, plan.cut, technique, plan.height)

    if bound.df.isStreaming:
        hosting = Hosting(rows, keys, columns)
        what = f"windows over events that last, by {technique!r},"
        asked = query(hosting.schema)
        found = hosting.run(asked, out, name="spanning", delay=bound.delay, what=what)
    else:
        passing = Passing(rows, keys, ["t", "s", "l"], columns)
        whole = Complete(query(passing.schema), arrow_schema(plain_schema(out)))
        found = passing.run(whole, out)
    return finished(bound, fields, found, "w")
