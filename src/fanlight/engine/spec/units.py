"""Extents of windows: durations in whole microseconds, plain numbers, counts of rows."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import Literal

from fanlight.engine.spec.errors import describe_type, explain_wrong_calls, guess, refuse

# Of the calendar: months, or hours as a clock shows them.
Measure = Literal["time", "number", "rows", "months", "hours"]

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
ALIASES = {
    "us": "microsecond", "micros": "microsecond",
    "ms": "millisecond", "millis": "millisecond",
    "s": "second", "sec": "second", "secs": "second",
    "m": "minute", "min": "minute", "mins": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour",
    "d": "day", "w": "week",
    "mo": "month", "q": "quarter", "y": "year", "yr": "year", "yrs": "year",
}  # fmt: skip
# Units of pandas that are others here, and what they would be.
_AMBIGUOUS = {"M": "minute", "MS": "millisecond"}
HOURS = {"hour": 1, "day": 24, "week": 168}  # as the clock shows them: each day has 24
MONTHS = {"month": 1, "quarter": 3, "year": 12}  # units of the calendar: of no fixed length
LONGEST_MONTH, MONTH_IN_HOURS = 31 * 24, Fraction(146_097 * 24, 4800)  # on average
LONGEST = 2**62  # coordinates and their sums stay inside a signed 64-bit integer

_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*,?")


@explain_wrong_calls("fl.Rows(1000)")
@dataclass(frozen=True)
class Rows:
    """The length of a window counted in rows of a key.

    Parameters
    ----------
    count
        How many rows, at least one.

    Raises
    ------
    FanlightError
        If ``count`` is not a positive whole number.

    Examples
    --------
    The last 1000 rows, a new result every ten rows:

    >>> import fanlight as fl
    >>> fl.Sliding(fl.Rows(1000), fl.Rows(10))
    Sliding(Rows(1000), Rows(10))

    """

    count: int

    def __post_init__(self) -> None:
        count = self.count
        if isinstance(count, bool) or not isinstance(count, int):
            raise refuse(
                f"Rows({count!r})",
                "is not a whole number of rows",
                "write for example fl.Rows(1000)",
            )
        if not 0 < count < LONGEST:
            raise refuse(
                f"Rows({count})", "is not a positive number of rows", "write fl.Rows(1) or more"
            )

    def __str__(self) -> str:
        return f"Rows({self.count})"


@dataclass(frozen=True)
class Extent:
    """The length of a window or a slide: its exact value, and the user's text for messages."""

    measure: Measure
    value: Fraction  # microseconds, plain units, or rows
    text: str

    @property
    def kind_in_words(self) -> str:
        """The kind of a length in words: a duration, a number, a number of rows."""
        return {
            "time": "a duration",
            "number": "a number",
            "rows": "a number of rows",
            "months": "in months",
            "hours": "in hours, days or weeks of a calendar",
        }[self.measure]

    def __str__(self) -> str:
        return self.text


def read_extent(
    argument: str,
    given: object,
    *,
    positive: bool = True,
    counted: bool = True,
    timed: bool = False,
) -> Extent:
    """Read a length such as ``range``, ``slide`` or ``offset``; ``argument`` names it in errors.

    Only if it may be ``counted`` in rows do errors suggest ``fl.Rows(n)``; if it is ``timed``, it
    can be nothing but a duration.
    """
    length = _parse_extent(argument, given, counted=counted)
    if positive and length.value <= 0:
        hint = {"time": "'1 minute'", "number": "1", "rows": "fl.Rows(1)"}[
            "time" if timed else length.measure
        ]
        raise refuse(
            f"{argument}={given!r}", "must be positive", f"write for example {argument}={hint}"
        )
    if abs(length.value) >= LONGEST:
        raise refuse(
            f"{argument}={given!r}",
            "is longer than 2**62 units and would overflow",
            "write a shorter one",
        )
    return length


def read_uncounted(argument: str, given: object, why: str, instead: str) -> Extent:
    """Read a length that is not a number of rows. Errors say ``why`` and ``instead``."""
    length = read_extent(argument, given, counted=False)
    if length.measure == "rows":
        raise refuse(f"{argument}={length}", why, instead)
    return length


