"""Pieces copied to their windows: a roll-up that batch and stream share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame

from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.grids import next_start, window_end, window_starts

More = Callable[[str, int, str], Sequence[str]]


def copied(
    bound: Placed,
    pieces: DataFrame,
    last: str,
    names: Sequence[str],
    more: More | None = None,
    *,
    ahead: int = 0,
) -> DataFrame:
    """Each piece copied to each of its windows: keys, ``names``, ``query``, ``start``, ``more``.

    ``last`` is the piece's last coordinate. ``ahead`` adds the first window that begins after it.
    ``more`` gives further fields of a copy (names and values, as SQL) for a window's start, the
    number of its query, and its end.
    """
    if not bound.which and more is None:
        found = window_starts(bound.grid, last)
        return pieces.selectExpr(*bound.keys, *names, f"explode({found}) as start")
    arrays = []
    for number, grid in enumerate(bound.grids):
        each = window_starts(grid, last)
        if grid.gaps:
            each = f"filter({each}, w -> {last} < {window_end(grid, 'w')})"
        if ahead:
            each = f"concat({each}, array({next_start(grid, f'element_at({each}, -1)')}))"
        parts = [f"'query', {number}", "'start', w"]
        parts += more("w", number, f"({window_end(grid, 'w')})") if more else ()
        arrays.append(f"transform({each}, w -> named_struct({', '.join(parts)}))")
    found = arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
    return pieces.selectExpr(*bound.keys, *names, f"inline({found})")
