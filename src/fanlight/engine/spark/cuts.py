"""Cuts in SQL: where slices begin and end."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import Granules


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
    return extreme("greatest", [f"{t} - {since(t, *edge)}" for edge in granules.edges])


def slice_end(granules: Granules, t: str) -> str:
    """SQL: where the slice that ``t`` lies in ends: at the next edge of any series."""
    pair = _pair(granules, t)
    if pair is not None:
        into, head, every = pair
        return f"({t} - {into} + if({into} >= {head}L, {every}L, {head}L))"
    return extreme("least", [f"{t} + {edge[1]}L - {since(t, *edge)}" for edge in granules.edges])


def _pair(granules: Granules, t: str) -> tuple[str, int, int] | None:
    """How far ``t`` is into its pair of slices, the length of the first one, that of both.

    So edges of two series that are equally far apart take one division; None for all others.
    """
    if len(granules.edges) != 2 or granules.edges[0][1] != granules.edges[1][1]:
        return None
    (first, every), (second, _) = granules.edges
    return since(t, first, every), second - first, every


def since(t: str, first: int, every: int) -> str:
    """SQL: how far a coordinate is after the latest edge of a series of equal lengths."""
    return f"pmod({moved(t, first)}, {every}L)"


def moved(t: str, origin: int) -> str:
    """SQL: a coordinate, counted from an origin."""
    return f"({t} - {origin}L)" if origin else t


def extreme(word: str, parts: Sequence[str]) -> str:
    """SQL: the greatest or least of several; one alone as it is."""
    return f"({parts[0]})" if len(parts) == 1 else f"{word}({', '.join(parts)})"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    grid = cut.grid
    place = moved(start, grid.offset)
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({place}, {grid.slide}L)"
        return f"(2L * (({place} - {rest}) div {grid.slide}L) + if({rest} = 0L, 0L, 1L))"
    return place if cut.head == 1 else f"({place} div {cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: where the slice of a number begins."""
    offset = f" + {cut.grid.offset}L" if cut.grid.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.grid.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"
