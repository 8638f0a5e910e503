"""A series with a value at every instant, in a batch: stretches of it, combined in Spark SQL.

A stretch is a row with the moments of a part of the series:

- ``[a, b)`` are the coordinates that it covers;
- ``f`` is where its first value is (``a``, except where a key begins);
- ``c`` is the value before it, ``v`` the one at its end;
- ``y`` is the mean over the instants of ``[f, b)``, ``xy`` and ``yy`` are the sums of products and
  squares about the means;
- ``p`` is the start of the piece that it belongs to, ``e`` the number of its slice.

Instants are consecutive whole numbers, so the moments of time follow from their number n: their
mean is (n - 1) / 2 after the first one, and the sum of squares about it is n (n² - 1) / 12. So
large times are never made doubles, and of values only differences from a value nearby are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame

from fanlight.plan.cut import Cut
from fanlight.spark.cuts import slice_begin, slice_number, window_start
from fanlight.spark.sql import grouped, over

STRETCH = ("a", "b", "f", "c", "v", "y", "xy", "yy")


class Part(NamedTuple):
    """SQL of one of several stretches in a row: how many instants, mean, centred sums."""

    n: str
    y: str
    xy: str = "0D"
    yy: str = "0D"


def instants(length: str, instant: int) -> str:
    """SQL: how many instants a length in coordinates is, as a double."""
    return f"cast(({length}) div {instant}L as double)"


def joined(rows: DataFrame, kept: Sequence[str], parts: Sequence[Part], near: str) -> DataFrame:
    """Columns ``kept``, and ``n``, ``y``, ``xy``, ``yy`` of stretches that follow one another.

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


def of_instants(
    values: DataFrame, keys: Sequence[str], start: str, end: str, instant: int
) -> DataFrame:
    """Stretches from values (keys, ``a``, ``y``), as :func:`coarser` makes them.

    An instant is the shortest stretch. Rows have as few columns as possible until they are sorted.
    """
    order = over(keys, "p, a")
    rows = values.selectExpr(*keys, "a", "y", f"{start} as p")
    rows = rows.selectExpr("*", *_neighbours(order), f"lag(y) {order} as c")
    here = f"a + {instant}L as b", "a as f", "y as v", "y as y0", "0D as xy0", "0D as yy0"
    rows = rows.selectExpr(*keys, "p", "a", "ahead", "back", "c", *here)
    return _grown(rows, keys, end, instant)


def coarser(
    stretches: DataFrame, keys: Sequence[str], start: str, end: str, instant: int
) -> DataFrame:
    """One stretch a key and piece of time, which begins at ``start`` (SQL over ``a``).

    It ends at ``end`` (SQL over ``p``, the start). Between the stretches of a piece, and up to its
    end, the series has the latest value; before the first one, the value ``c``.
    """
    rows = stretches.selectExpr(*keys, *STRETCH, f"{start} as p")
    rows = rows.selectExpr("*", *_neighbours(over(keys, "p, a")))
    rows = rows.selectExpr(
        *keys, "p", "a", "ahead", "back", "c", "b", "f", "v", "y as y0", "xy as xy0", "yy as yy0"
    )
    return _grown(rows, keys, end, instant)


def _neighbours(order: str) -> tuple[str, str]:
    return f"lead(a) {order} as ahead", f"lag(a) {order} as back"


def _grown(rows: DataFrame, keys: Sequence[str], end: str, instant: int) -> DataFrame:
    """Stretches in order to one for each piece ``p``: first the means, then the centred sums."""
    rows = rows.selectExpr(
        "*",
        "if((back is null or back < p) and c is not null, p, f) as g",  # with what c fills
        f"least(ahead, {end}) as t",
    )
    parts = [
        Part(instants("f - g", instant), "c"),
        Part(instants("b - f", instant), "y0", "xy0", "yy0"),
        Part(instants("t - b", instant), "v"),
    ]
    rows = joined(rows, [*keys, "p", "a", "c", "v", "g"], parts, "y0")
    here = f"over (partition by {', '.join([*keys, 'p'])})"
    rows = rows.selectExpr(
        "*", f"min(g) {here} as f",
        f"if(min(y) {here} = max(y) {here}, min(y) {here}, "
        f"sum(n * y) {here} / sum(n) {here}) as m",
    )  # fmt: skip
    middle = f"({instants('g - f', instant)} + (n - 1D) / 2D)"
    whole = f"(({instants(f'{end} - f', instant)} - 1D) / 2D)"
    sums = {
        "f": "min(f)", "c": "min_by(c, a)", "v": "max_by(v, a)", "m": "min(m)",
        "n": "sum(n)", "e": "sum(n * (y - m))",
        "xy": f"sum(xy + n * ({middle} - {whole}) * (y - m))",
        "yy": "sum(yy + n * (y - m) * (y - m))",
    }  # fmt: skip
    return grouped(rows, [*keys, "p"], sums.items()).selectExpr(
        *keys, "p as a", f"{end} as b", "f", "c", "v", "m + e / n as y", "xy",
        "greatest(yy - e * (e / n), 0D) as yy",
    )  # fmt: skip


