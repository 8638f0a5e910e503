"""Conditions: in how many rows one holds, whether it holds in all of them, or in any."""

from __future__ import annotations

from typing import Protocol

from fanlight.engine.algebra.aggregate import Call, aggregate_of_field
from fanlight.engine.algebra.lowering_values import number_or_zero
from fanlight.engine.algebra.monoids import BitAnd, BitOr, BitXor, Count, Max, Min, Monoid, Product
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.sql_text import fill
from fanlight.types import ColumnOrName, Condition

_COUNT_IF = aggregate_of_field(
    "count_if", Count("if({x}, 1, null)"), "coalesce({p}, 0L)", lower_values=number_or_zero,
    accepts="boolean", algebra="distributive", native="count_if({x})",
)  # fmt: skip
_BOOL_AND = aggregate_of_field(
    "bool_and", Min(), accepts="boolean", algebra="distributive", native="bool_and({x})"
)
_BOOL_OR = aggregate_of_field(
    "bool_or", Max(), accepts="boolean", algebra="distributive", native="bool_or({x})"
)


@aggregate(sample("boolean", gives="bigint"), alike="any")
def count_if(condition: Condition) -> Call:
    """The number of rows in which a condition holds.

    Parameters
    ----------
    condition
        A column's name or a Column that is true or false: ``F.col("price") > 3``.

    Returns
    -------
    Call
        A bigint; never null.

    See Also
    --------
    count : with :meth:`Call.where`, which takes a condition as SQL text.

    Notes
    -----
    A null is not counted, as if it were false.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.5D), (1, null), (2, 4.0D) as t(at, price)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(dear=agg.count_if(df["price"] > 3)).first().dear
    1

    """
    return Call(_COUNT_IF, (condition,))


@aggregate(sample("boolean", gives="boolean"), names=("every",), alike="any")
def bool_and(condition: Condition) -> Call:
    """Whether a condition holds in all rows.

    Parameters
    ----------
    condition
        A column's name or a Column that is true or false.

    Notes
    -----
    Nulls are left out; null if nothing else is there.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, true), (1, null), (2, false) as t(at, ok)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(all=agg.bool_and("ok")).first().all
    False

    """
    return Call(_BOOL_AND, (condition,))


@aggregate(sample("boolean", gives="boolean"), names=("some",), in_sql=("any",), alike="any")
def bool_or(condition: Condition) -> Call:
    """Whether a condition holds in any row.

    Parameters
    ----------
    condition
        A column's name or a Column that is true or false.

    Notes
    -----
    Nulls are left out; null if nothing else is there.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, true), (1, null), (2, false) as t(at, ok)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(any=agg.bool_or("ok")).first().any
    True

    """
    return Call(_BOOL_OR, (condition,))


class OfBits(Protocol):
    """A function of whole numbers."""

    def __call__(self, column: ColumnOrName) -> Call:
        """Make an aggregate of them."""


def _make_bits(name: str, monoid: Monoid, what: str, shown: int) -> OfBits:
    """The public function of one operation on bits."""
    bits = aggregate_of_field(
        name, monoid, accepts="integral", algebra="distributive", native=f"{name}({{x}})"
    )

    def function(column: ColumnOrName) -> Call:
        """{what}.

        Parameters
        ----------
        column
            A whole number: a column's name or a Column.

        Returns
        -------
        Call
            A whole number of the column's type.

        Notes
        -----
        Nulls are left out; null if nothing else is there.

        Examples
        --------
        >>> from fanlight import agg
        >>> df = spark.sql("select * from values (0, 6), (1, null), (2, 3) as t(at, flags)")
        >>> windows = fl.over(df, fl.Sliding(10), time="at")
        >>> windows.agg(bits=agg.{name}("flags")).first().bits
        {shown}

        """
        return Call(bits, (column,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = fill(function.__doc__ or "", name=name, what=what, shown=shown)
    return aggregate(sample("bigint", gives="bigint"), alike="any")(function)


bit_and = _make_bits("bit_and", BitAnd(), "The bits that are set in every value", 2)
bit_or = _make_bits("bit_or", BitOr(), "The bits that are set in any value", 7)
bit_xor = _make_bits("bit_xor", BitXor(), "The bits that are set in an odd number of values", 5)

_PRODUCT = aggregate_of_field("product", Product(), algebra="distributive")


@aggregate(sample("double", gives="double"), alike="columns")
def product(column: ColumnOrName) -> Call:
    """All values multiplied: growth over a window, of the growth of each row.

    Parameters
    ----------
    column
        A number: a column's name or a Column.

    Notes
    -----
    Nulls are left out; null if nothing else is there. NaN makes the product NaN. Like any product
    of doubles it depends on the order of its factors in its last digits.

    Examples
    --------
    >>> from fanlight import agg
    >>> df = spark.sql("select * from values (0, 2.0D), (1, null), (2, 4.0D) as t(at, growth)")
    >>> windows = fl.over(df, fl.Sliding(10), time="at")
    >>> windows.agg(growth=agg.product("growth")).first().growth
    8.0

    """
    return Call(_PRODUCT, (column,))
