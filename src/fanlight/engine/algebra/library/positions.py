"""Arguments of aggregates that are a place in an order, or a number of values."""

from __future__ import annotations

from typing import Any

from fanlight.engine.algebra.collections import MOST
from fanlight.engine.spec.errors import refuse


def check_position(name: str, n: Any, argument: str = "n") -> int:
    """Return an argument of the aggregate ``name`` if it is a place; 1 is the first."""
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MOST:
        raise refuse(
            f"{name}({argument}={n!r})",
            f"is not a position from 1 to {MOST}",
            f"write for example {name}(column, 3)",
        )
    return n
