"""Windows that time places, given while they are open: one stateful operator, in update mode.

Rows enter as partials of one row that Spark has lifted, and windows leave as partials that Spark
lowers: those that have changed, and those that are complete.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.open_windows import DIRTY, OpenQuery
from fanlight.engine.plan.granules import granules_of
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.cuts import slice_start
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.grids import first_end
from fanlight.engine.spark.lift import drop_rows_in_gaps, lift_each_row
from fanlight.engine.spark.ordered.host import Hosting


def give_early(bound: Placed, fields: Fields) -> DataFrame:
    """Partials of windows by key, ``query`` and ``start``, with ``final``: 1 once, at their end."""
    fields.check_comparable()
    bound.source.check_comparable()
    lifted, partials, _ = lift_each_row(bound, fields)
    rows = drop_rows_in_gaps(bound, lifted)
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    names = [field.name for field in fields.all]
    late = f"{first_end(bound.queries.deciding_grids, 't')} as t"
    piece = f"{slice_start(granules_of(bound.grids), 't')} as piece"
    rows = rows.selectExpr(*bound.keys, late, piece, *partials, "1L as dirty")
    hosting = Hosting(rows, bound, [*bound.keys, "t", "piece", *names, "dirty"])
    query = OpenQuery(
        hosting.schema,
        len(hosting.keys),
        (*(field.monoid for field in fields.all), DIRTY),
        bound.grids,
        bound.early or 0,
    )
    out = [(key, hosting.types[key]) for key in bound.keys]
    out += [(name, LongType()) for name in ("query", "start", "final")]
    out += [(name, hosting.types[name]) for name in names]
    what = "windows given early"
    asked = fingerprint(what, bound, hosting, fields, every=bound.early)
    return hosting.run(query, out, asked, what=what, mode="update")
