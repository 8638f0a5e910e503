"""The shared slices in SQL, and the windows that a slice lies in."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from fanlight.plan.granular import GranularPlan, Granules
from fanlight.spark.fields import Fields, selected
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.sliding.batch import window_starts
from fanlight.spark.times import in_window


def start_of(granules: Granules, t: str) -> str:
    """SQL: where the slice begins that coordinate ``t`` lies in: at the latest of all edges."""
    return _extreme("greatest", [f"{t} - {_since(t, *edge)}" for edge in granules.edges])


def end_of(granules: Granules, t: str) -> str:
    """SQL: where the slice ends that coordinate ``t`` lies in: at the next of all edges."""
    return _extreme("least", [f"{t} + {edge[1]}L - {_since(t, *edge)}" for edge in granules.edges])


def _since(t: str, first: int, every: int) -> str:
    moved = f"({t} - {first}L)" if first else t
    return f"pmod({moved}, {every}L)"


def _extreme(word: str, parts: Sequence[str]) -> str:
    return f"({parts[0]})" if len(parts) == 1 else f"{word}({', '.join(parts)})"


def rows_of(bound: GranularBound, fields: Fields, arguments: Sequence[str] = ()) -> DataFrame:
    """The rows that lie in some window, as keys, ``t`` and lifted values."""
    rows = selected(bound, fields, arguments)
    if bound.coordinate.counted:
        return rows
    if bound.since is not None:
        rows = rows.filter(f"t >= {bound.since}L")
    inside = anywhere(bound, "t")
    return rows.filter(inside) if inside else rows


def anywhere(bound: GranularBound, t: str) -> str | None:
    """SQL: whether ``t`` lies in any window; None where it always does."""
    from fanlight.plan.cut import panes

    tests = [in_window(panes(axis.grid), t) for axis in bound.axes]
    if any(test is None for test in tests):
        return None
    return " or ".join(f"({test})" for test in tests)


def copies_of(plan: GranularPlan, last: str, more: Sequence[str] = (), *, ahead: int = 0) -> str:
    """SQL: the windows that a slice is in, as structs of query ``q``, start ``w`` and ``more``.

    ``last`` is the slice's last coordinate; ``ahead`` adds so many windows that begin after it.
    ``more`` are further fields, ``{w}``, ``{q}``, ``{x}`` (the window's end) at hand.
    """
    from fanlight.plan.cut import panes

    arrays = []
    for number, axis in enumerate(plan.axes):
        starts = window_starts(panes(axis.grid), last)
        if axis.slide > axis.range:
            starts = f"filter({starts}, w -> {last} < w + {axis.range}L)"
        if ahead:
            starts = f"concat({starts}, array(element_at({starts}, -1) + {axis.slide}L))"
        fields = [f"'q', {number}", "'w', w"]
        fields += [part.format(w="w", q=number, x=f"(w + {axis.range}L)") for part in more]
        arrays.append(f"transform({starts}, w -> named_struct({', '.join(fields)}))")
    return arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"


def by_query(values: Sequence[int], q: str = "q") -> str:
    """SQL: the value of the query that a row belongs to."""
    if len(set(values)) == 1:
        return f"{values[0]}L"
    return f"array({', '.join(f'{value}L' for value in values)})[{q}]"
