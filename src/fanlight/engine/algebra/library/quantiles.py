"""Medians and percentiles, exact and from sketches."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fanlight.engine.algebra import lowering, lowering_values
from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    LONG_DIGITS,
    Aggregate,
    Call,
    Partials,
    aggregate_of_field,
    base_type,
    digits_of,
)
from fanlight.engine.algebra.collections import Quantiles, Values
from fanlight.engine.algebra.ordering import AtShares
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.spec.arguments import read_exact
from fanlight.engine.spec.errors import refuse
from fanlight.types import ColumnOrName, Number


def _read_shares(name: str, given: Any) -> tuple[list[Fraction], bool]:
    """Read the shares that are asked for, and whether they came as a list."""
    many = isinstance(given, (list, tuple))
    wrong, example = f"{name}(percentage={given!r})", f"{name}(column, 0.95)"
    shares = [read_exact(wrong, share, example) for share in (given if many else [given])]
    if not shares or not all(0 <= share <= 1 for share in shares):
        why = "is not a share between 0 and 1" if shares else "lists no share"
        raise refuse(wrong, why, f"write for example {example}")
    return shares, many


def _write_shares(shares: list[Fraction]) -> str:
    return f"array({', '.join(str(float(share)) for share in shares)})"


def _one_or_array(results: list[str], *, many: bool) -> str:
    """SQL: the result, or an array of results. Null if there is no value."""
    return f"if(size({{p}}) > 0, array({', '.join(results)}), null)" if many else results[0]


def _make_percentile(name: str, shares: list[Fraction], *, many: bool) -> Aggregate:
    floats = [float(share) for share in shares]
    results = [lowering.quantile("{p}", share) for share in floats]
    wanted = ", ".join(f"{share!r}D" for share in floats)
    native = f"percentile({{x}}, {f'array({wanted})' if many else wanted})"
    lower, asked = _one_or_array(results, many=many), AtShares(tuple(floats))

    def recipe(types: tuple[str, ...]) -> Partials:
        # Spark before 4.3 weighs both neighbours, which differs where one is infinite.
        since = (4, 3) if base_type(types[0]) in ("double", "float") else (4, 1)
        return Partials(
            {"p": Values()}, lower, reads=asked, native=native, native_since=since,
            lower_values=lowering_values.quantiles(floats, many=many),
        )  # fmt: skip

    return Aggregate(name, recipe=recipe, algebra="holistic")


_DOUBLE_LIMIT = (
    2**53 - 1
)  # doubles hold all whole numbers up to it, and no other becomes one of them
_MEDIAN = _make_percentile("median", [Fraction(1, 2)], many=False)


@aggregate(sample("double", gives="double"), alike="any")
def median(column: ColumnOrName) -> Call:
    """The middle value; half-way between the two middle ones if their number is even. Exact.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.
    Between an infinite value and another it is what Spark makes of it since 4.3: the lower one, and
    its share of their distance.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(middle=agg.median("price")).first().middle
    4.0

    """
    return Call(_MEDIAN, (column,))


@aggregate(
    sample("double", gives="double", percentage=0.9),
    sample("bigint", gives="array<double>", percentage=[0.25, 0.5, 1.0]),
    after_share="1",
    ordered="percentile_cont",
)
def percentile(column: ColumnOrName, percentage: Number | list[Number]) -> Call:
    """The value below which a share of all values lie, between neighbours by distance. Exact.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    percentage
        The share, from 0 to 1: 0.95 for the 95th percentile. A list asks for several.

    Returns
    -------
    Call
        A double; for a list an array of doubles.

    Raises
    ------
    FanlightError
        If a share is not between 0 and 1.

    See Also
    --------
    approx_percentile : where keeping each distinct value is too much.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.
    Between an infinite value and another it is what Spark makes of it since 4.3: the lower one, and
    its share of their distance.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(q=agg.percentile("price", [0.25, 1.0])).first().q
    [3.25, 9.0]

    """
    shares, many = _read_shares("percentile", percentage)
    percentiles = _make_percentile("percentile", shares, many=many)
    return Call(percentiles, (column,), (_write_shares(shares) if many else percentage, 1))


@aggregate(
    sample("double", gives="double", percentage=0.9),
    sample("bigint", gives="array<double>", percentage=[0.0, 0.5]),
    ordered="percentile_disc",
)
def percentile_disc(column: ColumnOrName, percentage: Number | list[Number]) -> Call:
    """The least of all values that at least a given share of them does not exceed.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    percentage
        The share, from 0 to 1: 0.95 for the 95th percentile. A list asks for several. It is taken
        as it is written: 7 of 100 values are a share of 0.07.

    Returns
    -------
    Call
        A double, as of Spark's function; for a list an array of doubles.

    Raises
    ------
    FanlightError
        If a share is not between 0 and 1.

    See Also
    --------
    percentile : between two values, where the share lies there.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(q=agg.percentile_disc("price", 0.5)).first().q
    4.0

    """
    shares, many = _read_shares("percentile_disc", percentage)
    results = [f"cast({lowering.value_at_share('{p}', share)} as double)" for share in shares]
    discrete = aggregate_of_field(
        "percentile_disc", Values(), _one_or_array(results, many=many), algebra="holistic",
        lower_values=lowering_values.values_at_shares(shares, many=many),
    )  # fmt: skip
    return Call(discrete, (column,), (_write_shares(shares) if many else percentage,))


@aggregate(
    sample("double", gives="double", percentage=0.5, accuracy=100),  # a small sketch: 400 values
    sample("bigint", gives="array<bigint>", percentage=[0.0, 0.75], accuracy=100),
    sample("decimal(12,2)", gives="decimal(12,2)", percentage=0.25, accuracy=100),
    names=("percentile_approx",),
    after_share="10000",
)
def approx_percentile(
    column: ColumnOrName, percentage: Number | list[Number], accuracy: int = 10_000
) -> Call:
    """About the percentile: a value that occurs, from summaries of a bounded size.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    percentage
        The share, from 0 to 1: 0.95 for the 95th percentile. A list asks for several.
    accuracy
        The rank of the answer is right to about ``1/accuracy`` of all values; a positive number.
        The greater it is, the larger the summary. Exact for up to ``accuracy / 2`` values.

    Returns
    -------
    Call
        A value of the column's type; for a list an array of them.

    Raises
    ------
    FanlightError
        If a share is not between 0 and 1, or ``accuracy`` is not a positive whole number.

    See Also
    --------
    percentile : exact, and keeps each distinct value.

    Notes
    -----
    Nulls and NaN are left out; null if nothing else is there. Where rows are handled in order
    (windows counted in rows, windows that rows end) the percentile is exact. So it is for decimals
    of more than 18 digits, which no sketch holds: they are counted by value, as :func:`percentile`
    does; cast them to ``decimal(18, …)`` for a sketch.

    Which bound holds depends on the strategy (``explain()``). Slices have KLL sketches of Apache
    DataSketches, right to about ``1/accuracy``, and at best to 1/10,000, with a probability of
    99 %. Where Spark's own plan copies rows into windows, as it does with little data, its
    ``percentile_approx`` is right to ``1/accuracy`` always. So two strategies may give different
    values within these bounds.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(middle=agg.approx_percentile("price", 0.5)).first().middle
    4.0

    """
    if isinstance(accuracy, bool) or not isinstance(accuracy, int) or accuracy < 1:
        raise refuse(
            f"approx_percentile(accuracy={accuracy!r})",
            "is not a positive whole number",
            "write for example accuracy=10000",
        )
    shares, many = _read_shares("approx_percentile", percentage)
    size = sorted((8, math.ceil((2.296 * min(accuracy, 2**20)) ** (1 / 0.9021)), 65_535))[1]
    results = [lowering.value_at_share("{p}", share) for share in shares]
    counted = Partials(
        {"p": Values("if(isnan(cast({x} as double)), null, {x})")},
        _one_or_array(results, many=many),
    )

    def recipe(types: tuple[str, ...]) -> Partials:
        sketch = _sketch_for(types[0], size)
        if sketch is None:
            return counted
        native = _percentile_of_spark(types[0], sketch, shares, accuracy, many=many)
        return replace(_sketch_partials(sketch, shares, many=many), native=native)

    exactly = Aggregate("approx_percentile", algebra="holistic", recipe=lambda _: counted)
    about = Aggregate("approx_percentile", recipe=recipe)
    shown = _write_shares(shares) if many else percentage
    return Call(about, (column,), (shown, accuracy), exact=exactly)


def _sketch_for(kind: str, size: int) -> tuple[Quantiles, str] | None:
    """A sketch that keeps values of a type as they are, and ``q`` of it as a value again.

    Doubles hold whole numbers up to 2**53 only, so integers have a sketch of longs, and so have
    decimals, by their digits, where these fit into a long. Wider ones have none.
    """
    if base_type(kind) in INTEGRAL:
        return Quantiles("cast({x} as bigint)", size, "bigint"), "q"
    if base_type(kind) != "decimal":
        return Quantiles("cast({x} as double)", size), "q"
    precision, scale = digits_of(kind)
    if precision > LONG_DIGITS:
        return None
    up, down = f"1{'0' * scale}BD", f"cast('1E-{scale}' as decimal({scale + 1},{scale}))"
    whole_digits = f"cast({{x}} * {up} as bigint)"
    return Quantiles(whole_digits, size, "bigint"), f"cast(q as decimal({LONG_DIGITS},0)) * {down}"


def _percentile_of_spark(
    kind: str, sketch: tuple[Quantiles, str], shares: list[Fraction], accuracy: int, *, many: bool
) -> str:
    """SQL: the same by Spark's own summary of all values of a window; also a value that occurs.

    Spark takes values as doubles, so that a number beyond 2**53 may come back as another one. Such
    numbers are kept beside, and the answer is looked up among them.
    """
    monoid, value = sketch
    wanted = [f"{float(share)!r}D" for share in shares]
    most = min(accuracy, 2**31 - 1)
    if base_type(kind) in ("double", "float"):
        asked = f"array({', '.join(wanted)})" if many else wanted[0]
        return f"percentile_approx(if(isnan({{x}}), null, {{x}}), {asked}, {most})"
    number = monoid.value
    answers = f"percentile_approx({number}, array({', '.join(wanted)}), {most})"
    if not _fits_double(kind):
        answers = f"transform({answers}, (q, at) -> {_unrounded(number, wanted)})"
    each = f"transform({answers}, q -> cast({value} as {kind}))"
    return each if many else f"{each}[0]"


def _unrounded(number: str, wanted: list[str]) -> str:
    """SQL: the value that was rounded to the double ``q``, the answer to share number ``at``.

    Of several it is the one at the wanted place among all values.
    """
    exact = f"between {-_DOUBLE_LIMIT} and {_DOUBLE_LIMIT}"
    wide = f"collect_list(if({number} {exact}, null, {number}))"
    total, share = f"count({number})", f"array({', '.join(wanted)})[at]"

    def those(comparison: str) -> str:
        return f"filter({wide}, w -> cast(w as double) {comparison} cast(q as double))"

    lower = f"if(q > 0, {total} - size({those('>=')}), size({those('<')}))"
    place = f"greatest(ceil({share} * {total}) - {lower}, 1L)"
    index = f"cast(least({place}, size({those('=')})) as int) - 1"
    return f"if(q {exact}, q, get(sort_array({those('=')}), {index}))"


def _fits_double(kind: str) -> bool:
    """Whether a double holds every value of a type of whole numbers or decimals."""
    if base_type(kind) == "decimal":
        return digits_of(kind)[0] < len(str(_DOUBLE_LIMIT))
    return base_type(kind) != "bigint"


def _sketch_partials(
    sketch: tuple[Quantiles, str], shares: list[Fraction], *, many: bool
) -> Partials:
    monoid, value = sketch
    wanted = f"array({', '.join(f'{float(share)!r}D' for share in shares)})"
    values = f"kll_sketch_get_quantile_{monoid.kind}({{p}}, {wanted})"
    lower = f"transform({values}, q -> cast({value} as {{type}}))" + ("" if many else "[0]")
    guarded = f"if(coalesce(kll_sketch_get_n_{monoid.kind}({{p}}), 0L) > 0L, {lower}, null)"
    return Partials({"p": monoid}, guarded)
