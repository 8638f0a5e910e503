"""Arguments of pictures, checked before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fanlight.engine.spec.errors import refuse


def check_title(given: Any) -> str | None:
    """A heading, or none."""
    if given is not None and not isinstance(given, str):
        raise refuse(f"title={given!r}", "is no text", "write for example title='Calls'")
    return given


def check_count(argument: str, given: Any, least: int, what: str) -> int:
    """A number of things to draw."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise refuse(f"{argument}={given!r}", "is not a whole number", f"write {argument}=1000")
    if given < least:
        raise refuse(
            f"{argument}={given}", f"is too few {what}", f"write {argument}={least} or more"
        )
    return min(given, 10**9)


def check_number(argument: str, given: Any) -> float | None:
    """A number that can be drawn, or none."""
    if given is None:
        return None
    known = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not known or (isinstance(given, float) and not math.isfinite(given)) or abs(given) > 1e300:
        raise refuse(f"{argument}={given!r}", "is not a number", f"write {argument}=0")
    return float(given)


def check_names(argument: str, given: Any) -> list[str]:
    """One name or several."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise refuse(f"{argument}={given!r}", "names no columns", f"write {argument}=['key']")
    return list(given)


def check_pair(argument: str, given: Any) -> tuple[str, str]:
    """Two names."""
    known = isinstance(given, (tuple, list)) and len(given) == 2
    if not known or not all(isinstance(name, str) for name in given):
        raise refuse(
            f"{argument}={given!r}", "is not a pair of columns", f"write {argument}=('from', 'to')"
        )
    return given[0], given[1]
