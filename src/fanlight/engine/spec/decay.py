"""Weights that halve with age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from fanlight.engine.spec.calendar import has_months, read_units
from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import Extent, Measure, read_extent
from fanlight.types import Length

if TYPE_CHECKING:
    pass

_HOUR = 3_600_000_000
_LONGEST = Fraction(2000)  # half-lives: no double is left of a weight so old


@dataclass(frozen=True, repr=False)
class Decay:
    """A half-life; made by :func:`decay`, frozen."""

    measure: Measure
    value: Fraction
    text: str = field(compare=False)

    def weigh(self, ranges: Sequence[Extent]) -> list[float]:
        """The weight of each level: that of where its part begins, seen from the report."""
        level, value = ranges[0], self.value
        if (self.measure, level.measure) == ("time", "hours"):
            value /= _HOUR
        elif self.measure != level.measure:
            half_life = Extent(self.measure, value, self.text)
            instead = {
                "time": "decay('10 minutes')",
                "hours": "decay('1 day')",
                "months": "decay('1 month')",
                "number": "decay(10)",
                "rows": "decay(fl.Rows(100))",
            }[level.measure]
            raise refuse(
                f"weights={self!r}",
                f"is {half_life.kind_in_words}, but ranges[0]={level} is {level.kind_in_words}",
                f"give the half-life in the same kind: weights=fl.{instead}",
            )
        ages = [Fraction(0), *(one.value for one in ranges[:-1])]
        return [0.5 ** float(min(age / value, _LONGEST)) for age in ages]

    def __repr__(self) -> str:
        return f"decay({self.text})"


@explain_wrong_calls("fl.decay('10 minutes')")
def decay(half_life: Length) -> Decay:
    """Weights that halve with age, for ``weights`` of :class:`fanlight.MultiGranular`.

    A level has the weight ``0.5 ** (age / half_life)``. Its age is that of the newest rows that are
    in it and in no finer level: 0 for the finest, ``ranges[k - 1]`` for level *k*. So the finest
    level counts as it is, and no row counts less than it would with an age of its own.

    Parameters
    ----------
    half_life
        The age at which a row counts half; of the kind of the ranges: a duration (in months for
        levels in months), a number, or ``fl.Rows(n)``.

    Returns
    -------
    Decay
        A frozen value; equal to another of the same half-life.

    Raises
    ------
    FanlightError
        If the half-life cannot be read or is not positive. By ``MultiGranular``: if it is of
        another kind than the ranges.

    Examples
    --------
    >>> import fanlight as fl
    >>> spec = fl.MultiGranular(
    ...     ["10 minutes", "20 minutes", "1 hour"], ["10 minutes"] * 3,
    ...     weights=fl.decay("10 minutes"),
    ... )
    >>> spec.weights
    (1.0, 0.5, 0.25)

    See Also
    --------
    Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, IV.A
    (aging: a weight for each level).

    """
    if has_months("half_life", half_life):
        length = read_units("half_life", half_life)
    else:
        length = read_extent("half_life", half_life)
    return Decay(length.measure, length.value, length.text)
