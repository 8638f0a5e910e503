"""Trend lines: least squares over a series with a value at every instant (IV.B of the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame

from fanlight.engine.algebra.filling import Filled, combined_moments, moments_of_run
from fanlight.engine.algebra.lowering import slope_and_r2, slope_error
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import Branch, Granules, Pieces, granules_of_cut
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import column_of, schema_of
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.cuts import slice_end, slice_start
from fanlight.engine.spark.equality import has_collation
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.grids import window_end_by
from fanlight.engine.spark.lift import select_points
from fanlight.engine.spark.placed import segments, stream
from fanlight.engine.spark.rollup import build_branches, query_as_column
from fanlight.engine.spark.sql import expr, expr_as, group_rows, is_taken
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import Extent, read_extent, write_duration

LINE = ("slope", "intercept", "r2", "slope_error")
FORECAST = "forecast"
# The mean of equal values is exactly that value.
MEAN = "if(min(v0) = max(v0), min(v0), avg(v0))"
FACTS = FieldFacts("fit", running=False, invertible=False)


def read_ahead(bound: Placed, given: Any) -> Extent | None:
    """How long after a window's end the line is asked for; None if it is not."""
    if given is None:
        return None
    length = read_extent("ahead", given)
    if bound.coordinate.counted:
        raise refuse(
            f"ahead={length} with levels counted in rows",
            "asks for a time after windows that end with a row, not at a time",
            "leave it out, or give the levels as durations",
        )
    bound.check_length("ahead", length, whole=False)
    return length


def read_columns(bound: Placed, columns: Sequence[Any]) -> list[str]:
    """The names of the columns that lines are fitted to; of several they name the results."""
    if any(isinstance(one, bool) for one in columns):
        raise refuse("fit(column, True)", "takes a flag for a column", "write filled=True")
    asked = [("fit", one) for one in columns]
    names = [field.name for field in schema_of(bound.df, asked, "fit")]
    for place, name in enumerate(names[:0] if len(names) == 1 else names):
        if is_taken(bound.df, name, (*bound.window_columns, *names[:place])):
            raise refuse(
                f"fit of several columns with {name!r}",
                "would give two columns of that name",
                "name each column once, or rename one with .alias(…)",
            )
    return names


def check_several(bound: Placed, columns: Sequence[Any]) -> None:
    """Refuse what only one series at a time can be asked for."""
    if len(columns) == 1:
        return
    streaming, kinds = bound.df.isStreaming, bound.source.key_types
    for wrong, what, why in (
        (bound.changes_only, "changes_only=True", "would say for all columns whether one changed"),
        (streaming and any(map(has_collation, kinds)), "keys of a collation in a stream",
         "brings lines together by keys that a stream's state cannot compare"),
    ):  # fmt: skip
        if wrong:
            raise refuse(f"fit of several columns with {what}", why, "fit each column by itself")


def put_lines_beside(bound: Placed, results: Sequence[DataFrame]) -> DataFrame:
    """Bring the lines of columns together: keys, ``window``, ``level``, a struct of each line.

    They are added up, not joined, so that keys may be null, and a stream needs no state of joins.
    """
    place = [*bound.keys, "window", "level"]
    line = f"struct({', '.join(LINE)})"
    if len(results) == 1:
        (only,) = results
        return only.select(
            *(expr(only, quote(name)) for name in (*bound.names, "window", "level")),
            expr_as(only, line, " line0"),
        )
    parts = [
        one.toDF(*place, *LINE).selectExpr(*place, f"{line} as line", f"{n} as number")
        for n, one in enumerate(results)
    ]
    rows = reduce(lambda a, b: a.unionByName(b), parts)
    # The window carries the watermark on.
    window = expr(rows, "window").alias("window", metadata=results[0].schema["window"].metadata)
    rows = rows.select(*(expr(rows, key) for key in bound.keys), window, "level", "line", "number")
    texts = [(f" line{n}", f"first(line) filter (where number = {n})") for n, _ in enumerate(parts)]
    lines = group_rows(rows, place, texts)
    return lines.toDF(*bound.names, "window", "level", *(name for name, _ in texts))


