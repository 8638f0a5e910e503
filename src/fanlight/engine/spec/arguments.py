"""Arguments that are one of a few values, texts, or lists of names."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.spec.errors import refuse


def check_flag(argument: str, given: object) -> bool:
    """True or False, and nothing that is taken for one of them."""
    if not isinstance(given, bool):
        raise refuse(f"{argument}={given!r}", "is not a flag", "write True or False")
    return given


def check_choice(argument: str, given: object, allowed: Sequence[str], what: str) -> str:
    """One of the words that an argument may be; ``what`` they are, in the singular."""
    if not isinstance(given, str) or given not in allowed:
        words = " or ".join(map(repr, allowed))
        raise refuse(f"{argument}={given!r}", f"is not {what}", f"write {argument}={words}")
    return given


def check_text(argument: str, given: object, example: str) -> str:
    """A text; half of a surrogate pair is none, since nothing can be sent with it."""
    if not isinstance(given, str):
        why = f"is of type {type(given).__name__}, not text"
        raise refuse(f"{argument}={given!r}", why, f"write for example {example}")
    if any("\ud800" <= letter <= "\udfff" for letter in given):
        raise refuse(f"{argument}={given!r}", "is not valid Unicode", f"write {example}")
    return given


def read_names(argument: str, given: object, example: str) -> tuple[str, ...]:
    """Names, in a list or a tuple; a single one may stand alone."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, (list, tuple)) or not all(isinstance(name, str) for name in listed):
        raise refuse(f"{argument}={given!r}", "is not a list of names", f"write {example}")
    return tuple(listed)
