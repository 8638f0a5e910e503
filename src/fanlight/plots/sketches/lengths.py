"""Lengths and positions on an axis, written as a user would write them."""

from __future__ import annotations

from fractions import Fraction

from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.units import HOURS, Measure, write_duration, write_units


def spell_length(value: Fraction, measure: Measure) -> str:
    """A length, or a position on an axis, in words.

    >>> spell_length(Fraction(60_000_000), "time"), spell_length(Fraction(1, 2), "number")
    ('1 minute', '0.5')
    >>> spell_length(Fraction(1), "rows"), spell_length(Fraction(0), "time")
    ('1 row', '0')
    >>> spell_length(Fraction(3), "months"), spell_length(Fraction(48), "hours")
    ('3 months', '2 days')
    """
    if value == 0:
        return "0"
    if measure == "time":
        return write_duration(int(value))
    if measure == "months" and value % 12:  # not in quarters, between months on an axis
        return f"{int(value)} month" + ("" if abs(value) == 1 else "s")
    if measure in ("months", "hours"):
        return write_units(int(value), in_months=measure == "months")
    plain = f"{int(value):,}" if value.denominator == 1 else f"{float(value):g}"
    if measure == "rows":
        return f"{plain} row" + ("" if abs(value) == 1 else "s")
    return plain


def drawn_length(spec: Sliding) -> Fraction:
    """RANGE in the measure of SLIDE: of months that slide by days, of 30 days each."""
    months = spec.measure == "months" and spec.slide.measure == "hours"
    return spec.range.value * 30 * HOURS["day"] if months else spec.range.value
