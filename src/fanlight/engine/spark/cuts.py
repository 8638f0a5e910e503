"""Cuts in SQL: where slices begin and end, and which windows they are in."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import Granules, edges_of
from fanlight.engine.plan.grid import Grid


def slice_start(granules: Granules, t: str) -> str:
    """SQL: where the slice that ``t`` lies in begins: at the latest edge of any series.

    Rows are grouped by it rather than by the slice's number: it takes no division, and Spark's
    hash map spreads it better than small numbers in a row.
    """
    pair = _pair(granules, t)
    if pair is not None:
        into, head, _ = pair
        return f"({t} - if({into} >= {head}L, {into} - {head}L, {into}))"
    if granules.edges == ((0, 1),):
        return t
    return _extreme("greatest", [f"{t} - {_since(t, *edge)}" for edge in granules.edges])


def slice_end(granules: Granules, t: str) -> str:
    """SQL: where the slice that ``t`` lies in ends: at the next edge of any series."""
    pair = _pair(granules, t)
    if pair is not None:
        into, head, every = pair
        return f"({t} - {into} + if({into} >= {head}L, {every}L, {head}L))"
    return _extreme("least", [f"{t} + {edge[1]}L - {_since(t, *edge)}" for edge in granules.edges])


def first_end(grids: Sequence[Grid], t: str) -> str:
    """SQL: where the first window ends that ``t`` lies in, of all grids; null if it is in none."""
    if not any(grid.gaps for grid in grids):
        return slice_end(edges_of(grids, starts=False), t)
    ends = []
    for grid in grids:
        end, test = slice_end(edges_of([grid], starts=False), t), in_window(grid, t)
        ends.append(end if test is None else f"if({test}, {end}, null)")
    return _extreme("least", ends)


def _pair(granules: Granules, t: str) -> tuple[str, int, int] | None:
    """How far ``t`` is into its pair of slices, the length of the first one, that of both.

    So edges of two series that are equally far apart take one division; None for all others.
    """
    if len(granules.edges) != 2 or granules.edges[0][1] != granules.edges[1][1]:
        return None
    (first, every), (second, _) = granules.edges
    return _since(t, first, every), second - first, every


def _since(t: str, first: int, every: int) -> str:
    moved = f"({t} - {first}L)" if first else t
    return f"pmod({moved}, {every}L)"


def _extreme(word: str, parts: Sequence[str]) -> str:
    return f"({parts[0]})" if len(parts) == 1 else f"{word}({', '.join(parts)})"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    grid = cut.grid
    moved = f"({start} - {grid.offset}L)" if grid.offset else start
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({moved}, {grid.slide}L)"
        return f"(2L * (({moved} - {rest}) div {grid.slide}L) + if({rest} = 0L, 0L, 1L))"
    return moved if cut.head == 1 else f"({moved} div {cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: where the slice of a number begins."""
    offset = f" + {cut.grid.offset}L" if cut.grid.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.grid.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"


def in_window(grid: Grid, t: str) -> str | None:
    """SQL: whether ``t`` lies in some window; None where every coordinate does."""
    if not grid.gaps:
        return None
    moved = f"({t} - {grid.offset}L)" if grid.offset else t
    return f"pmod({moved}, {grid.slide}L) < {grid.range}L"


def window_start(cut: Cut, last_slice: str) -> str:
    """SQL: the start coordinate of the window whose last slice is given."""
    grid = cut.grid
    number = f"({last_slice} - {cut.span - 1}L)" if cut.span > 1 else last_slice
    number = f"({number} div {cut.step}L)" if cut.step > 1 else number
    offset = f" + {grid.offset}L" if grid.offset else ""
    return f"({number} * {grid.slide}L{offset})"


def window_starts(grid: Grid, t: str) -> str:
    """SQL: the start coordinates of all windows that coordinate ``t`` lies in."""
    if grid.slide >= grid.range:
        return f"array({last_start(grid, t)})"
    return f"sequence({first_start(grid, t)}, {last_start(grid, t)}, {grid.slide}L)"


def first_start(grid: Grid, t: str) -> str:
    """SQL: where the first window begins that ends after coordinate ``t``."""
    moved = f"({t} - {grid.offset}L)" if grid.offset else t
    return f"({t} - {grid.range - 1}L + pmod({grid.range - 1}L - {moved}, {grid.slide}L))"


def last_start(grid: Grid, t: str) -> str:
    """SQL: where the last window begins that begins at or before coordinate ``t``."""
    moved = f"({t} - {grid.offset}L)" if grid.offset else t
    return f"({t} - pmod({moved}, {grid.slide}L))"


def by_query(values: Sequence[int], query: str = "query") -> str:
    """SQL: the value of the query that a row belongs to."""
    if len(set(values)) == 1:
        return f"{values[0]}L"
    return f"array({', '.join(f'{value}L' for value in values)})[{query}]"
