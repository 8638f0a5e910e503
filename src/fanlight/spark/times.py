"""The windowing attribute as whole numbers in SQL, and back; never through a time zone."""

from __future__ import annotations

from fractions import Fraction

from fanlight.plan.axis import EXACT_DOUBLE, Axis
from fanlight.plan.cut import Cut

_EPOCH_NTZ = "timestamp_ntz'1970-01-01 00:00:00'"
_LIMIT = 2**62


def coordinate(axis: Axis, column: str) -> str:
    """SQL: the whole-number coordinate of a value of the time column."""
    if axis.time_kind == "timestamp":
        return f"unix_micros({column})"
    if axis.time_kind == "timestamp_ntz":
        # A cast to timestamp, as unix_micros does it, would go through the session's time zone.
        return f"cast(cast({column} - {_EPOCH_NTZ} as decimal(20,6)) * 1000000 as bigint)"
    if axis.kind == "rows" and axis.time_kind == "double":
        return f"cast({column} as double)"  # rows are only put in order by it
    if axis.kind == "double":
        # The quotient may be off by its last bit, so the cell is checked against its boundaries.
        guess = f"struct(cast(floor({_ratio(axis, column)}) as bigint) as c, {column} as x)"
        below, above = boundary(axis, "p.c"), boundary(axis, "p.c + 1L")
        checked = f"if(p.x < {below}, p.c - 1L, if(p.x >= {above}, p.c + 1L, p.c))"
        return f"transform(array({guess}), p -> {checked})[0]"
    return f"cast({column} as bigint)"


def _ratio(axis: Axis, column: str) -> str:
    """(x - origin) / unit, in doubles."""
    shift, scale = axis.origin, axis.unit
    moved = (
        f"(cast({column} as double) - {float(shift)!r}D)" if shift else f"cast({column} as double)"
    )
    return f"({moved} * {scale.denominator}D / {scale.numerator}D)"


def boundary(axis: Axis, number: str) -> str:
    """SQL: the double nearest to ``origin + number * unit``; whole numbers up to one division."""
    common = Fraction(axis.unit.denominator * axis.origin.denominator)
    per_cell, shift = axis.unit * common, axis.origin * common
    moved = f" + {int(shift)}L" if shift else ""
    return f"(cast(({number}) * {int(per_cell)}L{moved} as double) / {int(common)}D)"


def restored(axis: Axis, number: str) -> str:
    """SQL: a coordinate as a value of the windowing attribute's type."""
    if axis.kind == "timestamp":
        return f"timestamp_micros({number})"
    if axis.kind == "timestamp_ntz":
        return f"({_EPOCH_NTZ} + ({number}) * interval '0.000001' second)"
    if axis.kind == "double":
        return boundary(axis, number)
    return f"({number})"


def rejections(axis: Axis, name: str, column: str) -> list[tuple[str, str]]:
    """(SQL condition, reason): which rows cannot be placed on the axis, null ones first."""
    found = [(f"{column} is null", f"{name} is null")]
    if axis.time_kind == "double":
        found.append((f"isnan({column})", f"{name} is NaN"))
    if axis.kind == "double":
        limit = float(EXACT_DOUBLE * axis.unit / 2)
        far = f"abs(cast({column} as double)) >= {limit!r}D"
        found.append((far, f"{name} is too large for windows this small"))
    if axis.time_kind in ("integer", "timestamp"):
        number = coordinate(axis, column)
        far = f"{number} >= {_LIMIT}L or {number} <= -{_LIMIT}L"
        found.append((far, f"{name} is out of range"))
    return found


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
        width = f"if({into} >= {cut.head}L, {cut.axis.slide}L, {cut.head}L)"
        return f"({t} - {into} + {width})"
    return f"({t} - {into} + {cut.axis.range if cut.span == 1 else cut.head}L)"


def slice_number(cut: Cut, start: str) -> str:
    """SQL: the number of the slice that begins at ``start``."""
    axis = cut.axis
    moved = f"({start} - {axis.offset}L)" if axis.offset else start
    if cut.technique == "pairs" and cut.span > 1:
        rest = f"pmod({moved}, {axis.slide}L)"
        return f"(2L * (({moved} - {rest}) div {axis.slide}L) + if({rest} = 0L, 0L, 1L))"
    return moved if cut.head == 1 else f"({moved} div {cut.head}L)"


def _into(cut: Cut, t: str) -> str:
    """SQL: how far ``t`` lies behind the start of its slice; of its pair, where cut in pairs."""
    moved = f"({t} - {cut.axis.offset}L)" if cut.axis.offset else t
    paired = cut.technique == "pairs" and cut.span > 1
    return f"pmod({moved}, {cut.axis.slide if paired else cut.head}L)"


def slice_begin(cut: Cut, number: str) -> str:
    """SQL: where the slice of a number begins."""
    offset = f" + {cut.axis.offset}L" if cut.axis.offset else ""
    if cut.technique == "pairs" and cut.span > 1:
        second = f"if(pmod({number}, 2L) = 0L, 0L, {cut.head}L)"
        return f"(shiftright({number}, 1) * {cut.axis.slide}L + {second}{offset})"
    return f"({number} * {cut.head}L{offset})"


def in_window(cut: Cut, t: str) -> str | None:
    """SQL: whether ``t`` lies in some window; None where every coordinate does."""
    if not cut.gaps:
        return None
    moved = f"({t} - {cut.axis.offset}L)" if cut.axis.offset else t
    return f"pmod({moved}, {cut.axis.slide}L) < {cut.axis.range}L"


def window_start(cut: Cut, last_slice: str) -> str:
    """SQL: the start coordinate of the window whose last slice is given."""
    axis = cut.axis
    number = f"({last_slice} - {cut.span - 1}L)" if cut.span > 1 else last_slice
    number = f"({number} div {cut.step}L)" if cut.step > 1 else number
    offset = f" + {axis.offset}L" if axis.offset else ""
    return f"({number} * {axis.slide}L{offset})"
