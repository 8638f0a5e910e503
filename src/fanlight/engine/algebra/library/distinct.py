"""Distinct values: how many, about how many, and which are frequent."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fanlight.engine.algebra import lowering, lowering_values
from fanlight.engine.algebra.aggregate import (
    INTEGRAL,
    Aggregate,
    Call,
    Partials,
    aggregate_of_counts,
    aggregate_of_field,
    base_type,
)
from fanlight.engine.algebra.collections import HyperLogLog, Values
from fanlight.engine.algebra.library.in_order import check_position
from fanlight.engine.algebra.ordering import Commonest, Distinct, Frequent
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.spec.arguments import read_exact
from fanlight.engine.spec.errors import refuse
from fanlight.types import ColumnOrName, Number


def _make_distinct(arity: int) -> Aggregate:
    names = ("{x}", "{y}", "{z}")[:arity]
    value = names[0]
    if arity > 1:
        absent = " or ".join(f"{name} is null" for name in names)
        value = f"if({absent}, null, struct({', '.join(names)}))"
    lower = "cast(coalesce(array_size(array_distinct(transform({p}, e -> e.v))), 0) as bigint)"
    native = f"count(distinct {', '.join(names)})"
    return aggregate_of_counts(
        "count_distinct", Distinct(), Values(value), lower, lowering_values.number_of_values,
        native=native, accepts="groupable", arity=arity, watched="distinct",
    )  # fmt: skip


_DISTINCT = {arity: _make_distinct(arity) for arity in (1, 2, 3)}


@aggregate(
    sample("double", gives="bigint"),
    sample("string", "bigint", gives="bigint"),
    sample("string", "double", "bigint", gives="bigint"),
)
def count_distinct(*columns: ColumnOrName) -> Call:
    """How many distinct values, or tuples of up to three columns, occur. Exact.

    Parameters
    ----------
    *columns
        One to three columns' names or Columns, of any type that has an equality.

    Returns
    -------
    Call
        A bigint; never null. Named ``count(DISTINCT a, b)`` where columns are given by name.

    Raises
    ------
    FanlightError
        If there are no columns, or more than three.

    See Also
    --------
    approx_count_distinct : where keeping each distinct value is too much.

    Notes
    -----
    Rows where one of the columns is null are left out. NaN is one value, and -0.0 is 0.0.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(bidders=agg.count_distinct("who")).first().bidders
    2

    """
    if len(columns) not in _DISTINCT:
        raise refuse(
            f"count_distinct of {len(columns)} columns",
            "is not supported",
            "name one to three columns, or count a struct of them",
        )
    names = [column for column in columns if isinstance(column, str)]
    usual = f"count(DISTINCT {', '.join(names)})" if len(names) == len(columns) else ""
    return Call(_DISTINCT[len(columns)], columns, usual=usual)


@aggregate(
    sample("double", gives="bigint"),
    sample("string", gives="bigint", rsd=0.02),
    alike="columns",
)
def approx_count_distinct(column: ColumnOrName, rsd: float = 0.05) -> Call:
    """About how many distinct values occur, from HyperLogLog sketches of a fixed size.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality.
    rsd
        The relative standard deviation of the answer, from 0.0006 to 0.3. The smaller it is, the
        larger the sketch.

    Returns
    -------
    Call
        A bigint; never null.

    Raises
    ------
    FanlightError
        If ``rsd`` is out of reach.

    See Also
    --------
    count_distinct : exact, and keeps each distinct value.

    Notes
    -----
    Nulls are left out; NaN is one value. The sketch is that of Apache DataSketches, or where rows
    are copied into Spark's own windows that of Spark's function of the same name: ``rsd`` holds in
    both, and estimates differ within it. Where rows are handled in order (windows counted in rows,
    windows that rows end) the answer is exact.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(bidders=agg.approx_count_distinct("who", 0.02)).first().bidders
    2

    """
    if not isinstance(rsd, (int, float)) or not 0.0006 <= rsd <= 0.3:
        raise refuse(
            f"approx_count_distinct(rsd={rsd!r})",
            "is out of reach of the sketch",
            "choose a relative standard deviation from 0.0006 to 0.3, or use count_distinct",
        )
    log_size = math.ceil(math.log2((1.04 / rsd) ** 2))
    size = sorted((4, log_size, 21))[1]
    native = f"approx_count_distinct({{x}}, {float(rsd)}D)" if rsd >= _FINEST else ""
    sketched = Aggregate(
        "approx_count_distinct",
        recipe=_Sketched(size, native),
        accepts="groupable",
        watched="distinct",
    )
    return Call(sketched, (column,), exact=_DISTINCT[1])


# Spark's own function has a column for every ten registers, which are too many below this.
_FINEST = 0.02


@dataclass(frozen=True)
class _Sketched:
    """The recipe of distinct values by sketches of 2**``size`` registers."""

    size: int
    native: str

    def __call__(self, types: tuple[str, ...]) -> Partials:
        """The partials of values of these types; not all have Spark's own function."""
        flat = base_type(types[0]) in (*_PLAIN, "decimal", "float", "double")
        return Partials(
            {"p": HyperLogLog(log_size=self.size)},
            "coalesce(hll_sketch_estimate({p}), 0L)",
            native=self.native if flat and "collate" not in types[0] else "",
        )


