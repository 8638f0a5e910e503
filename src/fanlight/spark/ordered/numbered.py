"""Windows counted in rows, and windows that end at every row, over a batch.

A row's number in its key is a windowing attribute like any other: once rows are numbered, the same
cut and the same roll-up serve. Windows that end at every row have no slices to share; each row is
a slice of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.plan.sliding import SlidingPlan
from fanlight.spark.bound import Bound
from fanlight.spark.fields import Fields, merged, selected, types_of
from fanlight.spark.slices import unit_partials
from fanlight.spark.sliding import rollup
from fanlight.spark.sliding.batch import finished, rolled, window_starts
from fanlight.spark.sliding.binding import SlidingBound
from fanlight.spark.sql import grouped, over
from fanlight.spark.times import in_window, slice_start


def windows(bound: SlidingBound, fields: Fields, plan: SlidingPlan) -> DataFrame:
    """One row a key and window."""
    if bound.df.isStreaming:
        from fanlight.spark.ordered.numbered_stream import windows as streamed

        return streamed(bound, fields, plan)
    rows, order = units(bound, fields)
    if bound.spec.slide_by_tuple:
        return _at_every_row(bound, fields, plan, rows)
    return _counted(bound, fields, plan, rows, order)


def units(bound: Bound, fields: Fields) -> tuple[DataFrame, list[str]]:
    """Rows as partials of one row each, and the columns that order the rows of a key.

    Rows are ordered by time, tiebreaks, and the aggregates' arguments: rows that are equal in all
    of these contribute alike, so their order cannot show.
    """
    rows = selected(bound, fields, list(fields.arguments.values()))
    types = {f.name: f.dataType.simpleString() for f in rows.schema.fields}
    order = ["t", *bound.breaks, *fields.arguments.values()]
    order = [name for name in order if not any(w in types[name] for w in ("map<", "variant"))]
    return rows.selectExpr(*bound.keys, *order, *unit_partials(rows, fields.all)), order


def _counted(
    bound: SlidingBound, fields: Fields, plan: SlidingPlan, rows: DataFrame, order: Sequence[str]
) -> DataFrame:
    cut = plan.chosen.cut
    if cut is None:
        msg = "a plan without a cut reached the tuple-based path"
        raise AssertionError(msg)
    keys, names = bound.keys, [field.name for field in fields.all]
    number = f"count(1) {over(keys, ', '.join(order), 'rows unbounded preceding')} - 1L"
    rows = rows.selectExpr(*keys, f"{number} as t", *names)
    inside = in_window(cut, "t")
    rows = rows.filter(inside) if inside else rows
    types = types_of(rows, fields.all)
    results = [(f.name, merged(f, types[f.name])) for f in fields.all]
    if plan.chosen.strategy == "expand":
        copies = rows.selectExpr(*keys, f"explode({window_starts(cut, 't')}) as w", *names)
        return finished(bound, fields, grouped(copies, [*keys, "w"], results), "w")
    rows = rows.selectExpr(*keys, f"{slice_start(cut, 't')} as a", *names)
    alone = cut.head == 1 and cut.technique == "panes" and cut.span > 1
    slices = rows if alone else grouped(rows, [*keys, "a"], results)
    windows = rolled(slices, keys, fields.all, types, cut, plan.chosen.rollup)
    return finished(bound, fields, windows, "w")


def _at_every_row(
    bound: SlidingBound, fields: Fields, plan: SlidingPlan, rows: DataFrame
) -> DataFrame:
    keys, names = bound.keys, [field.name for field in fields.all]
    rows = rows.selectExpr(*keys, "t as e", *names)
    # One shuffle by key serves all the orders that follow; they differ by their sort alone.
    rows = rows.repartition(*keys) if keys else rows.repartition(1)
    types = types_of(rows, fields.all)
    how = rollup.ROLLUPS[plan.chosen.rollup]
    ends = how(rows, keys, fields.all, types, bound.axis.range)
    # Rows of one instant end the same window: it is reported once.
    ends = ends.selectExpr("*", f"lead(e) {over(keys, 'e')} as ahead")
    ends = ends.filter("ahead is null or ahead <> e")
    ends = ends.selectExpr(*keys, f"e - {bound.axis.range - 1}L as w", *names)
    return finished(bound, fields, ends, "w")
