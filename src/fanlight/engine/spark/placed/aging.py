"""Aging: a row counts with the weight of the finest level that holds it (IV.A of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.engine.algebra.aggregate import Call
from fanlight.engine.algebra.facts import why_not_weightable
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import bind_calls
from fanlight.engine.spark.cuts import latest_start
from fanlight.engine.spark.result import Relation
from fanlight.engine.spark.sql import group_rows
from fanlight.engine.spark.window_ranges import More
from fanlight.engine.spec.errors import refuse


def check_weighted(bound: Placed, calls: Sequence[Call]) -> None:
    """Refuse aggregates that are not linear in their rows: only those can be weighted."""
    for call, (names, types) in zip(calls, bind_calls(bound.df, calls), strict=True):
        label = call.label_of(names)
        refused = why_not_weightable(call.aggregate.partials(tuple(types)))
        if refused:
            raise refuse(f"{label} with weights", *refused)


def subwindow_start(bound: Placed, level: int, end: str) -> str:
    """SQL: the paper's t_k, the start of subwindow ``level`` of the windows that end at ``end``."""
    return latest_start(bound.grids[level], end)


def level_of_piece(bound: Placed, place: str, end: str) -> str:
    """SQL: the finest level whose window up to ``end`` holds ``place``. Null if there is none."""
    count = len(bound.levels.ranges)
    cases = [f"when {place} >= {subwindow_start(bound, k, end)} then {k}" for k in range(count)]
    return f"case {' '.join(cases)} end"


def weight_of(bound: Placed, place: str, end: str) -> str:
    """SQL: the weight of a slice in the window that ends at ``end``."""
    weights = ", ".join(f"{weight!r}D" for weight in bound.weights or ())
    return f"array({weights})[{level_of_piece(bound, place, end)}]"


def weight(bound: Placed) -> More:
    """The column ``weight`` of a copied slice: the weight of its ``piece`` in its window."""
    return lambda _start, _query, end: {"weight": weight_of(bound, "piece", end)}


def sum_weighted(copies: Relation, *place: str) -> DataFrame:
    """Add up partials times their ``weight``, as doubles."""
    texts = [(name, f"sum(cast({name} as double) * weight)") for name in copies.names]
    return group_rows(copies.df, [*copies.keys, *place], texts)
