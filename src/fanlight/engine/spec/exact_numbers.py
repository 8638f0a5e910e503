"""Numbers of a user's, read as exact fractions of what was written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fanlight.engine.spec.errors import refuse


def read_exact(about: str, given: Any, example: str) -> Fraction:
    """Read a finite number: 0.1 is one tenth, as its writer meant, not the double next to it."""
    if isinstance(given, bool) or not isinstance(given, (int, float, Decimal, Fraction)):
        raise refuse(about, "is not a number", f"write for example {example}")
    finite = given.is_finite() if isinstance(given, Decimal) else True
    if not finite or (isinstance(given, float) and not math.isfinite(given)):
        raise refuse(about, "is not a finite number", f"write for example {example}")
    return Fraction(str(float(given)) if isinstance(given, float) else given)


def read_positive(about: str, given: Any, example: str, *, what: str = "") -> Fraction:
    """Read a number above zero; ``what`` says in the error what is to be positive, if given."""
    number = read_exact(about, given, example)
    if number <= 0:
        why = f"has a {what} that is not positive" if what else "is not positive"
        raise refuse(about, why, f"write for example {example}")
    return number


def read_increasing(about: str, given: Sequence[Any]) -> tuple[Fraction, ...]:
    """Read break points, each greater than the one before."""
    if not given:
        raise refuse(about, "lists no break point", "list one or more")
    points = tuple(read_exact(about, value, "[0, 10, 25]") for value in given)
    for lower, upper, shown in zip(points, points[1:], given[1:], strict=False):
        if lower >= upper:
            raise refuse(
                about,
                f"repeats {shown!r} or is not in order",
                "list break points in increasing order, each once",
            )
    return points
