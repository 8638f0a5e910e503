"""Columns of Spark's own aggregates and windows, as fanlight writes them: for error messages."""

from __future__ import annotations

import re
from typing import Any

from fanlight.algebra.registry import AGGREGATES
from fanlight.algebra.unknown import ALSO

_CALL = re.compile(r"Column<'(\w+)\((.*)\)'>")
_TEXT = re.compile(r"'([^']+)'")


def aggregate(column: Any) -> str | None:
    """An aggregate of Spark's, such as ``F.max("price")``; None if fanlight has no such."""
    call = _CALL.fullmatch(str(column))
    name = call[1].casefold() if call else ""
    name = ALSO.get(name, name)
    if call is None or name not in AGGREGATES:
        return None
    columns = [] if call[2] in ("1", "*") else call[2].split(", ")
    return f"agg.{name}({', '.join(map(repr, columns))})"


def windows(column: Any) -> str | None:
    """``F.window(…)`` or ``F.session_window(…)``; None of any other Column."""
    call = _CALL.fullmatch(str(column))
    if call is None or call[1] not in ("window", "session_window"):
        return None
    time, _, rest = call[2].partition(", ")
    lengths = _TEXT.findall(rest)
    if call[1] == "session_window":
        spec = f"fl.Session({lengths[0]!r})" if lengths else "fl.Session(gap)"
    else:
        length, slide, start = [*lengths, *[""] * 3][:3]
        spec = repr(length or "1 hour")
        spec += f", {slide!r}" if slide not in ("", length) else ""
        spec += f", offset={start!r}" if start and not start.startswith("0 ") else ""
        spec = f"fl.Sliding({spec})"
    return f"fl.over(df, {spec}, time={time!r})"