def finish_lines(
    bound: Placed, lines: DataFrame, columns: Sequence[str], ahead: Extent | None
) -> DataFrame:
    """The lines `` line0``, … as reported: parts of the only one as columns, or a struct each."""
    place = [expr(lines, quote(name)) for name in (*bound.names, "window", "level")]
    structs = []
    for n, _ in enumerate(columns):
        line = quote(f" line{n}")
        parts = [(f"{line}.{name}", name) for name in LINE]
        if ahead is not None:
            after = _time_after_start(bound, ahead)
            parts.append((f"{line}.intercept + {line}.slope * {after}", FORECAST))
        structs.append(parts)
    if len(columns) == 1:
        return lines.select(*place, *(expr_as(lines, *part) for part in structs[0]))
    texts = [", ".join(f"{text} as {name}" for text, name in parts) for parts in structs]
    named = zip(texts, columns, strict=True)
    return lines.select(*place, *(expr_as(lines, f"struct({text})", name) for text, name in named))


def _time_after_start(bound: Placed, ahead: Extent) -> str:
    """SQL: how long after a window's start it is asked for, as slopes count time."""
    start, end = (exact(bound.coordinate, f"window.{one}") for one in ("start", "end"))
    length = f"cast({end} - {start} as double) + {float(ahead.value)!r}D"
    return f"({length}) / {bound.coordinate.per_second}D"


def instant_of(bound: Placed, granules: Granules, given: Any) -> int:
    """The length of an instant in coordinates: as given, or a second if that divides granules."""
    coordinate = bound.coordinate
    granule = math.gcd(*(n for first, every in granules.edges for n in (every, first)))
    granule = math.gcd(granule, bound.grid.offset)
    if given is None:
        usual = coordinate.per_second
        return usual if granule % usual == 0 else granule
    length = read_extent("instant", given)
    whole = repr(write_duration(granule)) if coordinate.is_timestamp else str(granule)
    instead = f"write instant={whole}, or a divisor of it"
    bound.check_length("instant", length, instead=instead)
    if granule % int(length.value):
        why = f"does not divide the granules of these levels, {whole}"
        raise refuse(f"instant={length}", why, instead)
    return int(length.value)


def check_fit(bound: Placed) -> None:
    """Refuse levels without instants to fill."""
    if bound.coordinate.counted:
        raise refuse(
            "fit over levels counted in rows",
            "has no instants to fill: rows are not evenly spaced",
            "leave filled out",
        )
    if bound.coordinate.calendar is not None:
        raise refuse(
            "fit over levels of a calendar",
            "has no instants of one distance to fill: its days and months differ",
            "leave zone out, and give the levels in hours or days of 24 hours",
        )
    if bound.coordinate.kind == "double":
        raise refuse(
            f"fit over time={bound.time!r}",
            "needs a timestamp or a whole number as time",
            f"cast {bound.time!r} to bigint in a finer unit",
        )


def series_fields(column: Any) -> Fields:
    """The field of a series: the partial ``f0`` of its values ``v0``, which are doubles."""
    fields = Fields()
    fields.add_field(f"cast({fields.add_argument(column)} as double)", Filled(), "fit")
    return fields


def rows_with_value(bound: Placed, column: Any) -> DataFrame:
    """The rows that count in a series."""
    given = column_of(bound.df, column)
    value = expr(bound.df, given) if isinstance(given, str) else given
    return bound.df.filter(value.isNotNull())


def _select_series(bound: Placed, column: Any) -> DataFrame:
    """The rows that are in a window, with their value as a double ``v0``."""
    fields = series_fields(column)
    return select_points(bound, fields).selectExpr(*bound.keys, "t", *fields.lifting)


def fit_batch(bound: Placed, cut: Pieces, column: Any, instant: int) -> DataFrame:
    """Fit the lines of a batch: instants to segments to granules to levels, as planned.

    Results: keys, ``query``, ``start``, ``r0`` (slope), ``r1`` (intercept), ``r2``, ``r3``
    (the slope's standard error).
    """
    keys = bound.keys
    at = f"{_instant_number(bound, 't', instant)} * {instant}L{_plus(bound.grid.offset)} as begin"
    rows = _select_series(bound, column).filter("v0 is not null").selectExpr(*keys, at, "v0")
    values = group_rows(rows, [*keys, "begin"], [("y", MEAN)])
    granule = slice_start(cut.granules, "begin"), slice_end(cut.granules, "piece")

    def slices(of: Cut, finer: DataFrame) -> DataFrame:
        series = granules_of_cut(of)
        edges = slice_start(series, "begin"), slice_end(series, "piece")
        moments = segments.coarsen(finer.withColumnRenamed("piece", "begin"), keys, *edges, instant)
        return moments.withColumnRenamed("begin", "piece")

    def ends(branch: Branch, own: DataFrame) -> DataFrame:
        series = own.withColumnRenamed("piece", "begin")
        return segments.roll_up_segments(
            series, keys, branch.cut, instant, query_as_column(bound, branch.number)
        )

    granules = segments.join_instants(values, keys, *granule, instant)
    windows = build_branches(bound, cut, granules.withColumnRenamed("begin", "piece"), slices, ends)
    after = segments.count_instants(f"known_at - {bound.shown_start}", instant)
    moments = windows.selectExpr(
        *keys, "query", "start", "n", f"{after} + (n - 1D) / 2D as x", "y",
        "n * (n * n - 1D) / 12D as xx", "xy", "yy",
    )  # fmt: skip
    return _lower_lines(bound, moments, instant)


