"""Trend lines: least squares over a series with a value at every instant (IV.B of the paper)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import DataFrame

from fanlight.engine.algebra.filling import Filled, combined_moments, moments_of_run
from fanlight.engine.algebra.lowering import slope_and_r2, slope_error
from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.plan.granules import Branch, Cut, Granules, Pieces, granules_of_cut
from fanlight.engine.plan.request import FieldFacts
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.binding.source import column_of, schema_of
from fanlight.engine.spark.coordinates import exact
from fanlight.engine.spark.cuts import (
    slice_begin,
    slice_end,
    slice_number,
    slice_start,
    start_of_run,
    window_end_by,
)
from fanlight.engine.spark.equality import has_collation
from fanlight.engine.spark.fields import Fields
from fanlight.engine.spark.lift import select_points
from fanlight.engine.spark.placed import stream
from fanlight.engine.spark.rollup import add_first_rows, build_branches, query_as_column
from fanlight.engine.spark.sql import expr, expr_as, group_rows, is_taken, over_clause
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
        moments = coarsen(finer.withColumnRenamed("piece", "begin"), keys, *edges, instant)
        return moments.withColumnRenamed("begin", "piece")

    def ends(branch: Branch, own: DataFrame) -> DataFrame:
        series = own.withColumnRenamed("piece", "begin")
        return roll_up_segments(
            series, keys, branch.cut, instant, query_as_column(bound, branch.number)
        )

    granules = join_instants(values, keys, *granule, instant)
    windows = build_branches(bound, cut, granules.withColumnRenamed("begin", "piece"), slices, ends)
    after = count_instants(f"known_at - {bound.shown_start}", instant)
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


SEGMENT = ("begin", "stop", "known_at", "carried", "latest", "y", "xy", "yy")
SUMS = ("near", "n", "y", "xy", "yy")  # of a prefix or suffix of a run, about a value near them


class Part(NamedTuple):
    """SQL for one of several consecutive segments: number of instants, mean, centred sums."""

    n: str
    y: str
    xy: str = "0D"
    yy: str = "0D"


def count_instants(length: str, instant: int) -> str:
    """SQL: the number of instants in a length in coordinates, as a double."""
    return f"cast(({length}) div {instant}L as double)"


def combine_segments(
    rows: DataFrame, kept: Sequence[str], parts: Sequence[Part], near: str
) -> DataFrame:
    """Combine consecutive segments: columns ``kept``, and ``n``, ``y``, ``xy``, ``yy``.

    Empty ones have n = 0. ``near`` is one of their values: if all are equal to it, the variance is
    exactly 0.
    """
    whole = " + ".join(part.n for part in parts)
    away = " + ".join(f"if({p.n} > 0D, {p.n} * ({p.y} - {near}), 0D)" for p in parts)
    names = sorted(set(rows.columns) - {"n", "y"})
    rows = rows.selectExpr(*names, f"{whole} as n", f"{near} + ({away}) / ({whole}) as y")
    xy, yy, before = [], [], "0D"
    for part in parts:
        dx, dy = f"({before} + (({part.n} - 1D) - (n - 1D)) / 2D)", f"({part.y} - y)"
        xy.append(f"if({part.n} > 0D, {part.xy} + {part.n} * {dx} * {dy}, 0D)")
        yy.append(f"if({part.n} > 0D, {part.yy} + {part.n} * {dy} * {dy}, 0D)")
        before = f"({before} + {part.n})"
    return rows.selectExpr(*kept, "n", "y", f"{' + '.join(xy)} as xy", f"{' + '.join(yy)} as yy")


def join_instants(
    values: DataFrame, keys: Sequence[str], start: str, end: str, instant: int
) -> DataFrame:
    """Make segments from values (keys, ``begin``, ``y``), in the form of :func:`coarsen`.

    An instant is the shortest segment. Rows have as few columns as possible until they are sorted.
    """
    order = over_clause(keys, "piece, begin")
    rows = values.selectExpr(*keys, "begin", "y", f"{start} as piece")
    rows = rows.selectExpr("*", *_neighbours(order), f"lag(y) {order} as carried")
    here = f"begin + {instant}L as stop", "begin as known_at", "y as latest"
    moments = "y as y0", "0D as xy0", "0D as yy0"
    rows = rows.selectExpr(*keys, "piece", "begin", "ahead", "back", "carried", *here, *moments)
    return _combine_in_order(rows, keys, end, instant)


def coarsen(
    segments: DataFrame, keys: Sequence[str], start: str, end: str, instant: int
) -> DataFrame:
    """Combine segments to one a key and piece, which begins at ``start`` (SQL over ``begin``).

    It ends at ``end`` (SQL over ``piece``, its start). Between the segments of a piece, and up to
    its end, the series has the latest value; before the first one, the value ``carried``.
    """
    rows = segments.selectExpr(*keys, *SEGMENT, f"{start} as piece")
    rows = rows.selectExpr("*", *_neighbours(over_clause(keys, "piece, begin")))
    rows = rows.selectExpr(
        *keys, "piece", "begin", "ahead", "back", "carried", "stop", "known_at", "latest",
        "y as y0", "xy as xy0", "yy as yy0",
    )  # fmt: skip
    return _combine_in_order(rows, keys, end, instant)


def _neighbours(order: str) -> tuple[str, str]:
    return f"lead(begin) {order} as ahead", f"lag(begin) {order} as back"


def _combine_in_order(rows: DataFrame, keys: Sequence[str], end: str, instant: int) -> DataFrame:
    """Combine ordered segments to one for each ``piece``: means first, then centred sums."""
    # Where the segment's values begin, those filled from the carried value included, and end.
    since = "if((back is null or back < piece) and carried is not null, piece, known_at)"
    rows = rows.selectExpr("*", f"{since} as since", f"least(ahead, {end}) as until")
    parts = [
        Part(count_instants("known_at - since", instant), "carried"),
        Part(count_instants("stop - known_at", instant), "y0", "xy0", "yy0"),
        Part(count_instants("until - stop", instant), "latest"),
    ]
    kept = [*keys, "piece", "begin", "carried", "latest", "since"]
    rows = combine_segments(rows, kept, parts, "y0")
    here = f"over (partition by {', '.join([*keys, 'piece'])})"
    rows = rows.selectExpr(
        "*", f"min(since) {here} as known_at",
        f"if(min(y) {here} = max(y) {here}, min(y) {here}, "
        f"sum(n * y) {here} / sum(n) {here}) as about",
    )  # fmt: skip
    middle = f"({count_instants('since - known_at', instant)} + (n - 1D) / 2D)"
    whole = f"(({count_instants(f'{end} - known_at', instant)} - 1D) / 2D)"
    sums = {
        "known_at": "min(known_at)", "carried": "min_by(carried, begin)",
        "latest": "max_by(latest, begin)", "about": "min(about)",
        "n": "sum(n)", "rest": "sum(n * (y - about))",
        "xy": f"sum(xy + n * ({middle} - {whole}) * (y - about))",
        "yy": "sum(yy + n * (y - about) * (y - about))",
    }  # fmt: skip
    return group_rows(rows, [*keys, "piece"], sums.items()).selectExpr(
        *keys, "piece as begin", f"{end} as stop", "known_at", "carried", "latest",
        "about + rest / n as y", "xy", "greatest(yy - rest * (rest / n), 0D) as yy",
    )  # fmt: skip


def fill_between(slices: DataFrame, keys: Sequence[str], cut: Cut) -> DataFrame:
    """Number slices, and add slices without rows, which have the latest value.

    ``due`` says whether a window with a row in it ends with the slice: those of rows, and span - 1
    after each. If the next slice of rows is near enough to share a window with one of these, the
    slices between them are made too, so that no window lacks one.

    rows in      0                 6     (span 4)        0                    7
    slices       0  1  2  3  4  5  6                     0  1  2  3           7
    due          d  d  d  d        d                     d  d  d  d           d
    """
    rows = slices.selectExpr(*keys, *SEGMENT, f"{slice_number(cut, 'begin')} as own")
    rows = rows.selectExpr("*", f"lead(own) {over_clause(keys, 'own')} as ahead")
    near = f"ahead - own <= {2 * cut.span - 2}L"
    upto = f"if({near}, ahead - 1L, own + {cut.span - 1}L)"
    rows = rows.selectExpr("*", f"explode(sequence(own, {upto})) as number")
    begin, stop = slice_begin(cut, "number"), slice_begin(cut, "(number + 1L)")
    empty = {"begin": begin, "stop": stop, "known_at": begin, "xy": "0D", "yy": "0D"}
    texts = [f"if(number = own, {n}, {empty.get(n, 'latest')}) as {n}" for n in SEGMENT]
    return rows.selectExpr(*keys, "number", f"number - own < {cut.span}L as due", *texts)


def roll_up_segments(
    slices: DataFrame, keys: Sequence[str], cut: Cut, instant: int, more: Sequence[str]
) -> DataFrame:
    """Windows (keys, ``more``, ``start``, ``known_at``, ``n``, ``y``, ``xy``, ``yy``) from slices.

    A window is a suffix of one run of slices and a prefix of the next, as in
    :func:`fanlight.engine.spark.rollup.roll_up_by_two_stacks`. Both are running sums of differences
    from the value at the edge of the run (``near``), which is in every prefix (suffix), so that
    little cancels.
    """
    if cut.span == 1:
        n = f"{count_instants('stop - known_at', instant)} as n"
        return slices.selectExpr(*keys, *more, "begin as start", "known_at", n, "y", "xy", "yy")
    rows = fill_between(slices, keys, cut)
    edge, begin = f"(number - pmod(number, {cut.span}L))", slice_begin(cut, "run")
    rows = rows.selectExpr(
        "*", f"{edge} as run", f"{count_instants('stop - known_at', instant)} as n"
    )
    rows = rows.selectExpr(
        "*", "-run as later",  # a sort by it reverses the rows: see two_stacks
        f"{count_instants(f'known_at - {begin}', instant)} + (n - 1D) / 2D as x",
    )  # fmt: skip
    later, earlier = (
        over_clause([*keys, "later"], "number desc"),
        over_clause([*keys, "run"], "number"),
    )
    for side, order in (("suffix", later), ("prefix", earlier)):
        before = [name for name in rows.columns if name != "near"]
        rows = rows.selectExpr(*before, f"first(y) {order} as near")
        rows = rows.selectExpr(
            *before, f"near as {side}_near", f"sum(n) {order} as {side}_n",
            f"sum(n * (y - near)) {order} as {side}_y",
            f"sum(xy + n * x * (y - near)) {order} as {side}_xy",
            f"sum(yy + n * (y - near) * (y - near)) {order} as {side}_yy",
            *([f"min(known_at) {order} as prefix_known_at"] if side == "prefix" else []),
        )  # fmt: skip
    suffix = ["run", "known_at", "carried", *(f"suffix_{name}" for name in SUMS)]
    prefix = ["due", "prefix_known_at", *(f"prefix_{name}" for name in SUMS)]
    rows = add_first_rows(rows, keys, "number", cut.span, suffix, prefix)
    rows = rows.filter(f"due and pmod(number - {cut.span - 1}L, {cut.step}L) = 0")
    rows = rows.selectExpr("*", f"{start_of_run(cut, 'number')} as start")
    rows = rows.selectExpr(
        *keys, "start", "first_known_at", "first_carried", *_centre(cut, instant)
    )
    rows = rows.selectExpr("*", "if(first_carried is null, first_known_at, start) as known_at")
    parts = [
        Part(count_instants("first_known_at - known_at", instant), "first_carried"),
        Part("suffix_n", "suffix_mean", "suffix_xy", "suffix_yy"),
        Part("prefix_n", "prefix_mean", "prefix_xy", "prefix_yy"),
    ]
    return combine_segments(rows, [*keys, *more, "start", "known_at"], parts, "prefix_mean")


def _centre(cut: Cut, instant: int) -> list[str]:
    """SQL: the suffix (none if the window is within one run) and the prefix, centred."""
    suffix = _centre_about_means(cut, instant, "first_suffix", "first_known_at", "first_run")
    prefix = _centre_about_means(cut, instant, "prefix", "prefix_known_at", "run")
    names = [f"{side}_{part}" for side in ("suffix", "prefix") for part in ("mean", "xy", "yy")]
    texts = [f"{text} as {name}" for text, name in zip(suffix + prefix, names, strict=True)]
    return ["if(first_run < run, first_suffix_n, 0D) as suffix_n", "prefix_n", *texts]


def _centre_about_means(cut: Cut, instant: int, of: str, first: str, run: str) -> list[str]:
    """SQL: the mean and centred sums, from sums about a value and the start of a run."""
    begun = count_instants(f"{first} - {slice_begin(cut, run)}", instant)
    middle = f"({begun} + ({of}_n - 1D) / 2D)"
    return [
        f"{of}_near + {of}_y / {of}_n",
        f"{of}_xy - {middle} * {of}_y",
        f"greatest({of}_yy - {of}_y * ({of}_y / {of}_n), 0D)",
    ]
