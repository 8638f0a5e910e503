"""Arguments that are one of a few values, texts, or lists of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

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
