"""Arguments that are one of a few values, texts, or lists of names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar, cast

from fanlight.engine.spec.errors import refuse

C = TypeVar("C", bound=str)


def check_flag(argument: str, given: object) -> bool:
    """Return ``given`` if it is True or False; what merely counts as one of them is refused."""
    if not isinstance(given, bool):
        raise refuse(f"{argument}={given!r}", "is neither True nor False", "write True or False")
    return given


def check_choice(argument: str, given: object, allowed: Sequence[C], what: str) -> C:
    """Return ``given`` if it is one of the ``allowed`` words; errors say it is not ``what``."""
    if not isinstance(given, str) or given not in allowed:
        words = " or ".join(map(repr, allowed))
        raise refuse(f"{argument}={given!r}", f"is not {what}", f"write {argument}={words}")
    return cast("C", given)


def check_text(argument: str, given: object, example: str) -> str:
    """Return ``given`` if it is a string of valid Unicode; half a surrogate pair is not."""
    if not isinstance(given, str):
        why = f"is of type {type(given).__name__}, not text"
        raise refuse(f"{argument}={given!r}", why, f"write for example {example}")
    if any("\ud800" <= letter <= "\udfff" for letter in given):
        raise refuse(f"{argument}={given!r}", "is not valid Unicode", f"write {example}")
    return given


def read_names(argument: str, given: object, example: str) -> tuple[str, ...]:
    """Read a list or tuple of names; a single name may be given without a list."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, (list, tuple)) or not all(isinstance(name, str) for name in several):
        raise refuse(f"{argument}={given!r}", "is not a list of names", f"write {example}")
    return tuple(several)


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
