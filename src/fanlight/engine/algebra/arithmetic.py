"""The operators that aggregates and expressions of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fanlight.engine.algebra.expression import Expression


class Arithmetic:
    """``+``, ``-``, ``*`` and ``/`` with another aggregate or a number: an expression of both."""

    __slots__ = ()

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


def _combine(left: Any, sign: str, right: Any) -> Expression:
    from fanlight.engine.algebra.expression import Expression  # it is made of these

    return Expression(left, sign, right)