def _parse_extent(argument: str, given: object, *, counted: bool) -> Extent:
    if isinstance(given, Rows):
        return Extent("rows", Fraction(given.count), str(given))
    if isinstance(given, timedelta):
        micros = (given.days * 86_400 + given.seconds) * 1_000_000 + given.microseconds
        return Extent("time", Fraction(micros), f"'{write_duration(micros)}'")
    if isinstance(given, str):
        return Extent("time", Fraction(parse_duration(argument, given)), repr(given))
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        if isinstance(given, float) and not math.isfinite(given):
            raise refuse(
                f"{argument}={given!r}",
                "is not a finite number",
                f"write for example {argument}=10",
            )
        # str(): 0.1 means one tenth to whoever wrote it, not the double next to it.
        return Extent("number", Fraction(str(given)), repr(given))
    duration = f"write a duration ({argument}='4 minutes' or a timedelta)"
    number = "a number for a numeric time"
    raise refuse(
        f"{argument}={given!r}",
        f"is {describe_type(given)}, not the extent of a window",
        f"{duration}, {number}, or fl.Rows(n)" if counted else f"{duration}, or {number}",
    )


def parse_duration(argument: str, text: str) -> int:
    """Microseconds in a text such as ``"4 minutes"``, ``"PT4M"``, ``"INTERVAL '4' MINUTE"``."""
    total = Fraction(0)
    for number, unit in parse_parts(argument, text):
        if unit in MONTHS:
            count = max(1, math.floor(number))
            raise refuse(
                f"{argument}={text!r}",
                f"has a calendar unit: a {unit} has no fixed length, so it cannot cut time",
                f"write {argument}='30 days' or the like, or windows of the calendar: "
                f"fl.Calendar('{count} {unit}{'' if count == 1 else 's'}', zone='Europe/Berlin')",
            )
        total += number * MICROSECONDS[unit]
    if total.denominator != 1:
        raise refuse(
            f"{argument}={text!r}",
            "is not a whole number of microseconds, the finest time Spark keeps",
            "round it to microseconds",
        )
    return int(total)


def parse_parts(argument: str, text: str) -> list[tuple[Fraction, str]]:
    """The numbers of a duration as text, each with its unit: of :data:`MICROSECONDS`, or months."""
    parts, at = [], 0
    sign, body = as_plain_duration(text.strip())
    while part := _PART.match(body, at):
        if meant := body == text.strip() and _AMBIGUOUS.get(part[2]):
            raise refuse(
                f"{argument}={text!r}",
                f"has the unit {part[2]!r}, which is of months to pandas",
                f"write '{part[1]} {meant}{'' if part[1] == '1' else 's'}', or months of a "
                "calendar: fl.Calendar('1 month', zone='Europe/Berlin')",
            )
        unit = part[2].lower()
        unit = ALIASES.get(unit, unit.removesuffix("s"))
        if unit not in MICROSECONDS and unit not in MONTHS:
            raise refuse(
                f"{argument}={text!r}",
                f"has the unknown unit {part[2]!r}",
                _advise_unit(part[1], part[2]),
            )
        parts.append((sign * Fraction(part[1]), unit))
        at = part.end()
    if not parts or at < len(body):
        raise refuse(
            f"{argument}={text!r}",
            "is not a duration",
            f"write a number and a unit, for example {argument}='4 minutes'",
        )
    return parts


def _advise_unit(number: str, unit: str) -> str:
    """What to write instead of an unknown unit: those of pandas are known, and what looks alike."""
    usual = {"T": "minute", "L": "millisecond", "U": "microsecond"}
    near = usual.get(unit) or guess(unit.removesuffix("s"), [*MICROSECONDS, *MONTHS], 0.7)
    units = "use microseconds, milliseconds, seconds, minutes, hours, days or weeks"
    return f"write '{number} {near}{'' if number == '1' else 's'}'" if near else units


