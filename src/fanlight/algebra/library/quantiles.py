"""Medians and percentiles, exact and from sketches."""

from __future__ import annotations

import math
from typing import Any

from fanlight.algebra import lowering
from fanlight.algebra.aggregate import Aggregate, Call, Partials, of_one
from fanlight.algebra.collections import Quantiles, Values
from fanlight.algebra.registry import aggregate, sample
from fanlight.spec.errors import refuse


def _shares(name: str, given: Any) -> tuple[list[float], bool]:
    many = isinstance(given, (list, tuple))
    shares = list(given) if many else [given]
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            raise refuse(
                f"{name}(percentage={given!r})",
                "is not a share between 0 and 1",
                f"write for example {name}(column, 0.95)",
            )
    return [float(share) for share in shares], many


def _quantile(name: str, shares: list[float], *, many: bool) -> Aggregate:
    results = [lowering.quantile("{p}", share) for share in shares]
    return of_one(name, Values(), _listed(results, many=many), algebra="holistic")


def _listed(results: list[str], *, many: bool) -> str:
    return f"if(size({{p}}) > 0, array({', '.join(results)}), null)" if many else results[0]


@aggregate(sample("double", gives="double"))
def median(column: Any) -> Call:
    """The middle value; half-way between the two middle ones if their number is even. Exact.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double.

    Raises
    ------
    FanlightError
        By ``agg`` of the windows: if there is no such column, or it is not a number.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(middle=agg.median("price")).first().middle
    4.0

    """
    return Call(_quantile("median", [0.5], many=False), (column,))


@aggregate(
    sample("double", gives="double", percentage=0.9),
    sample("bigint", gives="array<double>", percentage=[0.25, 0.5, 1.0]),
)
def percentile(column: Any, percentage: float | list[float]) -> Call:
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
        If a share is not between 0 and 1. By ``agg`` of the windows: if there is no such column,
        or it is not a number.

    See Also
    --------
    approx_percentile : where keeping each distinct value is too much.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, 9.0D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(q=agg.percentile("price", [0.25, 1.0])).first().q
    [3.25, 9.0]

    """
    shares, many = _shares("percentile", percentage)
    exact = _quantile("percentile", shares, many=many)
    shown = f"array({', '.join(map(str, shares))})" if many else percentage
    return Call(exact, (column,), (shown, 1))


@aggregate(
    sample("double", gives="double", percentage=0.5),
    sample("bigint", gives="array<bigint>", percentage=[0.0, 0.75], accuracy=1000),
)
def approx_percentile(column: Any, percentage: float | list[float], accuracy: int = 10_000) -> Call:
    """About the percentile: a value that occurs, from KLL sketches of a bounded size.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    percentage
        The share, from 0 to 1: 0.95 for the 95th percentile. A list asks for several.
    accuracy
        The rank of the answer is right to about ``1/accuracy`` of all values; a positive number.
        The greater it is, the larger the sketch. Exact up to as many values as a sketch keeps.

    Returns
    -------
    Call
        A value of the column's type; for a list an array of them.

    Raises
    ------
    FanlightError
        If a share is not between 0 and 1, or ``accuracy`` is not a positive whole number. By
        ``agg`` of the windows: if there is no such column, or it is not a number.

    See Also
    --------
    percentile : exact, and keeps each distinct value.

    Notes
    -----
    Nulls and NaN are left out; null if nothing else is there. Where rows are handled in order
    (windows counted in rows, windows at every row) the percentile is exact.

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
    shares, many = _shares("approx_percentile", percentage)
    size = sorted((8, math.ceil((2.296 * accuracy) ** (1 / 0.9021)), 65_535))[1]

    def recipe(types: tuple[str, ...]) -> Partials:
        wanted = f"array({', '.join(f'{share!r}D' for share in shares)})"
        lower = f"kll_sketch_get_quantile_double({{p}}, {wanted})"
        lower = f"transform({lower}, q -> cast(q as {types[0]}))" + ("" if many else "[0]")
        guarded = f"if(coalesce(kll_sketch_get_n_double({{p}}), 0L) > 0L, {lower}, null)"
        return Partials({"p": Quantiles(size=size)}, guarded)

    ranked = _listed([lowering.ranked("{p}", share) for share in shares], many=many)
    kept = Values("if(isnan(cast({x} as double)), null, {x})")
    shown = f"array({', '.join(map(str, shares))})" if many else percentage
    exact = of_one("approx_percentile", kept, ranked, algebra="holistic")
    sketched = Aggregate("approx_percentile", recipe=recipe)
    return Call(sketched, (column,), (shown, accuracy), exact=exact)
