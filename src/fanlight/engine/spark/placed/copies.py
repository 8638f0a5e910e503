"""Copies pieces to their windows: a roll-up that batch and stream share."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fanlight.engine.algebra.sql_text import struct
from fanlight.engine.spark.binding.placed import Placed
from fanlight.engine.spark.grids import next_existing, window_end, window_starts
from fanlight.engine.spark.relation import Relation

More = Callable[[str, int, str], Mapping[str, str]]


def copy_pieces(
    bound: Placed, pieces: Relation, last: str, more: More | None = None, *, ahead: int = 0
) -> Relation:
    """Copy each piece to each of its windows: place ``query`` (of several) and ``start``.

    ``last`` is the piece's last coordinate. ``ahead`` adds the first window that begins after it.
    ``more`` gives further columns of a copy, as SQL, for a window's start, the number of its query,
    and its end. They are in the place of the copies, and so are the columns of the piece's own.
    """
    if not bound.query_columns and more is None:
        starts = f"explode({window_starts(bound.grid, last)}) as start"
        return pieces.with_places(starts, place=["start"])
    arrays, names = [], ["query", "start"]
    for number, grid in enumerate(bound.grids):
        each = window_starts(grid, last)
        if grid.has_gaps:
            each = f"filter({each}, w -> {last} < {window_end(grid, 'w')})"
        if ahead:
            each = f"concat({each}, array({next_existing(grid, f'element_at({each}, -1)')}))"
        made = {"query": str(number), "start": "w"}
        made |= more("w", number, f"({window_end(grid, 'w')})") if more else {}
        names = list(made)
        arrays.append(f"transform({each}, w -> {struct(made.items())})")
    windows = arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
    own = pieces.place if more else ()
    return pieces.with_places(*own, f"inline({windows})", place=[*own, *names])
