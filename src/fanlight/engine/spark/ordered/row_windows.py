"""Windows counted in rows, in a stream: one stateful operator orders, cuts and rolls up rows.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.tuple_windows import TupleQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.lift import lift_each_row
from fanlight.engine.spark.ordered.host import Hosting


def release_windows(bound: Placed, fields: Fields, chosen: Candidate[Pieces]) -> DataFrame:
    """Partials of windows by key and ``start``, once the watermark has passed their last row."""
    names = [field.name for field in fields.all]
    rows, partials, order = lift_each_row(bound, fields)
    rows = rows.selectExpr(*bound.keys, *order, *partials)
    fields.check_comparable()
    hosting = Hosting(rows, bound, [*bound.keys, *order, *names])
    query = TupleQuery(
        hosting.schema,
        len(hosting.keys),
        tuple(field.monoid for field in fields.all),
        None if bound.at_every_row else chosen.pieces.only_cut,
        bound.grid.range,
        forget_after=bound.forget_after,
    )
    out = [(key, hosting.types[key]) for key in bound.keys]
    out += [("start", LongType()), *((name, hosting.types[name]) for name in names)]
    what = "windows over rows"
    cut = "none" if query.cut is None else query.cut.technique
    asked = fingerprint(what, bound, hosting, fields, cut=cut)
    return hosting.run(query, out, asked, what=what)
