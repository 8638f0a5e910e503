"""Runs each technique of the paper as an operator of :mod:`fanlight.engine.operators.spanning`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.batch_operator import BatchOperator
from fanlight.engine.operators.spanning import SpanningQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.grids import first_event_end
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.arrow_pass import Passing
from fanlight.engine.spark.ordered.arrow_types import arrow_schema
from fanlight.engine.spark.ordered.encoding import plain_schema
from fanlight.engine.spark.ordered.host import Hosting


def release_windows(
    bound: Lasting, fields: Fields, chosen: Candidate[Pieces], height: int
) -> DataFrame:
    """Windows, one row a key and ``start``, of events that Spark has lifted to partials."""
    fields.check_comparable()
    bound.source.check_comparable()
    keys = bound.keys
    rows = select_values(bound, fields, bound.place_columns)
    # An event is late when its first window is released, so that window's end is its time.
    known = f"{first_event_end(bound.queries.deciding_grids)} as t"
    rows = rows.selectExpr(*keys, known, "first_at", "last_at", *partials_of_rows(rows, fields.all))
    rows = rows.filter("t is not null")
    types = {f.name: f.dataType for f in rows.schema.fields}
    names = [field.name for field in fields.all]
    columns = [*keys, "t", "first_at", "last_at", *names]
    out = [(key, types[key]) for key in keys]
    out += [("start", LongType()), *((name, types[name]) for name in names)]
    monoids = tuple(field.monoid for field in fields.all)

    cut, technique = chosen.pieces.only_cut, chosen.strategy.name

    def query(schema: pa.Schema, keys: Sequence[str]) -> SpanningQuery:
        return SpanningQuery(schema, len(keys), monoids, cut, technique, height)

    if bound.df.isStreaming:
        hosting = Hosting(rows, bound, columns)
        what = f"windows over events with a duration, by {technique!r}"
        asked = fingerprint(what, bound, hosting, fields, cut=cut.technique, height=height)
        return hosting.run(query(hosting.schema, hosting.keys), out, asked, what=what)
    passing = Passing(rows, keys, ["t", "first_at", "last_at"], columns)
    whole = BatchOperator(query(passing.schema, keys), arrow_schema(plain_schema(out)))
    return passing.run(whole, out)
