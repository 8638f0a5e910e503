"""Windows that begin together, and windows of a calendar: their bounds, by Python's own dates."""

from __future__ import annotations

import calendar
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)
HOUR, MICROSECOND = timedelta(hours=1), timedelta(microseconds=1)
MOST = timedelta(hours=26) // MICROSECOND  # by which a clock is set
DAYS = ("thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday")


def bounds_near(spec: Any, began: Any, stopped: Any) -> Iterator[tuple[Any, Any]]:
    """The bounds of the windows that might hold an instant of these, and of some that do not."""
    if spec.local is not None:
        yield from _of_calendar(spec, int(began), int(stopped))
    elif spec.restarts:
        size, step = Fraction(spec.range.value), Fraction(spec.slide.value)
        # One more on either side: doubles lie beside the numbers that they stand for.
        begins = spec.offset.value + (math.floor((began - spec.offset.value) / size) - 1) * size
        while begins <= stopped + size:
            for number in range(1, int(size / step) + 1):
                yield begins, begins + number * step
            begins += size
    else:
        first = math.floor((began - spec.offset.value - spec.range.value) / spec.slide.value)
        last = math.floor((stopped - spec.offset.value) / spec.slide.value)
        for number in range(first - 1, last + 2):
            start = spec.offset.value + number * spec.slide.value
            yield start, start + spec.range.value


def _of_calendar(spec: Any, began: int, stopped: int) -> Iterator[tuple[int, int]]:
    low, high = (clock(at, spec.zone) for at in (began, stopped))
    # A clock that was just set back has shown later times already.
    high = max(high, clock(stopped - MOST, spec.zone) + MOST * MICROSECOND)
    shift = timedelta(microseconds=spec.shift)
    if spec.restarts:
        found = _growing(spec, low - shift, high - shift)
    elif spec.range.measure != spec.slide.measure:
        found = _looking_back(spec, low - shift, high - shift)
    else:
        found = _moving(spec, low - shift, high - shift)
    instants = (tuple(instant(one + shift, spec.zone) for one in bounds) for bounds in found)
    for start, end in dict.fromkeys(instants):  # where a clock skips some time, two may be equal
        if start < end:
            yield start, end


def _moving(spec: Any, low: datetime, high: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Windows of one length; two of them are looked at on either side."""
    slide, length = int(spec.slide.value), int(spec.range.value)
    first = _first(spec, spec.slide)
    lowest = (_count(low, spec.slide.measure) - length - first) // slide - 2
    highest = (_count(high, spec.slide.measure) - first) // slide + 2
    for number in range(lowest, highest + 1):
        start = first + number * slide
        yield (
            _begin(spec, start, spec.slide.measure),
            _begin(spec, start + length, spec.slide.measure),
        )


def _looking_back(spec: Any, low: datetime, high: datetime) -> Iterator[tuple[datetime, datetime]]:
    """So many months before each day, from the same day of a month or from its last."""
    day, months = low.replace(hour=0, minute=0, second=0, microsecond=0), int(spec.range.value)
    while day <= high + timedelta(days=31 * months + 2):
        count = day.year * 12 + day.month - 1 - months
        year, month = count // 12, count % 12 + 1
        last = calendar.monthrange(year, month)[1]
        yield day.replace(year=year, month=month, day=min(day.day, last)), day
        day += timedelta(days=1)


def _growing(spec: Any, low: datetime, high: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Windows from the beginning of each size, one to the end of each of its steps."""
    size, first, measure = int(spec.range.value), _first(spec, spec.range), spec.range.measure
    lowest = (_count(low, measure) - first) // size - 1
    highest = (_count(high, measure) - first) // size + 1
    for number in range(lowest, highest + 1):
        begins = _begin(spec, first + number * size, measure)
        until = _begin(spec, first + (number + 1) * size, measure)
        ends, steps = begins, 0
        while ends < until:
            steps += int(spec.slide.value)
            if spec.slide.measure == "months":
                ends = _begin(spec, first + number * size + steps, measure)
            else:
                ends = begins + steps * HOUR
            yield begins, ends


def _first(spec: Any, length: Any) -> int:
    """Where counting starts, in months or hours."""
    if length.measure == "months":
        return int(spec.offset.value)
    return DAYS.index(spec.week_starts) * 24 if length.value % 168 == 0 else 0


def _count(at: datetime, measure: str) -> int:
    """How many whole months or hours have passed since 1970."""
    return (at.year - 1970) * 12 + at.month - 1 if measure == "months" else (at - EPOCH) // HOUR


def _begin(spec: Any, count: int, measure: str) -> datetime:
    """So many hours after 1970, or when a month begins: on its day, or on its last."""
    if measure == "hours":
        return EPOCH + count * HOUR
    year, month = 1970 + count // 12, count % 12 + 1
    last = calendar.monthrange(year, month)[1]
    return datetime(year, month, min(spec.day or 1, last))


def _zone(name: str | None) -> Any:
    if name is None:
        return UTC
    if name[0] in "+-":
        hours, minutes = int(name[:3]), int(name[0] + name[4:])
        return timezone(timedelta(hours=hours, minutes=minutes))
    return ZoneInfo(name)


def clock(at: int, zone: str | None) -> datetime:
    """What the clock shows at an instant in microseconds."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.astimezone(_zone(zone)).replace(tzinfo=None)


def instant(shown: datetime, zone: str | None) -> int:
    """The first instant at which the clock shows a time, or what is after it, if it skips that."""
    early, late = (
        (shown - shown.replace(tzinfo=_zone(zone), fold=fold).utcoffset() - EPOCH) // MICROSECOND
        for fold in (1, 0)
    )
    while early < late and clock(late, zone) > shown:  # it is skipped: when, is between the two
        middle = (early + late) // 2
        if clock(middle, zone) < shown:
            early = middle + 1
        else:
            late = middle
    return late
