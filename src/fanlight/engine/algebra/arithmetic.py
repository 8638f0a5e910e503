"""The operators that aggregates and expressions of them have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from fanlight.engine.spec.errors import MissingError, advise_choice, guess, refuse, show

if TYPE_CHECKING:
    from fanlight.engine.algebra.expression import Expression, Transformed

# Methods of Spark's Columns and of Polars' expressions, and what to write instead.
_OF_COLUMNS = {
    "filter": "where('price > 3')",
    **dict.fromkeys(("as_", "name", "rename"), "alias('x')"),
    "over": "fl.over(df, fl.Trailing('1 hour'), time='ts', by='key').attach(…)",
    **dict.fromkeys(
        ("cast", "astype", "round", "fill_null", "fillna", "isNull", "isNotNull", "between"),
        "it of the result: windows.agg(x=…).withColumn('x', F.col('x').cast('int'))",
    ),
}


class Arithmetic:
    """``+``, ``-``, ``*`` and ``/`` with another aggregate or a number: an expression of both."""

    __slots__ = ()
    # Made of aggregates, so they are set where they are defined.
    combined: ClassVar[type[Expression]]
    transformed: ClassVar[type[Transformed]]

    def __add__(self, other: Any) -> Expression:
        return _combine(self, "+", other)

    def __radd__(self, other: Any) -> Expression:
        return _combine(other, "+", self)

    def __sub__(self, other: Any) -> Expression:
        return _combine(self, "-", other)

    def __rsub__(self, other: Any) -> Expression:
        return _combine(other, "-", self)

    def __mul__(self, other: Any) -> Expression:
        return _combine(self, "*", other)

    def __rmul__(self, other: Any) -> Expression:
        return _combine(other, "*", self)

    def __truediv__(self, other: Any) -> Expression:
        return _combine(self, "/", other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _combine(other, "/", self)

    def transform(self, function: Callable[[Any], Any]) -> Transformed:
        """A function of the result, computed where the aggregate is finished.

        The function's Column is read as SQL: it may have functions of Spark in it, but no other
        column, no aggregate, and nothing in Python.

        Parameters
        ----------
        function
            Takes the result as a Column, and returns a Column.

        Returns
        -------
        Transformed
            For ``agg`` of the windows; it has ``alias``, ``where`` and ``transform``, too, and is
            computed with: ``+``, ``-``, ``*`` and ``/``.

        Raises
        ------
        FanlightError
            If it is no function. By ``agg`` of the windows: if it gives no such Column.

        Examples
        --------
        >>> from fanlight import agg
        >>> from pyspark.sql import functions as F
        >>> df = spark.sql("select * from values (0, 2.25D), (1, 4.0D) as t(at, price)")
        >>> windows = fl.over(df, fl.Sliding(10), time="at")
        >>> usual = agg.avg("price").transform(lambda average: F.round(average, 2))
        >>> windows.agg(usual=usual).first().usual
        3.13

        """
        return self.transformed(self, function)

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> NoReturn:
            """Say what to write instead of what Spark's Columns have, or a misspelt name."""
            if name.startswith("_"):  # what copy, pickle or a notebook looks for
                raise AttributeError(name)
            own = [one for one in ("alias", "where", "transform") if one in dir(type(self))]
            near = _OF_COLUMNS.get(name) or guess(name, own)
            write = f"write {near}" if near else advise_choice(name, own)
            raise MissingError(f"{self!r} has no {name!r}; {write}")


# Operators that aggregates do not have, and how the result is asked the same.
_CONDITIONS = {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "invert": "~",
}  # fmt: skip
_OPERATORS = {
    **{name: (sign, ".where('high > 3')") for name, sign in _CONDITIONS.items()},
    "mod": ("%", ".selectExpr('*', 'high % 2')"),
    "pow": ("**", ".selectExpr('*', 'power(high, 2)')"),
    "floordiv": ("//", ".selectExpr('*', 'floor(high / 2)')"),
    "neg": ("-", ".selectExpr('*', '-high')"),
}


def _refuse_operator(sign: str, of_result: str) -> Callable[..., Any]:
    """A method that says what to write instead of an operator that aggregates do not have."""

    def operate(self: Any, *others: Any) -> NoReturn:
        other = "".join(f" {show(one)}" for one in others)
        raise refuse(
            f"{self!r} {sign}{other}" if others else f"{sign}{self!r}",
            "is not computed with the windows: + - * / of aggregates are",
            ("multiply it by -1, or " if sign == "-" else "")
            + "name the aggregate, and compute it from the result: agg(high=agg.max('price'))"
            + of_result,
        )

    return operate


for _name, _told in _OPERATORS.items():
    setattr(Arithmetic, f"__{_name}__", _refuse_operator(*_told))


def _combine(left: Any, sign: str, right: Any) -> Expression:
    return Arithmetic.combined(left, sign, right)
