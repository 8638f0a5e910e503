"""A time as a whole number: so that every cut is exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["timestamp", "timestamp_ntz", "integer", "double"]
EXACT_DOUBLE = 2**52  # whole numbers that doubles hold with room for one half


@dataclass(frozen=True)
class Coordinate:
    """How the time column becomes whole numbers: microseconds, integers, cells, or row numbers.

    For doubles the coordinate is the number of the cell of width ``unit`` that a value lies in;
    cells begin at ``origin``. Where rows are ``counted``, a row's coordinate is its number in its
    key, and the time column only puts rows in order. Everything downstream computes on whole
    numbers.
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
        """Whether a coordinate is the number of a cell of doubles."""
        return self.kind == "double" and not self.counted

    @property
    def per_second(self) -> int:
        """Coordinates a second for times; 1 for numbers."""
        return 1_000_000 if self.timed else 1


def kind_of(time_type: str) -> Kind | None:
    """The kind of a time column of a Spark type; None where windows cannot go over it."""
    base = time_type.split("(", 1)[0]
    if base in ("timestamp", "timestamp_ntz"):
        return "timestamp" if base == "timestamp" else "timestamp_ntz"
    if base in ("tinyint", "smallint", "int", "bigint"):
        return "integer"
    return "double" if base in ("float", "double") else None
