"""The windowing attribute (WATTR) as whole numbers, so that every cut is exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fanlight.spec.errors import refuse
from fanlight.spec.sliding import Sliding

Kind = Literal["timestamp", "timestamp_ntz", "integer", "double", "rows"]
EXACT_DOUBLE = 2**52  # whole numbers that doubles hold with room for one half


@dataclass(frozen=True)
class Axis:
    """Window extents in coordinates: microseconds, integers, row numbers, or steps of a grid.

    For doubles the coordinate is the number of the grid cell of width ``unit`` that a value lies
    in; cells begin at ``origin``. Everything downstream computes on whole numbers.
    """

    kind: Kind
    range: int
    slide: int
    offset: int = 0
    unit: Fraction = Fraction(1)
    origin: Fraction = Fraction(0)
    ordered_by: Kind | None = None  # what kind of time numbers the rows, where rows are counted

    @property
    def time_kind(self) -> Kind:
        """The kind of the time column itself."""
        return self.ordered_by or self.kind

    @property
    def per_second(self) -> int:
        """Coordinates a second for times; 1 for numbers."""
        return 1_000_000 if self.time_kind in ("timestamp", "timestamp_ntz") else 1


def axis_of(spec: Sliding, time: str, time_type: str) -> Axis:
    """The axis of a spec over a time column of a Spark type; errors name the column."""
    return axes_of([spec], time, time_type)[0]


def axes_of(specs: Sequence[Sliding], time: str, time_type: str) -> list[Axis]:
    """One axis a spec, all in the same coordinates, so that slices of one serve another."""
    kinds = [_kind(spec, time, time_type) for spec in specs]
    if kinds[0] == "double" and specs[0].measure != "rows":
        return _grid(specs)
    return [_axis(spec, kind, time, time_type) for spec, kind in zip(specs, kinds, strict=True)]


def _axis(spec: Sliding, kind: Kind, time: str, time_type: str) -> Axis:
    length, step, start = spec.range.value, spec.slide.value, spec.offset.value
    if spec.measure == "rows":
        return Axis("rows", int(length), int(step), int(start), ordered_by=kind)
    if kind == "integer":
        for argument, value, part in (
            ("range", length, spec.range),
            ("slide", step, spec.slide),
            ("offset", start, spec.offset),
        ):
            if value.denominator != 1:
                raise refuse(
                    f"{argument}={part}",
                    f"is no whole number, but time={time!r} is of type {time_type}",
                    f"round it, or cast {time!r} to double",
                )
    if spec.slide_by_tuple:
        return Axis(kind, int(length), 1)
    return Axis(kind, int(length), int(step), int(start))


def _kind(spec: Sliding, time: str, time_type: str) -> Kind:
    base = time_type.split("(", 1)[0]
    if base in ("timestamp", "timestamp_ntz"):
        if spec.measure in ("time", "rows"):
            return "timestamp" if base == "timestamp" else "timestamp_ntz"
        raise refuse(
            f"range={spec.range}",
            f"is a number, but time={time!r} is a {base}",
            "write a duration such as '4 minutes', or fl.rows(n) to count rows",
        )
    if base in ("tinyint", "smallint", "int", "bigint", "float", "double"):
        if spec.measure in ("number", "rows"):
            return "double" if base in ("float", "double") else "integer"
        raise refuse(
            f"range={spec.range}",
            f"is a duration, but time={time!r} is a number ({base})",
            f"give range and slide as numbers, or turn {time!r} into a timestamp "
            f"(timestamp_seconds, timestamp_micros)",
        )
    raise refuse(
        f"time={time!r}",
        f"is of type {time_type}, which windows cannot slide over",
        "cast it to timestamp, timestamp_ntz, an integer or a double "
        "(a decimal: cast it to double; a date or text: to_timestamp)",
    )


def _grid(specs: Sequence[Sliding]) -> list[Axis]:
    """Cells as wide as can be: every RANGE, SLIDE and shift between offsets is a whole number."""
    origin = specs[0].offset.value
    unit = Fraction(0)
    for spec in specs:
        for part in (spec.range.value, spec.slide.value, spec.offset.value - origin):
            unit = _common(unit, part)
    common = (origin / unit).denominator * unit.numerator
    for spec in specs:
        length, step = int(spec.range.value / unit), int(spec.slide.value / unit)
        if max(common, unit.denominator, length, step) > EXACT_DOUBLE:
            raise refuse(
                f"range={spec.range} with slide={spec.slide}",
                "have a common divisor too small for the precision of doubles",
                "round them to fewer digits",
            )
    return [
        Axis(
            "double",
            int(spec.range.value / unit),
            int(spec.slide.value / unit),
            int((spec.offset.value - origin) / unit),
            unit,
            origin,
        )
        for spec in specs
    ]


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The greatest common divisor of fractions; that of 0 and b is b."""
    return Fraction(
        math.gcd(a.numerator * b.denominator, b.numerator * a.denominator),
        a.denominator * b.denominator,
    )
