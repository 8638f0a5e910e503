"""Windows over events that last, by operators: the paper's techniques, and snapshots in a pass."""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame

from fanlight.engine.operators.running_events import RunningQuery
from fanlight.engine.operators.spanning_events import SpanningQuery
from fanlight.engine.plan.candidate import Candidate
from fanlight.engine.plan.granules import Pieces
from fanlight.engine.plan.ways import has_compiler
from fanlight.engine.spark.binding.placed import Lasting
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lasting import ENDS
from fanlight.engine.spark.lift import partials_of_rows, select_values
from fanlight.engine.spark.ordered.host import Hosted, alike, numbers, run_operator
from fanlight.engine.spec.errors import refuse

_ITSELF = ("{p}", "coalesce({p}, 0L)")  # results that are equal where partials are, and only there


def run_technique(
    bound: Lasting, fields: Fields, chosen: Candidate[Pieces], height: int
) -> DataFrame:
    """Windows, one row a key and ``start``, of events that Spark has lifted to partials."""
    rows = select_values(bound, fields, bound.place_columns)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*bound.keys, *places, *partials_of_rows(rows, fields.all))
    rows = rows.filter("t is not null")
    cut, technique = chosen.pieces.only_cut, chosen.strategy.name
    query = partial(
        SpanningQuery, monoids=fields.monoids, cut=cut, technique=technique, height=height
    )
    what = f"windows over events with a duration, by {technique!r}"
    told = {"cut": cut.technique, "height": height, "layout": 2}
    hosted = Hosted(what, told, order=["t", "first_at", "last_at"])
    given = alike(*bound.keys) | numbers("start") | alike(*fields.names)
    return run_operator(bound, fields, rows, query, given, hosted)


def release_snapshots(bound: SnapshotBound, fields: Fields) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, partials); of a stream, once its watermark is past."""
    if bound.snapshot.merge_equal:
        _check_mergeable(fields)
    rows = select_values(bound, fields, bound.instants)
    places = [f"{bound.late_after} as t", *ENDS]
    rows = rows.selectExpr(*bound.keys, *places, *partials_of_rows(rows, fields.all))
    merged = bound.snapshot.merge_equal
    query = partial(RunningQuery, monoids=fields.monoids, merges=merged)
    hosted = Hosted("snapshots of events", {"merged": merged}, order=["first_at"], by="first_at")
    given = alike(*bound.keys) | numbers("start", "upto") | alike(*fields.names)
    return run_operator(bound, fields, rows, query, given, hosted)


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
    """Refuse aggregates whose results may be equal although their partials differ."""
    for label in _labels_apart(fields):
        raise refuse(
            f"merge_equal with {label}",
            "is not known in a stream, which compares what it keeps of windows, not results",
            "ask for counts, sums, least and greatest values, or leave merge_equal out",
        )


def _labels_apart(fields: Fields) -> list[str]:
    """The aggregates whose results may be equal although their partials differ."""
    return [one.label for one in fields.outputs if one.lower not in _ITSELF]
