"""Snapshots in a stream, by :mod:`fanlight.engine.operators.running_events`."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.host import run_operator
from fanlight.engine.spec.errors import refuse

_ITSELF = ("{p}", "coalesce({p}, 0L)")  # results that are equal where partials are, and only there


def release_snapshots(bound: SnapshotBound, fields: Fields) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, partials) that the watermark has passed."""
    if bound.snapshot.merge_equal:
        _check_mergeable(fields)
    keys = bound.keys
    rows = select_values(bound, fields, [f"{bound.late_after} as late_after", *bound.instants])
    places = ["late_after as t", "first_at", "last_at"]
    rows = rows.selectExpr(*keys, *places, *partials_of_rows(rows, fields.all))
    names = [field.name for field in fields.all]
    monoids, merged = tuple(field.monoid for field in fields.all), bound.snapshot.merge_equal

    def query(schema: pa.Schema, keys: int) -> RunningQuery:
        return RunningQuery(schema, keys, monoids, merged)

    return run_operator(
        bound, fields, rows, query, what="snapshots of events", numbers=["start", "upto"],
        values=names, merged=merged,
    )  # fmt: skip


def _check_mergeable(fields: Fields) -> None:
    """Refuse aggregates that may be equal although what is kept of them is not."""
    for output in fields.outputs:
        if output.lower not in _ITSELF:
            raise refuse(
                f"merge_equal with {output.label}",
                "is not known in a stream, which compares what it keeps of windows, not results",
                "ask for counts, sums, least and greatest values, or leave merge_equal out",
            )