def write_units(count: int, *, in_months: bool) -> str:
    """A length of the calendar, in months or hours, as text, in the largest unit that divides it.

    >>> [write_units(n, in_months=months) for n in (24, 168) for months in (True, False)]
    ['2 years', '1 day', '14 years', '1 week']
    """
    sizes = MONTHS if in_months else HOURS
    unit, size = next((u, s) for u, s in reversed(sizes.items()) if count % s == 0)
    return f"{count // size} {unit}" + ("" if abs(count // size) == 1 else "s")


def write_duration(micros: int) -> str:
    """A number of microseconds as text, in the largest unit that divides it.

    >>> [write_duration(micros) for micros in (90_000_000, 3_600_000_000, -60_000_000)]
    ['90 seconds', '1 hour', '-1 minute']
    """
    if not micros:
        return "0 seconds"
    for unit, size in reversed(MICROSECONDS.items()):
        if micros % size == 0:
            count = micros // size
            return f"{count} {unit}" + ("" if abs(count) == 1 else "s")
    return f"{micros} microseconds"


_NUMBER = r"[+-]?\d+(?:\.\d+)?"
# As java.time.Duration prints it: P1DT2H30M.
_ISO = re.compile(rf"([+-]?)P(?=.)((?:{_NUMBER}[YMWD])*)(?:T((?:{_NUMBER}[HMS])+))?", re.IGNORECASE)
_NUMBER_PART = re.compile(rf"({_NUMBER})(\w)")
_DATES = {"Y": "years", "M": "months", "W": "weeks", "D": "days"}
_TIMES = {"H": "hours", "M": "minutes", "S": "seconds"}
# SQL's literals: INTERVAL '5' MINUTE, INTERVAL '1 02:30' DAY TO MINUTE, INTERVAL '5 minutes'.
_QUOTED = re.compile(
    r"interval\s*([+-]?)\s*'\s*([+-]?)([^']*)'(?:\s*([a-z]+)(?:\s+to\s+([a-z]+))?)?", re.IGNORECASE
)
_STEPS = ("year", "month", "day", "hour", "minute", "second")


def as_plain_duration(text: str) -> tuple[int, str]:
    """The sign of a duration, and the rest as numbers with units: ``(1, "5 minutes")``.

    >>> as_plain_duration("PT2H30M"), as_plain_duration("interval 5 minutes")
    ((1, '2 hours 30 minutes'), (1, '5 minutes'))
    >>> as_plain_duration("INTERVAL '-1 02:30' DAY TO MINUTE")
    (-1, '1 day 02 hour 30 minute')
    """
    iso, quoted = _ISO.fullmatch(text), _QUOTED.fullmatch(text)
    if iso is not None:
        parts = [f"{n} {_DATES[unit.upper()]}" for n, unit in _NUMBER_PART.findall(iso[2])]
        parts += [f"{n} {_TIMES[unit.upper()]}" for n, unit in _NUMBER_PART.findall(iso[3] or "")]
        return -1 if iso[1] == "-" else 1, " ".join(parts)
    if quoted is not None:
        sign = -1 if (quoted[1] == "-") != (quoted[2] == "-") else 1
        return sign, _add_units(quoted[3].strip(), quoted[4], quoted[5])
    return 1, text[8:].strip() if text.lower().startswith("interval") else text


def is_iso(text: str) -> bool:
    """Whether a text is a duration in the notation of ISO 8601."""
    return _ISO.fullmatch(text.strip()) is not None


def _add_units(numbers: str, first: str | None, last: str | None) -> str:
    """The numbers of an SQL literal, each with its unit; unchanged if it has units already."""
    if first is None:
        return numbers
    units = [first]
    if last is not None:
        low, high = (name.lower().removesuffix("s") for name in (first, last))
        if low not in _STEPS or high not in _STEPS:
            return numbers
        units = list(_STEPS[_STEPS.index(low) : _STEPS.index(high) + 1])
    parts = re.split(r"[ :-]", numbers)
    if len(parts) != len(units):
        return numbers
    return " ".join(f"{part} {unit}" for part, unit in zip(parts, units, strict=True))
