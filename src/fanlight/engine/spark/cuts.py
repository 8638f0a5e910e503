"""Cuts in SQL: where slices begin and end."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.engine.plan.cut import Cut
from fanlight.engine.plan.granules import Granules


def slice_start(granules: Granules, t: str) -> str:
    """SQL: the start of the slice that holds ``t``: the latest edge of any series.

    Rows are grouped by it rather than by the slice's number: it takes no division, and Spark's
    hash map spreads it better than small numbers in a row.
    """
    pair = _pair_of_slices(granules, t)
    if pair is not None:
        into, head, _ = pair
        return f"({t} - if({into} >= {head}L, {into} - {head}L, {into}))"
    if granules.edges == ((0, 1),):
        return t
    return pick_extreme("greatest", [f"{t} - {after_edge(t, *edge)}" for edge in granules.edges])


def slice_end(granules: Granules, t: str) -> str:
    """SQL: the end of the slice that holds ``t``: the next edge of any series."""
    pair = _pair_of_slices(granules, t)
    if pair is not None:
        into, head, every = pair
        return f"({t} - {into} + if({into} >= {head}L, {every}L, {head}L))"
    return pick_extreme(
        "least", [f"{t} + {edge[1]}L - {after_edge(t, *edge)}" for edge in granules.edges]
    )


def _pair_of_slices(granules: Granules, t: str) -> tuple[str, int, int] | None:
    """SQL of how far ``t`` is into its pair of slices, and the lengths of the first and of both.

    Two series of edges with the same period take one division so; None for all others.
    """
    if len(granules.edges) != 2 or granules.edges[0][1] != granules.edges[1][1]:
        return None
    (first, every), (second, _) = granules.edges
    return after_edge(t, first, every), second - first, every


def after_edge(t: str, first: int, every: int) -> str:
    """SQL: how far a coordinate is after the latest edge of one series."""
    return f"pmod({from_origin(t, first)}, {every}L)"


def from_origin(t: str, origin: int) -> str:
    """SQL: a coordinate relative to an origin."""
    return f"({t} - {origin}L)" if origin else t


def pick_extreme(word: str, parts: Sequence[str]) -> str:
    """SQL: the greatest or least of several expressions; a single one unchanged."""
    return f"({parts[0]})" if len(parts) == 1 else f"{word}({', '.join(parts)})"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    grid = cut.grid
    place = from_origin(start, grid.offset)
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({place}, {grid.slide}L)"
        return f"(2L * (({place} - {rest}) div {grid.slide}L) + if({rest} = 0L, 0L, 1L))"
    return place if cut.head == 1 else f"({place} div {cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: the start of the slice with this number."""
    offset = f" + {cut.grid.offset}L" if cut.grid.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.grid.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"
