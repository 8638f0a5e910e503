"""Values as Spark orders, counts and adds them, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_nan(value: Any) -> bool:
    """Whether a value is the double that is not a number."""
    return isinstance(value, float) and math.isnan(value)


def is_finite(value: Any) -> bool:
    """Whether a number is neither NaN nor infinite."""
    return not isinstance(value, float) or math.isfinite(value)


def rank(value: Any) -> tuple[Any, ...]:
    """Where a value stands in Spark's order: null, then all numbers, then NaN.

    Text is compared by its UTF-8 bytes, structs field by field. Two values are the same to Spark
    where their ranks are equal: NaN is NaN, and -0.0 is 0.0.

    >>> sorted([2.0, float("nan"), None, -1.0], key=rank)
    [None, -1.0, 2.0, nan]
    """
    if value is None:
        return (0, 0)
    if is_nan(value):
        return (2, 0)
    if isinstance(value, str):
        return (1, value.encode())
    if isinstance(value, Mapping):
        return (1, tuple(rank(part) for part in value.values()))
    if isinstance(value, (tuple, list)):
        return (1, tuple(rank(part) for part in value))
    return (1, value)


def tallies(values: Iterable[Any]) -> list[tuple[Any, int]]:
    """Each distinct value with how often it occurs, in order; nulls left out.

    >>> tallies([3, 1, None, 3])
    [(1, 1), (3, 2)]
    """
    kept = sorted((value for value in values if value is not None), key=rank)
    found: list[tuple[Any, int]] = []
    for value in kept:
        if found and rank(found[-1][0]) == rank(value):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((value, 1))
    return found


def total(values: Sequence[Any]) -> Any:
    """The sum of numbers: exact for integers and decimals, compensated for doubles.

    Infinities of both signs add up to NaN, as in IEEE arithmetic.

    >>> total([1e16, 1.0, -1e16]), total([2**62, 1]), total([Decimal("0.1")] * 3)
    (1.0, 4611686018427387905, Decimal('0.3'))
    """
    if isinstance(values[0], Decimal):
        scale = max(digits(value) for value in values)
        return rounded(sum((Fraction(value) for value in values), Fraction(0)), scale)
    if isinstance(values[0], int):
        return sum(values)
    odd = {value for value in values if not math.isfinite(value)}
    if not odd:
        return math.fsum(values)
    return odd.pop() if len(odd) == 1 else math.nan


def digits(value: Decimal) -> int:
    """How many decimals a decimal is written with."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def rounded(value: Fraction, scale: int) -> Decimal:
    """A decimal with ``scale`` digits after the point, halves rounded away from zero.

    >>> rounded(Fraction(-1, 8), 2)
    Decimal('-0.13')
    """
    whole, rest = divmod(abs(value) * 10**scale, 1)
    count = int(whole) + (rest >= Fraction(1, 2))
    sign = 1 if value < 0 else 0
    return Decimal((sign, tuple(int(digit) for digit in str(count)), -scale))


def exact(values: Iterable[Any]) -> list[Fraction] | None:
    """Numbers as fractions; None if one of them is NaN or infinite."""
    kept = list(values)
    return [Fraction(value) for value in kept] if all(map(is_finite, kept)) else None


def instant(value: Any) -> Any:
    """A time as a number: datetimes in microseconds since 1970 (naive ones are taken as UTC).

    >>> instant(datetime(1969, 12, 31, 23, 59, 59)), instant(7)
    (-1000000, 7)
    """
    if not isinstance(value, datetime):
        return value
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    apart = aware - EPOCH
    return (apart.days * 86_400 + apart.seconds) * 1_000_000 + apart.microseconds
