"""Several windows over a batch of events that last: one pass, marks of all queries together."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame

from fanlight.plan.spanning_several import SeveralPlan
from fanlight.spark.fields import Fields
from fanlight.spark.spanning import ranges
from fanlight.spark.spanning.rollup import again, first, last, noded, others, pushed, runs
from fanlight.spark.spanning.several.binding import SeveralBound
from fanlight.spark.spanning.several.events import (
    ENDS,
    cells,
    copies,
    events,
    first_of,
    last_of,
    start_by,
)


def windows(bound: SeveralBound, fields: Fields, plan: SeveralPlan) -> DataFrame:
    """One row a key, query and window: keys, ``q``, ``w`` (the start), partials."""
    found = _BUILD[plan.chosen.strategy](bound, fields, plan.chosen.rollup)
    names = [field.name for field in fields.all]
    return found.selectExpr(*bound.keys, "q", f"{start_by(bound, 'w')} as w", *names)


def marks(bound: SeveralBound, rows: DataFrame) -> DataFrame:
    """Rows (keys, ``s``, ``l``, rest) at the ends of their windows, two a query: ``mark``."""
    keys, axes = bound.keys, bound.axes
    rest = others(rows, [*keys, *ENDS])
    numbered, levelled, ends, sparse = [], [], [], False
    for q, axis in enumerate(axes):
        numbered += [f"{first_of(bound, q)} as a{q}", f"{last_of(bound, q)} as b{q}"]
        levelled.append(f"{ranges.level(f'a{q}', f'b{q}')} as h{q}")
        left = ranges.packed(axes, f"h{q}", f"a{q}", q)
        right = ranges.packed(axes, f"h{q}", f"b{q}", q)
        if axis.range < 2 * axis.slide:  # an event may be in one window only, or in none
            left = f"if(a{q} > b{q}, null, {left})"
            right = f"if(a{q} >= b{q}, null, {right})"
            sparse = True
        ends += [f"{left} as a{q}", f"{right} as b{q}"]
    found = rows.selectExpr(*keys, *numbered, *rest).selectExpr("*", *levelled)
    found = found.selectExpr(*keys, *rest, *ends)
    sides = [f"{side}{q}" for q in range(len(axes)) for side in "ab"]
    both = found.unpivot([*keys, *rest], [*sides], "side", "mark").drop("side")
    return both.filter("mark is not null") if sparse else both


def _levels(bound: SeveralBound, fields: Fields, rollup: str) -> DataFrame:
    """Two marks an event and query, then along each level."""
    q, _, p = ranges.unpacked(bound.axes, "mark")
    rows = marks(bound, events(bound, fields))
    found = first(rows, [*bound.keys, "mark"], fields.all, start_by(bound, p, q))
    return _rolled(bound, fields, found, rollup)


def _cells(bound: SeveralBound, fields: Fields, rollup: str) -> DataFrame:
    """Events of the same cell are added up once, for all queries."""
    found = cells(bound, fields)
    if rollup == "copies":
        return _folded(bound, fields, copies(bound, found))
    marked = again(marks(bound, found), [*bound.keys, "mark"], fields.all)
    return _rolled(bound, fields, marked, rollup)


def _rolled(bound: SeveralBound, fields: Fields, marked: DataFrame, rollup: str) -> DataFrame:
    keys = [*bound.keys, "q"]
    q, h, p = ranges.unpacked(bound.axes, "mark")
    rest = others(marked, [*bound.keys, "mark"])
    marked = marked.selectExpr(*bound.keys, f"{q} as q", f"{h} as h", f"{p} as p", *rest)
    if rollup == "runs":
        return runs(marked, keys, fields.all)
    nodes = again(noded(marked, keys), [*keys, "j", "node"], fields.all)
    return _folded(bound, fields, pushed(nodes, keys))


def _folded(bound: SeveralBound, fields: Fields, found: DataFrame) -> DataFrame:
    place = [*bound.keys, "q", "w"]
    return last(again(found, place, fields.all), place, fields.all)


def _buckets(bound: SeveralBound, fields: Fields, rollup: str) -> DataFrame:
    """Each event into each of its windows of each query."""
    del rollup
    place = [*bound.keys, "q", "w"]
    found = first(copies(bound, events(bound, fields)), place, fields.all, start_by(bound, "w"))
    return last(found, place, fields.all)


_BUILD: dict[str, Callable[[SeveralBound, Fields, str], DataFrame]] = {
    "levels": _levels,
    "cells": _cells,
    "aggregate-buckets": _buckets,
}
