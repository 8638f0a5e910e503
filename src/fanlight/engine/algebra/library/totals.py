"""Counts, sums and means."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fanlight.engine.algebra import distinct_numbers, lowering_values
from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    Aggregate,
    Call,
    Partials,
    aggregate_of_field,
    base_type,
    digits_of,
)
from fanlight.engine.algebra.monoids import Count, Sum
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.split_sums import Longs, mean_sql, mean_type, split_sum_of
from fanlight.types import ColumnOrName

_COUNT = aggregate_of_field(
    "count", Count(), "coalesce({p}, 0L)", lower_values=lowering_values.number_or_zero,
    accepts="any", algebra="distributive", native="count({x})", watched="count",
)  # fmt: skip
_ROWS = aggregate_of_field(
    "count", Count("1"), "coalesce({p}, 0L)", lower_values=lowering_values.number_or_zero,
    arity=0, algebra="distributive", native="count(1)", watched="count",
)  # fmt: skip


def _sum_partials(types: tuple[str, ...]) -> Partials:
    """Spark's own sum gives up where it passes 64 bits or 38 digits on the way, from row to row."""
    parts, native = split_sum_of(types[0]), "sum({x})"
    if isinstance(parts, Longs):
        native = parts.sum_sql(*(f"sum({part})" for part in parts.split("{x}")))
    elif parts is not None:
        native = ""
    return Partials({"p": Sum()}, "{p}", native=native, lower_values=lowering_values.partial_itself)


_SUM = Aggregate("sum", recipe=_sum_partials, algebra="distributive", watched="sum")


def _avg_partials(types: tuple[str, ...]) -> Partials:
    (kind,) = types
    if base_type(kind) == "decimal":
        native = "" if split_sum_of(kind) else "avg({x})"
        return Partials(
            {"s": Sum(), "n": Count()}, mean_sql("{s}", "{n}", kind), native=native,
            weightless=f"is a mean of {kind}, which would no longer be exact",
            lower_values=lowering_values.mean_of_decimals(digits_of(mean_type(kind))[1]),
        )  # fmt: skip
    # Sums of 32-bit integers are exact in 64 bits; Spark, too, adds longs and floats as doubles.
    exact = base_type(kind) in INTEGRAL and base_type(kind) != "bigint"
    total = Sum("{x}") if exact else Sum("cast({x} as double)")
    return Partials(
        {"s": total, "n": Count()}, "cast({s} as double) / nullif({n}, 0)", native="avg({x})",
        lower_values=lowering_values.mean,
    )  # fmt: skip


_AVG = Aggregate("avg", recipe=_avg_partials, watched="avg")
_SUM_ONCE, _AVG_ONCE = distinct_numbers.SUM.make("sum"), distinct_numbers.MEAN.make("avg")


@aggregate(
    sample(gives="bigint"),
    sample("double", gives="bigint"),
    sample("string", gives="bigint"),
    alike="columns",
)
def count(column: ColumnOrName | Literal[1] = "*") -> Call:
    """How many rows there are, or in how many a column has a value.

    Parameters
    ----------
    column
        ``"*"``, the default, counts rows. A column's name or a Column, of any type, counts the
        rows where it is not null.

    Returns
    -------
    Call
        A bigint, named ``count(1)`` or ``count(column)``; never null.

    Notes
    -----
    Nulls are left out, except by ``count()``; NaN is a value.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(agg.count(), agg.count("price")).drop("window").show()
    +--------+------------+
    |count(1)|count(price)|
    +--------+------------+
    |       3|           2|
    +--------+------------+
    <BLANKLINE>

    """
    if isinstance(column, (str, int)) and column in ("*", 1):
        return Call(_ROWS, (), ("1",))
    return Call(_COUNT, (column,))


@aggregate(
    sample("double", gives="double"),
    sample("bigint", gives="bigint"),
    sample("decimal(12,2)", gives="decimal(22,2)"),
    sample("double", gives="double", distinct=True),
    sample("bigint", gives="bigint", distinct=True),
    alike="any",
)
def sum(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The sum of a number.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Returns
    -------
    Call
        A bigint for integers, a double for floats, a decimal of ten more digits for decimals.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN makes the sum NaN. A sum of doubles is
    never computed as a difference of running totals, which would keep the rounding of values that
    have left the window.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(total=agg.sum("price")).first().total
    6.5

    """
    return distinct_numbers.call_of(_SUM, _SUM_ONCE, column, distinct)


@aggregate(
    sample("double", gives="double"),
    sample("bigint", gives="double"),
    sample("decimal(12,2)", gives="decimal(16,6)"),
    sample("decimal(12,2)", gives="decimal(16,6)", distinct=True),
    names=("mean",),
    shown=False,
    alike="any",
)
def avg(column: ColumnOrName, *, distinct: bool = False) -> Call:
    """The mean of a number.

    Parameters
    ----------
    column
        A number: a column's name or a Column.
    distinct
        Whether to take each value once, however many rows have it.

    Returns
    -------
    Call
        A double; for decimals a decimal with four more digits.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN makes the mean NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(usual=agg.avg("price")).first().usual
    3.25

    """
    return distinct_numbers.call_of(_AVG, _AVG_ONCE, column, distinct)


def _try_sum_partials(types: tuple[str, ...]) -> Partials:
    (kind,) = types
    if base_type(kind) in INTEGRAL:
        wide = Sum("cast({x} as decimal(20,0))")
        return Partials(
            {"p": wide}, "try_cast({p} as bigint)", lower_values=lowering_values.long_or_null
        )
    found = _sum_partials(types)
    if split_sum_of(kind) is None:
        return found
    limit = 10.0 ** (38 - digits_of(kind)[1]) * (1 - 1e-12)
    fields = {**found.fields, "about": Sum("cast({x} as double)")}
    return replace(found, fields=fields, lower=f"if(abs({{about}}) < {limit!r}D, {{p}}, null)")


_TRY_SUM = Aggregate("try_sum", recipe=_try_sum_partials, algebra="distributive")
_TRY_AVG = replace(_AVG, name="try_avg", watched="")


@aggregate(
    sample("bigint", gives="bigint"),
    sample("decimal(12,2)", gives="decimal(22,2)"),
    alike="columns",
)
def try_sum(column: ColumnOrName) -> Call:
    """The sum of a number, or null where it does not fit its type.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A bigint for integers, a double for floats, a decimal of ten more digits for decimals.

    Notes
    -----
    Nulls are left out; null if nothing else is there. Only the sum of the window has to fit, which
    Spark asks of the sums on the way, too.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 9223372036854775807L), (1, 1L) as t(at, n)")
    >>> windows = fl.over(df, fl.Sliding(2, 1), time="at")
    >>> [row.n for row in windows.agg(n=agg.try_sum("n")).orderBy("window").collect()]
    [9223372036854775807, None, 1]

    """
    return Call(_TRY_SUM, (column,))


@aggregate(sample("decimal(12,2)", gives="decimal(16,6)"), alike="columns")
def try_avg(column: ColumnOrName) -> Call:
    """The mean of a number: that of :func:`avg`, whose sums cannot overflow here.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Returns
    -------
    Call
        A double; for decimals a decimal with four more digits.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN makes the mean NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(usual=agg.try_avg("price")).first().usual
    3.25

    """
    return Call(_TRY_AVG, (column,))
