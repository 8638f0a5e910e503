"""Sliding windows over a batch of events that last."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from fanlight.plan.spanning import SpanningPlan
from fanlight.spark.fields import Fields, selected
from fanlight.spark.sliding.batch import finished
from fanlight.spark.spanning import ranges
from fanlight.spark.spanning.binding import SpanningBound
from fanlight.spark.spanning.rollup import again, first, last, noded, others, pushed, runs


def spanning(bound: SpanningBound, fields: Fields, plan: SpanningPlan) -> DataFrame:
    """One row a key and window: keys, ``window``, results."""
    build = _BUILD[plan.chosen.strategy]
    windows = build(bound, fields, plan.chosen.rollup)
    start = ranges.window_start(bound.axis, "w")
    names = [field.name for field in fields.all]
    windows = windows.selectExpr(*bound.keys, f"{start} as at", *names)
    return finished(bound, fields, windows, "at")


def ranged(bound: SpanningBound, fields: Fields) -> DataFrame:
    """Events as (keys, ``a``, ``b``, values): the windows that each is in, if it is in any."""
    axis, values = bound.axis, list(fields.values.values())
    rows = selected(bound, fields)
    rows = rows.selectExpr(
        *bound.keys,
        f"{ranges.first_window(axis, 's')} as a",
        f"{ranges.last_window(axis, 'l')} as b",
        *values,
    )
    return rows.filter("a <= b") if axis.slide > axis.range else rows


def cells(bound: SpanningBound, fields: Fields) -> DataFrame:
    """One partial a key and range of windows: any aggregate, each event once."""
    origin = ranges.window_start(bound.axis, "a")
    return first(ranged(bound, fields), [*bound.keys, "a", "b"], fields.all, origin)


def marks(bound: SpanningBound, ranges_: DataFrame) -> DataFrame:
    """Each row twice, at the first and at the last of its windows: (keys, ``mark``, the rest)."""
    keys, axis = bound.keys, bound.axis
    rest = others(ranges_, [*keys, "a", "b"])
    alone = axis.range < 2 * axis.slide  # otherwise every event is in two windows or more
    rows = ranges_.selectExpr(*keys, "a", "b", f"{ranges.level()} as h", *rest)
    ends = [f"{ranges.packed([axis], 'h', 'a')} as a", f"{ranges.packed([axis], 'h', 'b')} as b"]
    if alone:
        ends[1] = f"if(h < 0, null, {ranges.packed([axis], 'h', 'b')}) as b"
    rows = rows.selectExpr(*keys, *rest, *ends)
    # Spark does this by copying rows in compiled code; an exploded array would be built first.
    both = rows.unpivot([*keys, *rest], ["a", "b"], "side", "mark").drop("side")
    return both.filter("mark is not null") if alone else both


def _levels(bound: SpanningBound, fields: Fields, rollup: str) -> DataFrame:
    """Two marks an event, then along each level."""
    rows = marks(bound, ranged(bound, fields))
    origin = ranges.window_start(bound.axis, ranges.unpacked([bound.axis], "mark")[2])
    found = first(rows, [*bound.keys, "mark"], fields.all, origin)
    return _rolled(bound, fields, found, rollup)


def _cells(bound: SpanningBound, fields: Fields, rollup: str) -> DataFrame:
    """Events of the same windows are added up first; then as levels, or straight into windows."""
    keys, found = bound.keys, cells(bound, fields)
    if rollup == "copies":
        kept = others(found, [*keys, "a", "b"])
        copies = found.selectExpr(*keys, "explode(sequence(a, b)) as w", *kept)
        return _folded(bound, fields, copies)
    marked = again(marks(bound, found), [*keys, "mark"], fields.all)
    return _rolled(bound, fields, marked, rollup)


def _rolled(bound: SpanningBound, fields: Fields, marked: DataFrame, rollup: str) -> DataFrame:
    keys = bound.keys
    _, h, p = ranges.unpacked([bound.axis], "mark")
    marked = marked.selectExpr(*keys, f"{h} as h", f"{p} as p", *others(marked, [*keys, "mark"]))
    if rollup == "runs":
        return runs(marked, keys, fields.all)
    nodes = again(noded(marked, keys), [*keys, "j", "node"], fields.all)
    return _folded(bound, fields, pushed(nodes, keys))


def _folded(bound: SpanningBound, fields: Fields, copies: DataFrame) -> DataFrame:
    place = [*bound.keys, "w"]
    return last(again(copies, place, fields.all), place, fields.all)


def _buckets(bound: SpanningBound, fields: Fields, rollup: str) -> DataFrame:
    """Each event into each of its windows: the paper's aggregate buckets, and Spark's own way."""
    del rollup
    keys, values = bound.keys, list(fields.values.values())
    rows = ranged(bound, fields).selectExpr(*keys, "explode(sequence(a, b)) as w", *values)
    place, origin = [*keys, "w"], ranges.window_start(bound.axis, "w")
    return last(first(rows, place, fields.all, origin), place, fields.all)


_BUILD: dict[str, Callable[[SpanningBound, Fields, str], DataFrame]] = {
    "levels": _levels,
    "cells": _cells,
    "aggregate-buckets": _buckets,
}
