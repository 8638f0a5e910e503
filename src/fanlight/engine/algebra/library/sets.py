"""Values that are counted: all of them, and those that most rows have."""

from __future__ import annotations

from fanlight.engine.algebra import lowering, lowering_values
from fanlight.engine.algebra.aggregate import Call, aggregate_of_field
from fanlight.engine.algebra.collections import Values
from fanlight.engine.algebra.library.positions import check_position
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.types import ColumnOrName

_SET = aggregate_of_field(
    "collect_set", Values(),
    "coalesce(sort_array(array_distinct(transform({p}, e -> e.v))), array())",
    lower_values=lowering_values.values_sorted, accepts="groupable", algebra="holistic",
)  # fmt: skip


@aggregate(
    sample("double", gives="array<double>"),
    sample("string", gives="array<string>"),
    alike="columns",
)
def collect_set(column: ColumnOrName) -> Call:
    """Each distinct value once, in their order.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.

    Returns
    -------
    Call
        An array of the column's type, sorted; empty where there is no value.

    See Also
    --------
    collect_list : with ``distinct``, in the order of rows.

    Notes
    -----
    Nulls are left out; NaN is one value, greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'bob'), (1, 'ann'), (2, 'bob') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(bidders=agg.collect_set("who")).first().bidders
    ['ann', 'bob']

    """
    return Call(_SET, (column,))


@aggregate(
    sample("string", gives="array<struct<value:string,count:bigint>>", k=2),
)
def top_k(column: ColumnOrName, k: int) -> Call:
    """The values that most rows have, the most frequent first. Exact.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.
    k
        How many values, at most: a whole number from 1 to 100000.

    Returns
    -------
    Call
        An array of structs ``value`` (of the column's type) and ``count`` (a bigint): the most
        frequent first, then the least; empty where there is no value.

    Raises
    ------
    FanlightError
        If ``k`` is not a whole number from 1 to 100000.

    See Also
    --------
    heavy_hitters : the values that make up a share of all.

    Notes
    -----
    Nulls are left out. NaN is one value. Each distinct value of a window is kept, with its count.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'bob') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(busiest=agg.top_k("who", 1)).first().busiest
    [Row(value='bob', count=2)]

    """
    check_position("top_k", k, "k")
    most = lowering.tally("{p}", f"slice({lowering.MOST_FIRST}, 1, {k})", "true")
    top = aggregate_of_field(
        "top_k", Values(), f"coalesce({most}, array())", accepts="groupable", algebra="holistic",
        lower_values=lowering_values.top_values(k),
    )  # fmt: skip
    return Call(top, (column,), (k,))