def lift_series(bound: Placed, cut: Granules, column: Any, instant: int) -> DataFrame:
    """Lift a stream's series to granules: keys, ``piece``, ``ending``, the partial ``f0``.

    And ``first_row`` and ``last_row``, the times of the first and last row with a value.
    """
    keys = bound.keys
    rows = _select_series(bound, column)
    rows = rows.selectExpr(*keys, "t", f"{_instant_number(bound, 't', instant)} as number", "v0")
    rows = stream.place_in_pieces(bound, rows, cut, ["t", "number", "v0"])
    place = [*keys, "piece", "ending"]
    seen = "if(v0 is null, null, t)"
    values = group_rows(
        rows,
        [*place, "number"],
        [("y", MEAN), ("first_row", f"min({seen})"), ("last_row", f"max({seen})")],
    )
    lifted = Filled().lift("if(y is null, null, named_struct('i', number, 'y', y))")
    ends = [("first_row", "min(first_row)"), ("last_row", "max(last_row)")]
    # Rows without a value are left out only here: before, they have to move the watermark.
    return group_rows(values, place, [("f0", lifted), *ends]).filter("f0 is not null")


def fit_windows(bound: Placed, windows: DataFrame, instant: int) -> DataFrame:
    """Fit lines to a stream's windows (keys, ``query``, ``start``, ``f0``), filled to their edges.

    Results as :func:`fit_batch` gives them.
    """
    keys, end = bound.keys, f"({window_end_by(bound.grids, 'start')})"
    begin = f"{_instant_number(bound, bound.shown_start, instant)} as first_instant"
    stop = f"{_instant_number(bound, end, instant)} as end_instant"
    windows = windows.selectExpr(*keys, "query", "start", "f0", begin, stop)
    lead = f"if(f0.c is null, null, {moments_of_run('first_instant', 'f0.f', 'f0.c')})"
    whole = combined_moments(
        combined_moments(lead, "f0.m"), moments_of_run("f0.e", "end_instant", "f0.v")
    )
    moments = windows.selectExpr(*keys, "query", "start", "first_instant", f"{whole} as moments")
    x = "moments.mx + cast(moments.t0 - first_instant as double) as x"
    sums = ("n", "my as y", "sxx as xx", "sxy as xy", "syy as yy")
    moments = moments.selectExpr(*keys, "query", "start", x, *(f"moments.{one}" for one in sums))
    return _lower_lines(bound, moments, instant)


def _instant_number(bound: Placed, t: str, instant: int) -> str:
    """SQL: the number of the instant that a coordinate lies in."""
    moved = f"({t} - {bound.grid.offset}L)" if bound.grid.offset else t
    return f"(({moved} - pmod({moved}, {instant}L)) div {instant}L)"


def _plus(offset: int) -> str:
    return f" + {offset}L" if offset else ""


def _lower_lines(bound: Placed, windows: DataFrame, instant: int) -> DataFrame:
    """Lower moments to lines; ``x`` is the mean time in instants after the window's start."""
    rate = f"{bound.coordinate.per_second}D / {instant}D"
    slope, r2 = slope_and_r2("y", "xx", "xy", "yy")
    error = slope_error("y", "xx", "xy", "yy", "n")
    results = [
        f"if(xx > 0D, {slope} * {rate}, null) as r0",
        f"if(xx > 0D, y - {slope} * x, null) as r1",
        f"if(xx > 0D, {r2}, null) as r2",
        f"if(xx > 0D, {error} * {rate}, null) as r3",
    ]
    return windows.selectExpr(*bound.keys, "query", "start", *results)
