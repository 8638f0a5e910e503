"""Spark's total order of values, in Python: nulls first, NaN last, structs field by field."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

Key = tuple[Any, ...]


def spark_key(value: Any) -> Key:
    """A key that sorts values the way Spark's ``ORDER BY`` does.

    >>> nan = float("nan")
    >>> sorted([nan, 2.0, None, -1.0], key=spark_key)
    [None, -1.0, 2.0, nan]
    """
    if value is None:
        return (0,)
    if isinstance(value, (tuple, list)):
        return (1, tuple(spark_key(part) for part in value))
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN, without importing math
        return (2,)
    if isinstance(value, str):
        return (1, value.encode())  # Spark compares UTF-8 bytes
    return (1, value)


def least(a: Any, b: Any) -> Any:
    """The smaller of two values in Spark's order."""
    return b if spark_key(b) < spark_key(a) else a


def greatest(a: Any, b: Any) -> Any:
    """The greater of two values in Spark's order."""
    return b if spark_key(b) > spark_key(a) else a


@dataclass(frozen=True)
class Reading:
    """One thing that is read off value counts.

    ``lower`` is SQL of the result over ``{p}``, what a strategy gives in place of the counts; where
    it is empty, ``{p}`` is value counts of fewer values, of which the aggregate reads the same.
    """

    kind: ClassVar[str] = "ranked"
    lower: ClassVar[str] = ""


@dataclass(frozen=True)
class Distinct(Reading):
    """How many distinct values there are; ``{p}`` is that number."""

    kind: ClassVar[str] = "distinct"
    lower: ClassVar[str] = "{p}"


@dataclass(frozen=True)
class AtShares(Reading):
    """The values at shares of the way from the least to the greatest, and their neighbours."""

    shares: tuple[float, ...]


@dataclass(frozen=True)
class Commonest(Reading):
    """The value that most rows have; the least of several."""


@dataclass(frozen=True)
class Frequent(Reading):
    """The values that make up a share of all rows; ``{p}`` lists them with their counts."""

    share: Fraction
    lower: ClassVar[str] = "transform({p}, e -> named_struct('value', e.v, 'count', e.n))"
