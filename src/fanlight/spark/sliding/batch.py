"""Sliding windows over a batch DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut
from fanlight.plan.sliding import SlidingPlan
from fanlight.spark import result
from fanlight.spark.fields import Field, Fields, selected, types_of
from fanlight.spark.slices import counted, lifted, recounted, settled
from fanlight.spark.sliding import rollup
from fanlight.spark.sliding.binding import Ranged, SlidingBound
from fanlight.spark.times import in_window, slice_number, slice_start, window_start


def rolled(
    slices: DataFrame,
    keys: Sequence[str],
    fields: Sequence[Field],
    types: Mapping[str, str],
    cut: Cut,
    how: str,
) -> DataFrame:
    """Slices (keys, ``a`` where each begins, partials) to windows (keys, ``w``, partials)."""
    if cut.span == 1:
        return slices.withColumnRenamed("a", "w")
    names = [field.name for field in fields]
    numbered = slices.selectExpr(*keys, f"{slice_number(cut, 'a')} as i", *names)
    rows = rollup.filled(numbered, keys, fields, cut.span, cut.step)
    windows = rollup.ROLLUPS[how](rows, keys, fields, types, cut.span)
    if cut.step > 1:
        windows = windows.filter(f"pmod(e - {cut.span - 1}L, {cut.step}L) = 0")
    return windows.selectExpr(*keys, f"{window_start(cut, 'e')} as w", *names)


def sliding(bound: SlidingBound, fields: Fields, plan: SlidingPlan) -> DataFrame:
    """One row a key and window: keys, ``window``, results."""
    cut, how = plan.chosen.cut, plan.chosen.rollup
    if cut is None:
        msg = "a plan without a cut reached the batch path"
        raise AssertionError(msg)
    rows = selected(bound, fields)
    inside = in_window(cut, "t")
    rows = rows.filter(inside) if inside else rows
    values, keys, kept = list(fields.values.values()), bound.keys, fields.all
    if how == "expand":
        rows = rows.selectExpr(*keys, f"explode({window_starts(cut, 't')}) as w", *values)
        return finished(bound, fields, lifted(rows, [*keys, "w"], kept, "w"), "w")
    rows = rows.selectExpr(*keys, f"{slice_start(cut, 't')} as a", *values)
    if how == "copies":
        counts = counted(rows, [*keys, "a"], kept, "a")
        return finished(bound, fields, _copied(counts, keys, kept, cut), "w")
    slices = lifted(rows, [*keys, "a"], kept, "a")
    windows = rolled(slices, keys, kept, types_of(slices, kept), cut, how)
    return finished(bound, fields, windows, "w")


def _copied(counts: DataFrame, keys: Sequence[str], fields: Sequence[Field], cut: Cut) -> DataFrame:
    """Each slice's value counts join the windows that it lies in, and are added up by value."""
    starts = window_starts(cut, "a")
    others = [name for name in counts.columns if name not in ("a", *keys)]
    copies = counts.selectExpr(*keys, f"explode({starts}) as w", *others)
    return settled(recounted(copies, [*keys, "w"], fields), [*keys, "w"], fields)


def window_starts(cut: Cut, t: str) -> str:
    """SQL: the start coordinates of all windows that coordinate ``t`` lies in."""
    grid = cut.grid
    moved = f"({t} - {grid.offset}L)" if grid.offset else t
    latest = f"({t} - pmod({moved}, {grid.slide}L))"
    if grid.slide >= grid.range:
        return f"array({latest})"
    earliest = f"({t} - {grid.range - 1}L + pmod({grid.range - 1}L - {moved}, {grid.slide}L))"
    return f"sequence({earliest}, {latest}, {grid.slide}L)"


def finished(bound: Ranged, fields: Fields, windows: DataFrame, start: str) -> DataFrame:
    """Partials lowered, of windows that begin at the coordinate ``start``."""
    bounds = result.times(bound, start, f"{start} + {bound.axis.range}L")
    return result.finished(bound, windows, *bounds, result.lowered(fields, start))
