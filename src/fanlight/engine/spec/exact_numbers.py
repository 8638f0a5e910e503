"""Numbers that a user gave, as exact fractions of what was written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fanlight.engine.spec.errors import refuse

Share = float | Decimal | Fraction


def read_exact(about: str, given: Any, example: str) -> Fraction:
    """A finite number; 0.1 means one tenth to whoever wrote it, not the double next to it."""
    if isinstance(given, bool) or not isinstance(given, (int, float, Decimal, Fraction)):
        raise refuse(about, "is not a number", f"write for example {example}")
    finite = given.is_finite() if isinstance(given, Decimal) else True
    if not finite or (isinstance(given, float) and not math.isfinite(given)):
        raise refuse(about, "is not a finite number", f"write for example {example}")
    return Fraction(str(float(given)) if isinstance(given, float) else given)


def read_positive(about: str, given: Any, example: str, *, what: str = "") -> Fraction:
    """A number above zero."""
    found = read_exact(about, given, example)
    if found <= 0:
        why = f"has a {what} that is not positive" if what else "is not positive"
        raise refuse(about, why, f"write for example {example}")
    return found


def read_increasing(about: str, given: Sequence[Any]) -> tuple[Fraction, ...]:
    """Break points, each greater than the one before."""
    if not given:
        raise refuse(about, "lists no break point", "list one or more")
    found = tuple(read_exact(about, value, "[0, 10, 25]") for value in given)
    for lower, upper, shown in zip(found, found[1:], given[1:], strict=False):
        if lower >= upper:
            raise refuse(
                about,
                f"repeats {shown!r} or is not in order",
                "list break points in increasing order, each once",
            )
    return found
