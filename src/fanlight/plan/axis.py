"""The windowing attribute (WATTR) as whole numbers, so that every cut is exact."""

from __future__ import annotations

import math
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
    length, step, start = spec.range.value, spec.slide.value, spec.offset.value
    kind = _kind(spec, time, time_type)
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
    if kind == "double":
        return _grid(spec, length, step, start)
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


def _grid(spec: Sliding, length: Fraction, step: Fraction, start: Fraction) -> Axis:
    unit = Fraction(
        math.gcd(length.numerator * step.denominator, step.numerator * length.denominator),
        length.denominator * step.denominator,
    )
    common = (start / unit).denominator * unit.numerator
    cells = (common, unit.denominator, int(length / unit), int(step / unit))
    if max(cells) > EXACT_DOUBLE:
        raise refuse(
            f"range={spec.range} with slide={spec.slide}",
            "have a common divisor too small for the precision of doubles",
            "round them to fewer digits",
        )
    return Axis("double", int(length / unit), int(step / unit), 0, unit, start)
