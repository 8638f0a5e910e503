"""Snapshots in one pass over events, of a stream or a batch: ``operators/running_events.py``."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame

from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.plan.compiler import has_compiler
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lasting import ENDS
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.host import run_operator
from fanlight.engine.spec.errors import refuse

_ITSELF = ("{p}", "coalesce({p}, 0L)")  # results that are equal where partials are, and only there


def release_snapshots(bound: SnapshotBound, fields: Fields) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, partials); of a stream, once its watermark is past."""
    if bound.snapshot.merge_equal:
        _check_mergeable(fields)
    keys = bound.keys
    rows = select_values(bound, fields, bound.instants)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*keys, *places, *partials_of_rows(rows, fields.all))
    merged = bound.snapshot.merge_equal
    query = partial(RunningQuery, monoids=fields.monoids, merges=merged)
    return run_operator(
        bound, fields, rows, query, what="snapshots of events", numbers=["start", "upto"],
        values=fields.names, merged=merged, order=["first_at"], by="first_at",
    )  # fmt: skip


def why_not_in_a_pass(bound: SnapshotBound, fields: Fields) -> str:
    """The reason to leave a batch to Spark's own plan. It is empty if a pass is faster."""
    if not has_compiler():
        return "a pass needs numba, which is not installed here"
    slow = [one.facts.label for one in fields.all if not one.monoid.combining]
    if slow:
        return f"{slow[0]} is not a count, a sum, a least or a greatest value"
    if bound.coordinate.is_unit_number:
        return "times are numbers"
    merged = _labels_apart(fields) if bound.snapshot.merge_equal else []
    if merged:
        return f"merge_equal compares the results of {merged[0]}, not what is kept of it"
    return bound.source.why_not_in_python


def _check_mergeable(fields: Fields) -> None:
    """Refuse aggregates that may be equal although what is kept of them is not."""
    for label in _labels_apart(fields):
        raise refuse(
            f"merge_equal with {label}",
            "is not known in a stream, which compares what it keeps of windows, not results",
            "ask for counts, sums, least and greatest values, or leave merge_equal out",
        )


def _labels_apart(fields: Fields) -> list[str]:
    """The aggregates whose results may be equal although what is kept of them is not."""
    return [one.label for one in fields.outputs if one.lower not in _ITSELF]
