"""Trend lines: least squares over a series with a value at every instant (IV.B of the paper)."""

from __future__ import annotations

import math
from typing import Any

from pyspark.sql import DataFrame

from fanlight.algebra.filling import Filled, both, run
from fanlight.plan.cut import Cut
from fanlight.plan.granular import Branch, GranularPlan
from fanlight.plan.sliding import FieldFacts
from fanlight.spark.fields import Fields
from fanlight.spark.granular import batch, stream, stretches
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.granular.results import shown_start
from fanlight.spark.granular.slices import by_query, end_of, rows_of, start_of
from fanlight.spark.ordered import chain
from fanlight.spark.sql import grouped
from fanlight.spark.times import slice_end, slice_start
from fanlight.spec.errors import refuse
from fanlight.spec.units import extent, spell

# Equal values have that value for a mean, to the last bit.
MEAN = "if(min(v0) = max(v0), min(v0), avg(v0))"
FACTS = FieldFacts("fit", running=False, invertible=False)


def instant_of(bound: GranularBound, plan: GranularPlan, given: Any) -> int:
    """The length of an instant, in coordinates: what is given, or a second where that fits."""
    axis = bound.axis
    granule = math.gcd(*(n for first, every in plan.granules.edges for n in (every, first)))
    granule = math.gcd(granule, axis.offset)
    if given is None:
        usual = axis.coordinate.per_second
        return usual if granule % usual == 0 else granule
    length = extent("instant", given)
    kind = "number" if axis.coordinate.kind == "integer" else "time"
    fits = length.measure == kind and length.value.denominator == 1
    if not fits or granule % int(length.value):
        whole = spell(granule) if kind == "time" else str(granule)
        raise refuse(
            f"instant={length}",
            f"does not divide the granules of these levels, {whole}",
            f"write instant={whole!r}, or a divisor of it",
        )
    return int(length.value)


def check_fit(bound: GranularBound) -> None:
    """A filled series needs a time that has instants."""
    if bound.coordinate.counted:
        raise refuse(
            "fit over levels counted in rows",
            "has no instants to fill: rows are not evenly spaced",
            "write fit(column, per_row=True)",
        )
    if bound.coordinate.kind == "double":
        raise refuse(
            f"fit over time={bound.time!r}",
            "needs a timestamp or a whole number as time",
            f"cast {bound.time!r} to bigint in a finer unit",
        )


def series(column: Any) -> Fields:
    """The one value that is read: the column as a double, ``v0``."""
    found = Fields()
    found.arguments[column] = "x0"
    found.values["cast(x0 as double)"] = "v0"
    return found


def lines(bound: GranularBound, plan: GranularPlan, column: Any, instant: int) -> DataFrame:
    """Results: keys, ``q``, ``w``, ``r0`` (slope), ``r1`` (intercept), ``r2``."""
    fields = series(column)
    rows = rows_of(bound, fields)
    build = _streamed if bound.df.isStreaming else _rolled
    return lowered(bound, build(bound, plan, rows, instant), instant)


def _rolled(bound: GranularBound, plan: GranularPlan, rows: DataFrame, instant: int) -> DataFrame:
    """Of a batch: an instant is a stretch, granules are made of instants, levels as planned."""
    keys = bound.keys
    at = f"{_numbered(bound, 't', instant)} * {instant}L{_plus(bound.axis.offset)} as a"
    rows = rows.filter("v0 is not null").selectExpr(*keys, at, "v0")
    values = grouped(rows, [*keys, "a"], [("y", MEAN)])
    granule = start_of(plan.granules, "a"), end_of(plan.granules, "p")

    def slices(cut: Cut, finer: DataFrame) -> DataFrame:
        edges = slice_start(cut, "a"), slice_end(cut, "p")
        return stretches.coarser(finer, keys, *edges, instant)

    def ends(branch: Branch, own: DataFrame) -> DataFrame:
        return stretches.windows(own, keys, branch.cut, instant)

    granules = stretches.of_instants(values, keys, *granule, instant)
    windows = batch.branched(plan, keys, granules, slices, ends)
    after = stretches.instants(f"f - {shown_start(bound)}", instant)
    return windows.selectExpr(
        *keys, "q", "w", f"{after} + (n - 1D) / 2D as x", "y",
        "n * (n * n - 1D) / 12D as xx", "xy", "yy",
    )  # fmt: skip


def _streamed(bound: GranularBound, plan: GranularPlan, rows: DataFrame, instant: int) -> DataFrame:
    """Of a stream: granules natively, then the chain; the edges of windows are filled behind it."""
    keys = bound.keys
    rows = rows.selectExpr(*keys, "t", f"{_numbered(bound, 't', instant)} as i", "v0")
    rows = stream.ending(bound, rows, end_of(plan.granules, "t"), [*keys, "i", "v0"])
    values = grouped(rows, [*keys, "end", "i"], [("y", MEAN)])
    lifted = Filled().lift("if(y is null, null, named_struct('i', i, 'y', y))")
    # Only here are rows without a value left out: earlier, they would not move the watermark.
    granules = grouped(values, [*keys, "end"], [("f0", lifted)]).filter("f0 is not null")
    windows = chain.through(bound, granules, ["f0"], [Filled()])
    end = f"(w + {by_query([axis.range for axis in bound.axes])})"
    windows = windows.selectExpr(
        *keys, "q", "w", "f0", f"{_numbered(bound, shown_start(bound), instant)} as s",
        f"{_numbered(bound, end, instant)} as z",
    )  # fmt: skip
    lead = f"if(f0.c is null, null, {run('s', 'f0.f', 'f0.c')})"
    whole = both(both(lead, "f0.m"), run("f0.e", "z", "f0.v"))
    found = windows.selectExpr(*keys, "q", "w", "s", f"{whole} as m")
    x = "m.mx + cast(m.t0 - s as double) as x"
    return found.selectExpr(
        *keys, "q", "w", x, "m.my as y", "m.sxx as xx", "m.sxy as xy", "m.syy as yy"
    )


def _numbered(bound: GranularBound, t: str, instant: int) -> str:
    """SQL: the number of the instant that a coordinate lies in."""
    moved = f"({t} - {bound.axis.offset}L)" if bound.axis.offset else t
    return f"(({moved} - pmod({moved}, {instant}L)) div {instant}L)"


def _plus(offset: int) -> str:
    return f" + {offset}L" if offset else ""


def lowered(bound: GranularBound, windows: DataFrame, instant: int) -> DataFrame:
    """Lines from moments; ``x`` is the mean time in instants after the window's start."""
    rate = f"{bound.coordinate.per_second}D / {instant}D"
    results = [
        f"if(xx > 0D, xy / xx * {rate}, null) as r0",
        "if(xx > 0D, y - xy / xx * x, null) as r1",
        "if(xx > 0D, if(yy > 0D, xy * xy / (xx * yy), 1D), null) as r2",
    ]
    return windows.selectExpr(*bound.keys, "q", "w", *results)
