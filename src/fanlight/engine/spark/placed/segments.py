"""A series with a value at every instant, in a batch: segments of it, combined in Spark SQL.

A segment is a row with the moments of a part of the series:

- ``[begin, stop)`` are the coordinates that it covers;
- ``known_at`` is where its first value is (``begin``, except where a key begins);
- ``carried`` is the value before it, ``latest`` the one at its end;
- ``y`` is the mean over the instants of ``[known_at, stop)``, ``xy`` and ``yy`` are the sums of
  products and squares about the means, as in the formulas of least squares; ``n`` is how many
  instants, ``x`` their mean time;
- ``piece`` is the start of the piece that it belongs to, ``number`` that of its slice.

Instants are consecutive whole numbers, so the moments of time follow from their number n: their
mean is (n - 1) / 2 after the first one, and the sum of squares about it is n (n² - 1) / 12. So
large times are never made doubles, and of values only differences from a value nearby are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame

from fanlight.engine.plan.cut import Cut
from fanlight.engine.spark.cuts import slice_begin, slice_number
from fanlight.engine.spark.grids import start_of_run
from fanlight.engine.spark.rollup import add_first_rows
from fanlight.engine.spark.sql import group_rows, over_clause

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
