"""Checks of the arguments of pictures, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fanlight.engine.spec.errors import refuse


def check_title(given: Any) -> str | None:
    """The title, which must be text, or None."""
    if given is not None and not isinstance(given, str):
        raise refuse(f"title={given!r}", "is not a text", "write for example title='Calls'")
    return given


def check_count(argument: str, given: Any, least: int, what: str) -> int:
    """How many things to draw: a whole number of at least ``least``."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise refuse(f"{argument}={given!r}", "is not a whole number", f"write {argument}=1000")
    if given < least:
        raise refuse(
            f"{argument}={given}", f"is too few {what}", f"write {argument}={least} or more"
        )
    return min(given, 10**9)


def check_number(argument: str, given: Any) -> float | None:
    """A finite number as a double, or None."""
    if given is None:
        return None
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if (
        not is_number
        or (isinstance(given, float) and not math.isfinite(given))
        or abs(given) > 1e300
    ):
        raise refuse(f"{argument}={given!r}", "is not a finite number", f"write {argument}=0")
    return float(given)


def check_names(argument: str, given: Any) -> list[str]:
    """The names of columns as a list; one may be given as text."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise refuse(f"{argument}={given!r}", "names no columns", f"write {argument}=['key']")
    return list(given)


def check_pair(argument: str, given: Any) -> tuple[str, str]:
    """The names of two columns."""
    is_pair = isinstance(given, (tuple, list)) and len(given) == 2
    if not is_pair or not all(isinstance(name, str) for name in given):
        raise refuse(
            f"{argument}={given!r}", "is not a pair of columns", f"write {argument}=('from', 'to')"
        )
    return given[0], given[1]
