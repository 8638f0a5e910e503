"""Bits of whole numbers, taken together, and the product of numbers."""

from __future__ import annotations

from typing import Protocol

from fanlight.engine.algebra.aggregate import Call, aggregate_of_field
from fanlight.engine.algebra.monoids import BitAnd, BitOr, BitXor, Monoid, Product
from fanlight.engine.algebra.registry import aggregate, sample
from fanlight.engine.algebra.template import fill
from fanlight.types import ColumnOrName


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
