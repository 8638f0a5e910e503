"""Slices in SQL: where they begin and end, and the windows that are made of them."""

from __future__ import annotations

from fanlight.plan.cut import Cut


def slice_start(cut: Cut, t: str) -> str:
    """SQL: where the slice that coordinate ``t`` lies in begins.

    Rows are grouped by it rather than by the slice's number: it takes no division, and Spark's
    hash map spreads it better than small numbers in a row.
    """
    into = _into(cut, t)
    if cut.technique == "pairs" and cut.span > 1:
        return f"({t} - if({into} >= {cut.head}L, {into} - {cut.head}L, {into}))"
    return t if cut.head == 1 else f"({t} - {into})"


def slice_end(cut: Cut, t: str) -> str:
    """SQL: where the slice that coordinate ``t`` lies in ends."""
    into = _into(cut, t)
    if cut.technique == "pairs" and cut.span > 1:
        width = f"if({into} >= {cut.head}L, {cut.grid.slide}L, {cut.head}L)"
        return f"({t} - {into} + {width})"
    return f"({t} - {into} + {cut.grid.range if cut.span == 1 else cut.head}L)"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    grid = cut.grid
    moved = f"({start} - {grid.offset}L)" if grid.offset else start
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({moved}, {grid.slide}L)"
        return f"(2L * (({moved} - {rest}) div {grid.slide}L) + if({rest} = 0L, 0L, 1L))"
    return moved if cut.head == 1 else f"({moved} div {cut.head}L)"


def _into(cut: Cut, t: str) -> str:
    """SQL: how far ``t`` lies behind the start of its slice; of its pair, where cut in pairs."""
    moved = f"({t} - {cut.grid.offset}L)" if cut.grid.offset else t
    paired = cut.technique == "pairs" and cut.span > 1
    return f"pmod({moved}, {cut.grid.slide if paired else cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: where the slice of a number begins."""
    offset = f" + {cut.grid.offset}L" if cut.grid.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.grid.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"


def in_window(cut: Cut, t: str) -> str | None:
    """SQL: whether ``t`` lies in some window; None where every coordinate does."""
    if not cut.gaps:
        return None
    moved = f"({t} - {cut.grid.offset}L)" if cut.grid.offset else t
    return f"pmod({moved}, {cut.grid.slide}L) < {cut.grid.range}L"


def window_start(cut: Cut, last_slice: str) -> str:
    """SQL: the start coordinate of the window whose last slice is given."""
    grid = cut.grid
    number = f"({last_slice} - {cut.span - 1}L)" if cut.span > 1 else last_slice
    number = f"({number} div {cut.step}L)" if cut.step > 1 else number
    offset = f" + {grid.offset}L" if grid.offset else ""
    return f"({number} * {grid.slide}L{offset})"
