"""Aggregates that keep a constant number of values: a few lines each, over the monoids."""

from __future__ import annotations

from typing import Any

from fanlight.algebra.aggregate import (
    INTEGRAL,
    Aggregate,
    Call,
    Partials,
    base_type,
    mean_type,
    of_one,
)
from fanlight.algebra.collections import Extremes
from fanlight.algebra.monoids import Comoments, Count, ExtremeCount, Max, Min, Moments, Sum
from fanlight.spec.errors import refuse

_FIRST = "named_struct('o', {order}, 'v', {x})"


_COUNT = of_one("count", Count(), "coalesce({p}, 0L)", accepts="any", algebra="distributive")
_ROWS = of_one("count", Count("1"), "coalesce({p}, 0L)", arity=0, algebra="distributive")
_MIN = of_one("min", Min(), accepts="orderable", algebra="distributive", accumulation="selective")
_MAX = of_one("max", Max(), accepts="orderable", algebra="distributive", accumulation="selective")


def _avg_recipe(types: tuple[str, ...]) -> Partials:
    (kind,) = types
    if base_type(kind) == "decimal":
        mean_of = f"cast({{s}} / cast({{n}} as decimal(20,0)) as {mean_type(kind)})"
        return Partials({"s": Sum(), "n": Count()}, mean_of)
    # Sums of 32-bit integers are exact in 64 bits; Spark, too, adds longs and floats as doubles.
    exact = base_type(kind) in INTEGRAL and base_type(kind) != "bigint"
    total = Sum("{x}") if exact else Sum("cast({x} as double)")
    return Partials({"s": total, "n": Count()}, "cast({s} as double) / {n}")


_SUM = of_one("sum", Sum(), algebra="distributive")
_AVG = Aggregate("avg", recipe=_avg_recipe)


def count(column: Any = "*") -> Call:
    """Count rows (``"*"``, the default) or the rows where a column is not null.

    Bounded, differential, cumulative. Output: bigint, named ``count(1)`` or ``count(column)``.

    >>> from fanlight import agg
    >>> agg.count().label, agg.count("price").label
    ('count(1)', 'count(price)')
    """
    if isinstance(column, (str, int)) and column in ("*", 1):
        return Call(_ROWS, (), ("1",))
    return Call(_COUNT, (column,))


def sum(column: Any) -> Call:
    """Sum of a number: bigint for integers, double for floats, a wider decimal for decimals.

    Bounded, differential (taken back only where exact: integers, decimals), cumulative. Null if
    no value is there.

    >>> from fanlight import agg
    >>> agg.sum("price").alias("total").label
    'total'
    """
    return Call(_SUM, (column,))


def avg(column: Any) -> Call:
    """Mean of a number, a double (a decimal for decimals).

    Bounded, differential, cumulative.

    >>> from fanlight import agg
    >>> agg.avg("price").label
    'avg(price)'
    """
    return Call(_AVG, (column,))


def mean(column: Any) -> Call:
    """The same as :func:`avg`, and named as it.

    >>> from fanlight import agg
    >>> agg.mean("price").label
    'avg(price)'
    """
    return avg(column)


def min(column: Any) -> Call:
    """Least value, in Spark's order (NaN is greatest); bounded, not differential, selective.

    >>> from fanlight import agg
    >>> agg.min("price").aggregate.differential is None
    True
    """
    return Call(_MIN, (column,))


def max(column: Any) -> Call:
    """Greatest value, in Spark's order (NaN is greatest); bounded, not differential, selective.

    >>> from fanlight import agg
    >>> agg.max("price").label
    'max(price)'
    """
    return Call(_MAX, (column,))


_MOMENTS = Moments("cast({x} as double)")


def _spread(name: str, lower: str) -> Aggregate:
    return of_one(name, _MOMENTS, lower)


_SAMPLE = "if({p}.n > 1, {p}.m2 / ({p}.n - 1), null)"
_VAR_SAMP = _spread("var_samp", _SAMPLE)
_VAR_POP = _spread("var_pop", "{p}.m2 / {p}.n")
_STDDEV_SAMP = _spread("stddev_samp", f"sqrt({_SAMPLE})")
_STDDEV_POP = _spread("stddev_pop", "sqrt({p}.m2 / {p}.n)")


def var_samp(column: Any) -> Call:
    """Unbiased variance; null below two values. Bounded, cumulative; centred, so nothing cancels.

    >>> from fanlight import agg
    >>> agg.var_samp("price").label
    'var_samp(price)'
    """
    return Call(_VAR_SAMP, (column,))


def var_pop(column: Any) -> Call:
    """Population variance. Bounded, cumulative; centred, so nothing cancels.

    >>> from fanlight import agg
    >>> agg.var_pop("price").aggregate.bounded
    True
    """
    return Call(_VAR_POP, (column,))


def stddev_samp(column: Any) -> Call:
    """Root of :func:`var_samp`.

    >>> from fanlight import agg
    >>> agg.stddev_samp("price").label
    'stddev_samp(price)'
    """
    return Call(_STDDEV_SAMP, (column,))


def stddev_pop(column: Any) -> Call:
    """Root of :func:`var_pop`.

    >>> from fanlight import agg
    >>> agg.stddev_pop("price").label
    'stddev_pop(price)'
    """
    return Call(_STDDEV_POP, (column,))


def _by(name: str, monoid: type[Min | Max]) -> Aggregate:
    value = "if({y} is null, null, named_struct('y', {y}, 'o', {order}, 'v', {x}))"
    return of_one(
        name, monoid(value), "{p}.v", accepts="orderable", arity=2, accumulation="selective"
    )


