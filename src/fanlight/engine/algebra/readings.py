"""What is read off value counts, by names that let a strategy find it without the counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar


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
