"""Snapshots in a stream, by :mod:`fanlight.engine.operators.running_events`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.fingerprint import fingerprint
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.host import Hosting
from fanlight.engine.spec.errors import refuse

_ITSELF = ("{p}", "coalesce({p}, 0L)")  # results that are equal where partials are, and only there
WHAT = "snapshots of events"


def release_snapshots(bound: SnapshotBound, fields: Fields) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, partials) that the watermark has passed."""
    fields.check_comparable()
    bound.source.check_comparable()
    if bound.snapshot.merge_equal:
        _check_mergeable(fields)
    keys = bound.keys
    rows = select_values(bound, fields, [f"{bound.late_after} as late_after", *bound.instants])
    places = ["late_after as t", "first_at", "last_at"]
    rows = rows.selectExpr(*keys, *places, *partials_of_rows(rows, fields.all))
    names = [field.name for field in fields.all]
    hosting = Hosting(rows, bound, [*keys, "t", "first_at", "last_at", *names])
    out = [(key, hosting.types[key]) for key in keys]
    out += [("start", LongType()), ("upto", LongType())]
    out += [(name, hosting.types[name]) for name in names]
    asked = fingerprint(WHAT, bound, hosting, fields, merged=bound.snapshot.merge_equal)
    return hosting.run(_query(bound, fields, hosting.schema, hosting.keys), out, asked, what=WHAT)


def _query(
    bound: SnapshotBound, fields: Fields, schema: pa.Schema, keys: Sequence[str]
) -> RunningQuery:
    monoids = tuple(field.monoid for field in fields.all)
    return RunningQuery(schema, len(keys), monoids, bound.snapshot.merge_equal)


def _check_mergeable(fields: Fields) -> None:
    """Refuse aggregates that may be equal although what is kept of them is not."""
    for output in fields.outputs:
        if output.lower not in _ITSELF:
            raise refuse(
                f"merge_equal with {output.label}",
                "is not known in a stream, which compares what it keeps of windows, not results",
                "ask for counts, sums, least and greatest values, or leave merge_equal out",
            )
