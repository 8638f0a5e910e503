"""Coordinates: event time as whole numbers, so that every cut is exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from fanlight.engine.algebra.aggregate import INTEGRAL, base_type
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.units import MICROSECONDS, Extent

Kind = Literal["timestamp", "timestamp_ntz", "integer", "double"]
TIMESTAMPS: tuple[Kind, ...] = ("timestamp", "timestamp_ntz")
_KINDS: dict[str, Kind] = {
    **{kind: kind for kind in TIMESTAMPS},
    **dict.fromkeys(INTEGRAL, "integer"),
    **dict.fromkeys(("float", "double"), "double"),
}
_MONTH = 2_629_746_000_000  # microseconds, on average
_SHORTEST_MONTH = 27 * 86_400_000_000  # with a day that a clock skips
_MOST_SKIPPED = 25  # hours that a clock has ever skipped at once, and one more
_LONGEST_MONTH = 32 * 86_400_000_000  # with a day for clocks that change
EXACT_DOUBLE = 2**52  # up to here a double holds every whole number, and every half


@dataclass(frozen=True)
class CalendarUnit:
    """A unit of a calendar: so many months, or so many hours that the clock of a zone shows.

    One begins ``shift`` microseconds of local time after the beginning of 1970, and a month on its
    ``day``. Without a zone times are local already. ``known`` is what Spark has said of the zone,
    if it has been asked.

    A unit begins when the clock first shows its beginning, or, if that is skipped, what is after
    it. ``late`` are units whose beginning lies within what is skipped, with the instant at which
    they begin, in microseconds. Units begin ``together`` from a first to a last one, where more
    than one is skipped, and all but the last have no length. So many of them, at most, are
    ``repeated`` where the clock is set back.
    """

    count: int
    in_months: bool
    shift: int
    zone: str | None
    known: str = ""
    late: tuple[tuple[int, int], ...] = ()
    together: tuple[tuple[int, int], ...] = ()
    repeated: int = 1
    day: int = 1

    @property
    def microseconds(self) -> int:
        """How long it is on average."""
        return self.count * (_MONTH if self.in_months else MICROSECONDS["hour"])

    def most_units(self, microseconds: int) -> int:
        """How many units may begin within some time, clocks that are set forward included."""
        if self.in_months:
            return microseconds // (self.count * _SHORTEST_MONTH) + 1
        hour = MICROSECONDS["hour"]
        return -(-(microseconds + _MOST_SKIPPED * hour) // (self.count * hour))

    @property
    def longest_unit(self) -> int:
        """How many microseconds it may be long, clocks that change included."""
        if self.in_months:
            return self.count * _LONGEST_MONTH
        return self.count * (1 + self.repeated) * MICROSECONDS["hour"]


@dataclass(frozen=True)
class Coordinate:
    """How the time column becomes whole numbers: microseconds, integers, units, or row numbers.

    For doubles the coordinate is the number of the unit that a value lies in: units are ``unit``
    long, and one of them begins at ``origin``. For a ``calendar`` it is the number of its unit,
    whose length on average is ``unit``. If units are ``halves``, an even one is where a double unit
    begins, and nothing else, and an odd one the rest of it. If rows are ``counted``, a row's
    coordinate is its number in its key, and the time column only puts rows in order.
    """

    kind: Kind
    unit: Fraction = Fraction(1)
    origin: Fraction = Fraction(0)
    counted: bool = False
    calendar: CalendarUnit | None = None
    halves: bool = False

    @property
    def is_timestamp(self) -> bool:
        """Whether the time column is a timestamp, with or without time zone."""
        return self.kind in TIMESTAMPS

    @property
    def is_unit_number(self) -> bool:
        """Whether a coordinate is the number of the unit that a double lies in, or a time."""
        return (self.kind == "double" and not self.counted) or self.calendar is not None

    @property
    def per_second(self) -> int:
        """Coordinates a second for times; 1 for numbers."""
        return 1_000_000 if self.is_timestamp else 1


def check_kind(time: str, time_type: str, why: str, *, doubles: bool = False) -> Kind:
    """The kind of a time column; a type that windows cannot take is refused, with ``why``.

    Windows that cut time into units take ``doubles``, too.
    """
    kind = _KINDS.get(base_type(time_type))
    if kind is not None and (doubles or kind != "double"):
        return kind
    raise refuse(
        f"time={time!r}",
        f"is of type {time_type}, {why}",
        "cast it to timestamp, timestamp_ntz, an integer or a double (a decimal: cast it to double)"
        if doubles
        else "cast it to timestamp, timestamp_ntz or a whole number "
        "(a double of seconds: timestamp_seconds)",
    )


def check_zone_of_time(zone: str | None, kind: Kind, time: str, time_type: str, spec: str) -> None:
    """Refuse a zone that a time has no use for, or that is missing; errors name both."""
    if kind not in TIMESTAMPS:
        raise refuse(
            spec,
            f"is for timestamps, but time={time!r} is of type {time_type}",
            f"turn {time!r} into a timestamp (timestamp_seconds, …), or use fl.Sliding",
        )
    if (zone is None) == (kind == "timestamp"):
        raise refuse(
            f"zone={zone!r}",
            f"is for local times, but time={time!r} is a {kind}"
            if zone is None
            else f"does not go with time={time!r}, a {kind}: its times are local already",
            "name the zone, for example zone='Europe/Berlin'"
            if zone is None
            else "write zone=None, or cast the column to timestamp",
        )


def advise_counted(length: Extent) -> str:
    """What to write for the length of windows over a timestamp that is none of time."""
    rows = length.value if length.value > 0 and length.value.denominator == 1 else "n"
    return f"write a duration such as '4 minutes', or fl.Rows({rows}) to count rows"


_FITTING = {
    True: "write a duration such as '5 minutes'",
    False: "write a number, or turn the time into a timestamp (timestamp_seconds, …)",
}


def check_length(
    argument: str,
    length: Extent,
    kind: str,
    *,
    time: str = "the time",
    time_type: str = "",
    instead: str = "",
    whole: bool = True,
) -> None:
    """Refuse a length that a time cannot have: a number for a timestamp, half a unit of integers.

    ``time`` and ``time_type`` say in errors which time it is, and ``instead`` what to write if the
    usual advice is not enough. A length that is only a bound need not be ``whole``.
    """
    timed = kind in TIMESTAMPS
    number = f"a number ({base_type(time_type)})" if time_type else "a number"
    if length.measure != ("time" if timed else "number"):
        raise refuse(
            f"{argument}={length}",
            f"is {length.kind_in_words}, but {time} is {f'a {kind}' if timed else number}",
            instead or _FITTING[timed],
        )
    if whole and kind == "integer" and length.value.denominator != 1:
        one = f"of type {time_type}" if time_type else "one"
        raise refuse(
            f"{argument}={length}",
            f"is not a whole number, but {time} is {one}",
            instead or "round it, or count the time in a finer unit",
        )
