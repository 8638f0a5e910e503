"""Trend lines: least squares over a series with a value at every instant (IV.B of the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from fanlight.algebra.filling import Filled, both, run
from fanlight.plan.granular import GranularPlan
from fanlight.plan.sliding import FieldFacts
from fanlight.spark.columns import grouped, over, sql
from fanlight.spark.fields import Field, Fields
from fanlight.spark.granular import batch, chain, stream
from fanlight.spark.granular.binding import GranularBound
from fanlight.spark.granular.results import shown_start
from fanlight.spark.granular.slices import by_query, end_of, rows_of, start_of
from fanlight.spec.errors import refuse
from fanlight.spec.units import extent, spell

FACTS = FieldFacts("fit", running=False, invertible=False)


def instant_of(bound: GranularBound, plan: GranularPlan, given: Any) -> int:
    """The length of an instant, in coordinates: what is given, or a second where that fits."""
    axis = bound.axis
    granule = math.gcd(*(n for first, every in plan.granules.edges for n in (every, first)))
    granule = math.gcd(granule, axis.offset)
    if given is None:
        usual = axis.per_second
        return usual if granule % usual == 0 else granule
    length = extent("instant", given)
    kind = "number" if axis.kind == "integer" else "time"
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
    if bound.axis.kind == "rows":
        raise refuse(
            "fit over levels counted in rows",
            "has no instants to fill: rows are not evenly spaced",
            "write fit(column, per_row=True)",
        )
    if bound.axis.time_kind == "double":
        raise refuse(
            f"fit over time={bound.time!r}",
            "needs a timestamp or a whole number as time",
            f"cast {bound.time!r} to bigint in a finer unit",
        )


def series(column: Any) -> Fields:
    """The one field that is kept: a stretch of the series."""
    found = Fields()
    found.arguments[column] = "x0"
    found.values["cast(x0 as double)"] = "v0"
    found.kept["v0", Filled()] = Field("f0", "v0", Filled(), FACTS)
    return found


def lines(bound: GranularBound, plan: GranularPlan, column: Any, instant: int) -> DataFrame:
    """Results: keys, ``q``, ``w``, ``r0`` (slope), ``r1`` (intercept), ``r2``."""
    fields = series(column)
    keys = bound.keys
    rows = rows_of(bound, fields)
    number = numbered(bound, "t", instant)
    streaming = bound.df.isStreaming
    if streaming:
        rows = rows.selectExpr(*keys, "t", f"{number} as i", "v0")
        rows = stream.ending(bound, rows, end_of(plan.granules, "t"), [*keys, "i", "v0"])
        group = [*keys, "end"]
    else:
        start = f"{start_of(plan.granules, 't')} as p"
        rows = rows.selectExpr(*keys, start, f"{number} as i", "v0")
        group = [*keys, "p"]
    means = grouped(rows, [*group, "i"], [("y", "avg(v0)")])
    lifted = Filled().lift("if(y is null, null, named_struct('i', i, 'y', y))")
    # Only here are rows without a value left out: earlier, they would not move the watermark.
    granules = grouped(means, group, [("f0", lifted)]).filter("f0 is not null")
    if streaming:
        found = chain.through(bound, granules, ["f0"], [Filled()])
    else:
        found = batch.branches(bound, fields, plan, carried(granules, keys))
    return lowered(bound, found, instant)


def numbered(bound: GranularBound, t: str, instant: int) -> str:
    """SQL: the number of the instant that a coordinate lies in."""
    moved = f"({t} - {bound.axis.offset}L)" if bound.axis.offset else t
    return f"(({moved} - pmod({moved}, {instant}L)) div {instant}L)"


def carried(granules: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Each granule with the latest value before it."""
    before = over(keys, "p", "rows between unbounded preceding and 1 preceding")
    c = f"last(f0.v) {before}"
    fields = f"'f', f0.f, 'e', f0.e, 'v', f0.v, 'c', {c}, 'm', f0.m"
    return granules.selectExpr(*keys, "p", f"named_struct({fields}) as f0")


def lowered(bound: GranularBound, windows: DataFrame, instant: int) -> DataFrame:
    """The line through every instant of a window, its first ones filled with what came before."""
    end = f"(w + {by_query([axis.range for axis in bound.axes])})"
    edges = {
        "s": numbered(bound, shown_start(bound), instant),
        "z": numbered(bound, end, instant),
    }
    kept = [*bound.keys, "q", "w"]
    found = windows.selectExpr(*kept, "f0", *(f"{text} as {n}" for n, text in edges.items()))
    lead = f"if(f0.c is null, null, {run('s', 'f0.f', 'f0.c')})"
    whole = both(both(lead, "f0.m"), run("f0.e", "z", "f0.v"))
    found = found.select(*[sql(found, name) for name in (*kept, "s")], sql(found, whole).alias("m"))
    slope = "m.sxy / m.sxx"
    rate = f"{bound.axis.per_second}D / {instant}D"
    results = [
        f"if(m.sxx > 0D, {slope} * {rate}, null) as r0",
        f"if(m.sxx > 0D, m.my - {slope} * (m.mx + cast(m.t0 - s as double)), null) as r1",
        "if(m.sxx > 0D, if(m.syy > 0D, m.sxy * m.sxy / (m.sxx * m.syy), 1D), null) as r2",
    ]
    return found.selectExpr(*kept, *results)
