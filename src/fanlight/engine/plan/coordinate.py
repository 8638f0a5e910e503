"""Coordinates: event time as whole numbers, so that every cut is exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["timestamp", "timestamp_ntz", "integer", "double"]
EXACT_DOUBLE = 2**52  # up to here a double holds every whole number, and every half


@dataclass(frozen=True)
class Coordinate:
    """How the time column becomes whole numbers: microseconds, integers, units, or row numbers.

    For doubles the coordinate is the number of the unit that a value lies in: units are ``unit``
    long, and one of them begins at ``origin``. If rows are ``counted``, a row's coordinate is its
    number in its key, and the time column only puts rows in order.
    """

    kind: Kind
    unit: Fraction = Fraction(1)
    origin: Fraction = Fraction(0)
    counted: bool = False

    @property
    def timed(self) -> bool:
        """Whether the time column is a timestamp, with or without time zone."""
        return self.kind in ("timestamp", "timestamp_ntz")

    @property
    def celled(self) -> bool:
        """Whether a coordinate is the number of a unit that doubles lie in."""
        return self.kind == "double" and not self.counted

    @property
    def per_second(self) -> int:
        """Coordinates a second for times; 1 for numbers."""
        return 1_000_000 if self.timed else 1


def kind_of(time_type: str) -> Kind | None:
    """The kind of a time column of this Spark type; None if it cannot be a time column."""
    base = time_type.split("(", 1)[0]
    if base in ("timestamp", "timestamp_ntz"):
        return "timestamp" if base == "timestamp" else "timestamp_ntz"
    if base in ("tinyint", "smallint", "int", "bigint"):
        return "integer"
    return "double" if base in ("float", "double") else None
