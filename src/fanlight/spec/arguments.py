"""Arguments that are one of a few values."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.spec.errors import refuse


def flag(argument: str, given: object) -> bool:
    """True or False, and nothing that is taken for one of them."""
    if not isinstance(given, bool):
        raise refuse(f"{argument}={given!r}", "is not a flag", "write True or False")
    return given


def choice(argument: str, given: object, allowed: Sequence[str], what: str) -> str:
    """One of the words that an argument may be; ``what`` they are, in the singular."""
    if not isinstance(given, str) or given not in allowed:
        words = " or ".join(map(repr, allowed))
        raise refuse(f"{argument}={given!r}", f"is not {what}", f"write {argument}={words}")
    return given