# Types whose values Spark's own mode compares as SQL does; by Java's equality -0.0 is not 0.0.
_PLAIN = (*INTEGRAL, "boolean", "date", "timestamp", "timestamp_ntz", "string")


def _mode_partials(types: tuple[str, ...]) -> Partials:
    native = "mode({x}, true)" if base_type(types[0]) in _PLAIN else ""
    return Partials(
        {"p": Values()}, lowering.most_frequent("{p}"), reads=Commonest(), native=native,
        native_since=(4, 0), lower_values=lowering_values.most_frequent,
    )  # fmt: skip


_MODE = Aggregate("mode", recipe=_mode_partials, accepts="groupable", algebra="holistic")


@aggregate(
    sample("double", gives="double"),
    sample("string", gives="string"),
    sample("bigint", gives="bigint"),
    alike="columns",
    ordered="mode",
)
def mode(column: ColumnOrName) -> Call:
    """The most frequent value; the least of them if several are.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN is one value, greater than all numbers.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(busiest=agg.mode("who")).first().busiest
    'ann'

    """
    return Call(_MODE, (column,))


@aggregate(sample("string", gives="array<struct<value:string,count:bigint>>", share=0.25))
def heavy_hitters(column: ColumnOrName, share: Number) -> Call:
    """The values that make up at least a share of all, most frequent first. Exact.

    Parameters
    ----------
    column
        A column's name or a Column, of any type that has an equality and an order.
    share
        The share of the window's values, above 0 and at most 1: a number, a Decimal or a Fraction,
        taken as it is written. 7 of 100 values are a share of 0.07.

    Returns
    -------
    Call
        An array of structs ``value`` (of the column's type) and ``count`` (a bigint): the most
        frequent first, of equally frequent ones the least value; empty where there is no value.

    Raises
    ------
    FanlightError
        If ``share`` is out of range.

    Notes
    -----
    Nulls are left out, and do not count towards the whole. NaN is one value. Panes keep value
    counts, as in Li et al., 3.3.2 (Query 4).

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 'ann'), (1, 'bob'), (2, 'ann') as t(at, who)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(heavy=agg.heavy_hitters("who", 0.5)).first().heavy
    [Row(value='ann', count=2)]

    """
    wrong, example = f"heavy_hitters(share={share!r})", "heavy_hitters(column, 0.05)"
    least = read_exact(wrong, share, example)
    if not 0 < least <= 1:
        raise refuse(wrong, "is not a share above 0 and at most 1", f"write for example {example}")
    frequent = lowering.tally("{p}", lowering.MOST_FIRST, lowering.reaches("acc.n", "total", least))
    lower = f"coalesce({lowering.let('total', lowering.row_count('{p}'), frequent)}, array())"
    hitters = aggregate_of_counts(
        "heavy_hitters", Frequent(least), Values(), lower,
        lowering_values.frequent_values(least), accepts="groupable",
    )  # fmt: skip
    return Call(hitters, (column,), (share,))


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
        frequent first, of equally frequent ones the least value; empty where there is no value.

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