_MIN_BY = _by("min_by", Min)
_MAX_BY = _by("max_by", Max)


def min_by(column: Any, by: Any) -> Call:
    """The value of ``column`` where ``by`` is least; the earliest row among equals.

    Bounded, selective. Rows where ``by`` is null do not count. (The papers' argmin.)

    >>> from fanlight import agg
    >>> agg.min_by("bidder", "price").label
    'min_by(bidder, price)'
    """
    return Call(_MIN_BY, (column, by))


def max_by(column: Any, by: Any) -> Call:
    """The value of ``column`` where ``by`` is greatest; the latest row among equals.

    Bounded, selective. Rows where ``by`` is null do not count. (The papers' argmax.)

    >>> from fanlight import agg
    >>> agg.max_by("bidder", "price").label
    'max_by(bidder, price)'
    """
    return Call(_MAX_BY, (column, by))


def _end(name: str, monoid: Any) -> Aggregate:
    return of_one(name, monoid, "{p}.v", accepts="orderable", accumulation="selective")


_NOT_NULL = f"if({{x}} is null, null, {_FIRST})"
_ENDS = {
    ("first", False): _end("first", Min(_FIRST)),
    ("first", True): _end("first", Min(_NOT_NULL)),
    ("last", False): _end("last", Max(_FIRST)),
    ("last", True): _end("last", Max(_NOT_NULL)),
}


def first(column: Any, *, ignorenulls: bool = False) -> Call:
    """The value of the earliest row (in time, then ``tiebreak``, then value). Bounded, selective.

    >>> from fanlight import agg
    >>> agg.first("price").label
    'first(price)'
    """
    return Call(_ENDS["first", ignorenulls], (column,))


def last(column: Any, *, ignorenulls: bool = False) -> Call:
    """The value of the latest row (in time, then ``tiebreak``, then value). Bounded, selective.

    >>> from fanlight import agg
    >>> agg.last("price", ignorenulls=True).label
    'last(price)'
    """
    return Call(_ENDS["last", ignorenulls], (column,))


def _extreme(name: str, largest: bool) -> Aggregate:
    monoid = ExtremeCount(largest=largest)
    return of_one(name, monoid, "coalesce({p}.n, 0L)", accepts="groupable")


_MAX_COUNT = _extreme("max_count", largest=True)
_MIN_COUNT = _extreme("min_count", largest=False)


def max_count(column: Any) -> Call:
    """How many rows have the greatest value. Bounded, cumulative (Suzanne et al., Table 1).

    >>> from fanlight import agg
    >>> agg.max_count("price").label
    'max_count(price)'
    """
    return Call(_MAX_COUNT, (column,))


def min_count(column: Any) -> Call:
    """How many rows have the least value. Bounded, cumulative (Suzanne et al., Table 1).

    >>> from fanlight import agg
    >>> agg.min_count("price").label
    'min_count(price)'
    """
    return Call(_MIN_COUNT, (column,))


def _position(name: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 100_000:
        raise refuse(
            f"{name}(n={n!r})",
            "is not a position from 1 to 100000",
            f"write for example {name}(column, 3)",
        )
    return n


def nth_smallest(column: Any, n: int) -> Call:
    """The n-th least value (1 is the least), equal values counted; null if there are fewer.

    Holistic in the papers' classing (Suzanne et al., Table 1); for a fixed n a partial keeps n
    values, so it is bounded here. Selective.

    >>> from fanlight import agg
    >>> agg.nth_smallest("price", 3).label
    'nth_smallest(price, 3)'
    """
    aggregate = of_one(
        "nth_smallest",
        Extremes(count=_position("nth_smallest", n)),
        f"get({{p}}, {n - 1})",
        accepts="orderable",
        algebra="holistic",
        accumulation="selective",
    )
    return Call(aggregate, (column,), (n,))


def nth_youngest(column: Any, n: int) -> Call:
    """The n-th latest value (1 is the latest), nulls left out; null if there are fewer.

    Holistic in the papers' classing (Suzanne et al., Table 1); for a fixed n a partial keeps n
    values, so it is bounded here. Selective.

    >>> from fanlight import agg
    >>> agg.nth_youngest("price", 2).label
    'nth_youngest(price, 2)'
    """
    aggregate = of_one(
        "nth_youngest",
        Extremes(_NOT_NULL, count=_position("nth_youngest", n), largest=True),
        f"get({{p}}, {n - 1}).v",
        accepts="orderable",
        algebra="holistic",
        accumulation="selective",
    )
    return Call(aggregate, (column,), (n,))


def linear_fit(column: Any) -> Call:
    """Least-squares line of a number over time: struct<slope, intercept, r2>.

    ``slope`` is per second (per unit of a numeric time), ``intercept`` the line's value at the
    window's start (its first row's time for tuple-based windows). Null where fewer than two
    instants have a value. The time must be a timestamp or a whole number. Bounded, cumulative;
    centred, so times near 1.7e15 microseconds do not cancel.

    >>> from fanlight import agg
    >>> agg.linear_fit("price").label
    'linear_fit(price)'
    """
    slope = "{p}.sxy / {p}.sxx"
    at_start = "({p}.mx + cast({p}.t0 - {start} as double))"
    lower = (
        f"if({{p}}.sxx > 0D, named_struct('slope', {slope} * {{scale}}, "
        f"'intercept', {{p}}.my - {slope} * {at_start}, "
        "'r2', if({p}.syy > 0D, {p}.sxy * {p}.sxy / ({p}.sxx * {p}.syy), 1D)), null)"
    )
    return Call(of_one("linear_fit", Comoments(), lower), (column,))
