"""A place in an order, as an argument."""

from __future__ import annotations

from typing import Any

from fanlight.spec.errors import refuse


def position(name: str, n: Any) -> int:
    """The argument ``n`` of the aggregate ``name``, checked: 1 is the first place."""
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 100_000:
        raise refuse(
            f"{name}(n={n!r})",
            "is not a position from 1 to 100000",
            f"write for example {name}(column, 3)",
        )
    return n