def contiguous(slices: DataFrame, keys: Sequence[str], cut: Cut) -> DataFrame:
    """Slices with their number ``e``, and slices without rows, which have the latest value.

    ``due`` says whether a window with a row in it ends with the slice: those of rows, and span - 1
    after each. If the next slice of rows is near enough to share a window with one of these, the
    slices between them are made too, so that no window lacks one.

    rows in      0                 6     (span 4)        0                    7
    slices       0  1  2  3  4  5  6                     0  1  2  3           7
    due          d  d  d  d        d                     d  d  d  d           d
    """
    rows = slices.selectExpr(*keys, *STRETCH, f"{slice_number(cut, 'a')} as i")
    rows = rows.selectExpr("*", f"lead(i) {over(keys, 'i')} as ahead")
    near = f"ahead - i <= {2 * cut.span - 2}L"
    rows = rows.selectExpr(
        "*", f"explode(sequence(i, if({near}, ahead - 1L, i + {cut.span - 1}L))) as e"
    )
    begin, end = slice_begin(cut, "e"), slice_begin(cut, "(e + 1L)")
    texts = [f"if(e = i, {own}, {empty}) as {name}" for name, own, empty in (
        ("a", "a", begin), ("b", "b", end), ("f", "f", begin), ("c", "c", "v"), ("v", "v", "v"),
        ("y", "y", "v"), ("xy", "xy", "0D"), ("yy", "yy", "0D"),
    )]  # fmt: skip
    return rows.selectExpr(*keys, "e", f"e - i < {cut.span}L as due", *texts)


def windows(slices: DataFrame, keys: Sequence[str], cut: Cut, instant: int) -> DataFrame:
    """Windows (keys, ``start``, ``f``, ``n``, ``y``, ``xy``, ``yy``) from slices.

    As in :func:`fanlight.spark.rollup.two_stacks`, a window is a suffix of one run of slices and a
    prefix of the next. Both are running sums of differences from the value at the edge of the run,
    which is in every prefix (suffix), so that little cancels.
    """
    if cut.span == 1:
        n = f"{instants('b - f', instant)} as n"
        return slices.selectExpr(*keys, "a as start", "f", n, "y", "xy", "yy")
    rows = contiguous(slices, keys, cut)
    edge, begin = f"(e - pmod(e, {cut.span}L))", slice_begin(cut, "run")
    rows = rows.selectExpr("*", f"{edge} as run", f"{instants('b - f', instant)} as n")
    rows = rows.selectExpr(
        "*", "-run as later",  # a sort by it reverses the rows: see two_stacks
        f"{instants(f'f - {begin}', instant)} + (n - 1D) / 2D as x",
    )  # fmt: skip
    later, earlier = over([*keys, "later"], "e desc"), over([*keys, "run"], "e")
    for side, order in (("s", later), ("p", earlier)):
        before = [name for name in rows.columns if name != "near"]
        rows = rows.selectExpr(*before, f"first(y) {order} as near")
        rows = rows.selectExpr(
            *before, f"near as {side}0", f"sum(n) {order} as {side}n",
            f"sum(n * (y - near)) {order} as {side}y",
            f"sum(xy + n * x * (y - near)) {order} as {side}xy",
            f"sum(yy + n * (y - near) * (y - near)) {order} as {side}yy",
            *([f"min(f) {order} as pf"] if side == "p" else []),
        )  # fmt: skip
    suffix = ["run", "a", "f", "c", "s0", "sn", "sy", "sxy", "syy"]
    prefix = ["due", "pf", "p0", "pn", "py", "pxy", "pyy"]
    order = over(keys, "e")
    so_far = over(keys, "e", "range between unbounded preceding and current row")
    rows = rows.selectExpr(
        *keys, "e", "run", "b", *prefix,
        *(f"lead({name}) {order} as next_{name}" for name in suffix),
        *(f"first({name}) {so_far} as first_{name}" for name in suffix),
    )  # fmt: skip
    back = over(keys, "e", f"range between unbounded preceding and {cut.span}L preceding")
    rows = rows.selectExpr(
        *keys, "e", "run", "b", *prefix, *(f"first_{name}" for name in suffix),
        *(f"last(next_{name}) {back} as next_{name}" for name in suffix),
        f"last(e) {back} as back",
    )  # fmt: skip
    start = window_start(cut, "e")
    rows = rows.filter(f"due and pmod(e - {cut.span - 1}L, {cut.step}L) = 0")
    rows = rows.selectExpr(
        *keys, f"{start} as start", "run", *prefix,
        *(f"if(back is null, first_{name}, next_{name}) as h{name}" for name in suffix),
    )  # fmt: skip
    rows = rows.selectExpr(*keys, "start", "hf", "hc", *_centred(cut, instant))
    rows = rows.selectExpr("*", "if(hc is null, hf, start) as f")
    parts = [
        Part(instants("hf - f", instant), "hc"),
        Part("sn", "sm", "sxy", "syy"),
        Part("pn", "pm", "pxy", "pyy"),
    ]
    return joined(rows, [*keys, "start", "f"], parts, "pm")


def _centred(cut: Cut, instant: int) -> list[str]:
    """SQL: the suffix (none, if the window is within one run) and the prefix, centred."""
    suffix = _about_means(cut, instant, "hs", "hf", "hrun")
    prefix = _about_means(cut, instant, "p", "pf", "run")
    names = [f"{side}{part}" for side in "sp" for part in ("m", "xy", "yy")]
    texts = [f"{text} as {name}" for text, name in zip(suffix + prefix, names, strict=True)]
    return ["if(hrun < run, hsn, 0D) as sn", "pn", *texts]


def _about_means(cut: Cut, instant: int, of: str, first: str, run: str) -> list[str]:
    """SQL: mean and centred sums from those about a value and the start of a run."""
    begun = instants(f"{first} - {slice_begin(cut, run)}", instant)
    middle = f"({begun} + ({of}n - 1D) / 2D)"
    return [
        f"{of}0 + {of}y / {of}n",
        f"{of}xy - {middle} * {of}y",
        f"greatest({of}yy - {of}y * ({of}y / {of}n), 0D)",
    ]
