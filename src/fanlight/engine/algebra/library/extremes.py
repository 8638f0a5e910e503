"""The least and the greatest: values, what goes with them, and how often they occur."""

from __future__ import annotations

from fanlight.engine.algebra.aggregate import Aggregate, Call, aggregate_of_field
from fanlight.engine.algebra.collections import Extremes
from fanlight.engine.algebra.library.in_order import check_position
from fanlight.engine.algebra.lowering_values import count_of_extreme, last_of_struct, value_at
from fanlight.engine.algebra.monoids import ExtremeCount, Max, Min
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.types import ColumnOrName

_MIN = aggregate_of_field(
    "min", Min(), accepts="orderable", algebra="distributive", accumulation="selective",
    native="min({x})", watched="min",
)  # fmt: skip
_MAX = aggregate_of_field(
    "max", Max(), accepts="orderable", algebra="distributive", accumulation="selective",
    native="max({x})", watched="max",
)  # fmt: skip


def _make_by(name: str, monoid: type[Min | Max]) -> Aggregate:
    value = "if({y} is null, null, named_struct('y', {y}, 'o', {order}, 'v', {x}))"
    return aggregate_of_field(
        name, monoid(value), "{p}.v", lower_values=last_of_struct,
        accepts="orderable", arity=2, accumulation="selective",
    )  # fmt: skip


def _make_extreme_count(name: str, largest: bool) -> Aggregate:
    monoid = ExtremeCount(largest=largest)
    return aggregate_of_field(
        name, monoid, "coalesce({p}.n, 0L)", accepts="groupable", lower_values=count_of_extreme
    )


_MIN_BY, _MAX_BY = _make_by("min_by", Min), _make_by("max_by", Max)
_MAX_COUNT = _make_extreme_count("max_count", largest=True)
_MIN_COUNT = _make_extreme_count("min_count", largest=False)


@aggregate(
    sample("double", gives="double"),
    sample("string", gives="string"),
    alike="any",
    together="struct",
)
def min(column: ColumnOrName) -> Call:
    """The least value, in Spark's order.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers, so it is
    the least only where there is no number. ``agg.min(F.struct("a", "b"))`` compares by ``a``, then
    by ``b``: of a struct, nulls within are less than all values.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(least=agg.min("price")).first().least
    2.5

    """
    return Call(_MIN, (column,))


@aggregate(
    sample("double", gives="double"),
    sample("string", gives="string"),
    alike="any",
    together="struct",
)
def max(column: ColumnOrName) -> Call:
    """The greatest value, in Spark's order.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is greater than all numbers.
    ``agg.max(F.struct("a", "b"))`` compares by ``a``, then by ``b``: of a struct, nulls within are
    less than all values.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(highest=agg.max("price")).first().highest
    4.0

    """
    return Call(_MAX, (column,))


@aggregate(sample("string", "double", gives="string"), alike="columns")
def min_by(column: ColumnOrName, ord: ColumnOrName) -> Call:
    """The value that one column has where another is least: who bid least (the papers' argmin).

    Parameters
    ----------
    column
        What to give: a column's name or a Column, of any type that has an order.
    ord
        What is to be least: a column's name or a Column, of any type that has an order.

    Returns
    -------
    Call
        A value of the type of ``column``; of the earliest row among those where ``ord`` is least.

    Notes
    -----
    Rows where ``ord`` is null are left out; a null of ``column`` is given as it is. NaN in ``ord``
    is greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann', 2.5), (1, 'bob', 4.0) as t(at, who, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(least=agg.min_by("who", "price")).first().least
    'ann'

    """
    return Call(_MIN_BY, (column, ord))


@aggregate(sample("double", "bigint", gives="double"), alike="columns")
def max_by(column: ColumnOrName, ord: ColumnOrName) -> Call:
    """The value that one column has where another is greatest: who bid most (the papers' argmax).

    Parameters
    ----------
    column
        What to give: a column's name or a Column, of any type that has an order.
    ord
        What is to be greatest: a column's name or a Column, of any type that has an order.

    Returns
    -------
    Call
        A value of the type of ``column``; of the latest row among those where ``ord`` is greatest.

    Notes
    -----
    Rows where ``ord`` is null are left out; a null of ``column`` is given as it is. NaN in ``ord``
    is greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann', 2.5), (1, 'bob', 4.0) as t(at, who, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(highest=agg.max_by("who", "price")).first().highest
    'bob'

    """
    return Call(_MAX_BY, (column, ord))


@aggregate(sample("double", gives="bigint"))
def max_count(column: ColumnOrName) -> Call:
    """How many rows have the greatest value (Suzanne et al., Table 1).

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.

    Returns
    -------
    Call
        A bigint; 0 where there is no value.

    Notes
    -----
    Nulls are left out. NaN is greater than all numbers, and equal to NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 4.0D), (1, 2.5D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(n=agg.max_count("price")).first().n
    2

    """
    return Call(_MAX_COUNT, (column,))


@aggregate(sample("bigint", gives="bigint"))
def min_count(column: ColumnOrName) -> Call:
    """How many rows have the least value (Suzanne et al., Table 1).

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.

    Returns
    -------
    Call
        A bigint; 0 where there is no value.

    Notes
    -----
    Nulls are left out. NaN is greater than all numbers, and equal to NaN.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 4.0D), (1, 2.5D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(n=agg.min_count("price")).first().n
    1

    """
    return Call(_MIN_COUNT, (column,))


@aggregate(sample("double", gives="double", n=3))
def nth_smallest(column: ColumnOrName, n: int) -> Call:
    """The n-th least value, equal values counted: the second best time, for example.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an order.
    n
        Which: 1 is the least. At most 100000; a partial keeps this many values.

    Returns
    -------
    Call
        A value of the column's type; null if there are fewer than ``n``.

    Raises
    ------
    FanlightError
        If ``n`` is not a whole number from 1 to 100000. Also if Spark is older than 4.2.

    Notes
    -----
    Nulls are left out. NaN is greater than all numbers. Suzanne et al., Table 1, call it holistic;
    for a fixed ``n`` its partials are bounded here.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 4.0D), (1, 2.5D), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(second=agg.nth_smallest("price", 2)).first().second
    4.0

    """
    least = aggregate_of_field(
        "nth_smallest",
        Extremes(count=check_position("nth_smallest", n)),
        f"get({{p}}, {n - 1})",
        lower_values=value_at(n - 1),
        accepts="orderable",
        algebra="holistic",
        accumulation="selective",
    )
    return Call(least, (column,), (n,))
