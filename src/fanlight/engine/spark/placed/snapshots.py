"""Snapshots of a batch: starts and stops are numbered, and events entered by these numbers.

    events      a=========b        numbers of starts and stops   1     2   3     4
                      c=======d    windows                       [1,2) [2,3) [3,4)

Between two numbers that follow one another the same events are running. So an event is one that
lasts over numbers, in windows of length 1: those are what :mod:`fanlight.engine.spark.windows`
computes of any aggregate without subtracting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.spark.binding.snapshot import SnapshotBound
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_placeable
from fanlight.engine.spark.sql import expr, over_clause

OverNumbers = Callable[[DataFrame, Sequence[str], Sequence[str], Sequence[Call]], DataFrame]


def take_snapshots(
    bound: SnapshotBound, calls: Sequence[Call], fields: Fields, over_numbers: OverNumbers
) -> DataFrame:
    """Windows (keys, ``start``, ``upto``, results ``r0``, ``r1``, …) in which an event is running.

    ``over_numbers`` computes aggregates over events that last from ``low`` to ``high``.
    """
    keys, (start, stop) = bound.keys, bound.ends
    rows = select_placeable(bound, fields)
    edges = rows.selectExpr(*keys, f"explode(array({start}, {stop})) as at").distinct()
    order = over_clause(keys, "at")
    edges = edges.selectExpr(
        *keys, "at", f"lead(at) {order} as upto", f"cast(row_number() {order} as bigint) as number"
    )
    numbered = _look_up(rows, edges, keys, start, "low")
    numbered = _look_up(numbered, edges, keys, stop, "high")
    asked = [_of_internal(bound, fields, call, n) for n, call in enumerate(calls)]
    found = over_numbers(numbered, keys, bound.tie_keys, asked)
    results = [f"r{n}" for n, _ in enumerate(calls)]
    found = found.selectExpr(*keys, "window.start as number", *results)
    windows = _join(found, edges, keys, "number = b.number")
    names = [*keys, *results]
    return windows.selectExpr(*(f"a.{name}" for name in names), "b.at as start", "b.upto")


def _look_up(
    rows: DataFrame, edges: DataFrame, keys: Sequence[str], at: str, name: str
) -> DataFrame:
    """The rows with the number of their time ``at``."""
    joined = _join(rows, edges, keys, f"{at} = b.at")
    return joined.selectExpr("a.*", f"b.number as {name}")


def _join(rows: DataFrame, edges: DataFrame, keys: Sequence[str], test: str) -> DataFrame:
    """Rows with the edges of their key; null is a key like any other."""
    same = " and ".join([*(f"a.{key} <=> b.{key}" for key in keys), f"a.{test}"])
    one, other = rows.alias("a"), edges.alias("b")
    return one.join(other, expr(rows, same))


def _of_internal(bound: SnapshotBound, fields: Fields, call: Call, number: int) -> Call:
    """An aggregate over the columns that its arguments and its condition have inside the plan."""
    columns = tuple(fields.add_argument(column) for column in call.columns)
    tests = (fields.add_condition(bound.df, call.conditions),) if call.conditions else ()
    return replace(call, columns=columns, conditions=tests, output=f"r{number}")


def merge_equal(windows: DataFrame, keys: Sequence[str], results: Sequence[str]) -> DataFrame:
    """Merge windows that follow one another without a gap and have the same results."""
    order = over_clause(keys, "start")
    same = " and ".join(
        [f"lag(upto) {order} <=> start", *(f"lag({name}) {order} <=> {name}" for name in results)]
    )
    marked = windows.selectExpr("*", f"if({same}, 0L, 1L) as begun")
    islands = marked.selectExpr("*", f"sum(begun) {order} as island")
    kept = [expr(islands, f"min_by({name}, start)").alias(name) for name in results]
    ends = [expr(islands, "min(start)").alias("start"), expr(islands, "max(upto)").alias("upto")]
    return islands.groupBy(*keys, "island").agg(*ends, *kept).drop("island")
