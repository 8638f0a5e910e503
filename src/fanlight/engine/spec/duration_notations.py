"""Durations in the notations of ISO 8601 and SQL, rewritten as numbers with units."""

from __future__ import annotations

import re

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
