"""Calendar windows: days, weeks, months and years of a named time zone."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fanlight.engine.spec.arguments import check_choice
from fanlight.engine.spec.errors import FanlightError, describe_type, explain_wrong_calls, refuse
from fanlight.engine.spec.sliding import Local, Sliding
from fanlight.engine.spec.units import (
    HOURS,
    LONGEST_MONTH,
    MICROSECONDS,
    MONTH_IN_HOURS,
    MONTHS,
    Extent,
    Measure,
    parse_parts,
    write_duration,
)
from fanlight.types import Weekday

WEEKDAYS = get_args(Weekday)  # of 1970
_FIXED = re.compile(r"[+-](0\d|1[0-7]):[0-5]\d")
LAST_DAY = 31
_MOST = 10_000 * 366 * 24  # hours or months: more than there are


class Calendar(Sliding):
    """Windows that begin and end as the calendar and the clock of a time zone say.

    Days, weeks, months, quarters and years begin at local midnight; hours when the clock strikes.
    A day on which clocks change has 23 or 25 hours, and a month as many days as it has. A
    row is in the windows that begin by its time and end after it, as in
    :class:`fanlight.Sliding`; the session's time zone changes nothing.

    Parameters
    ----------
    range
        How long windows are: ``"1 day"``, ``"3 months"``, ``"1 year"``. Hours, days and weeks; or
        months, quarters and years.
    slide
        How far apart they begin, of the same kind: ``Calendar("3 months", "1 month", …)`` is the
        last three months, every month. ``None`` makes windows tumble. Months may slide by a day:
        ``Calendar("1 month", "1 day", …)`` is the last month, every day, from the same day of the
        month before, or from its last.
    zone
        The time zone by its name, such as ``"Europe/Berlin"``, or as ``"+02:00"``; None for times
        without time zone (``timestamp_ntz``), which are local already.
    offset
        How long after midnight windows begin: ``"6 hours"`` for days from six to six. Of months
        also which month is the first: ``"3 months"`` for years that begin in April.
    week_starts
        The first day of a week.
    day
        The day of the month on which months begin, such as those of a bill: 1 to 31. A month that
        has fewer days begins on its last, so that ``day=31`` is the last day of each month.

    Raises
    ------
    FanlightError
        If a length cannot be read, is not positive, or is not a whole number of units, if days are
        mixed with months, or if there is no such zone or day.

    Notes
    -----
    Counting begins at 1970: two-day windows at 1 January, five-month windows with January. Cost:
    that of sliding windows, and for each row the number of its hour, day or month, in Spark SQL.

    Examples
    --------
    >>> import fanlight as fl
    >>> fl.Calendar("3 months", "1 month", zone="Europe/Berlin")
    Calendar('3 months', '1 month', zone='Europe/Berlin')
    >>> from fanlight import agg
    >>> sold = spark.sql("SELECT explode(sequence(timestamp'2025-03-29 23:00:00Z', "
    ...     "timestamp'2025-03-31 05:00:00Z', interval 1 hour)) AS at")
    >>> days = fl.over(sold, fl.Calendar("1 day", zone="Europe/Berlin"), time="at")
    >>> [row.hours for row in days.agg(hours=agg.count()).orderBy("window").collect()]
    [23, 8]

    """

    __slots__ = ("day", "shift", "week_starts", "zone")
    _parts = (*Sliding._parts, "shift", "zone", "week_starts", "day")  # noqa: SLF001 - of this kind
    shift: int  # the part of the offset that is in microseconds of local time
    zone: str | None
    week_starts: Weekday
    day: int | None  # None: months begin on their first day

    @explain_wrong_calls("fl.Calendar('1 day', zone='Europe/Berlin')")
    def __init__(
        self,
        range: str,
        slide: str | None = None,
        *,
        zone: str | None,
        offset: str | timedelta | int = 0,
        week_starts: Weekday = "monday",
        day: int = 1,
    ) -> None:
        length = read_units("range", range)
        step = length if slide is None else read_units("slide", slide)
        by_days = length.measure == "months" and step.value == HOURS["day"]
        if length.measure != step.measure and not by_days:
            raise refuse(
                f"range={length} with slide={step}",
                "mixes months, which differ in days, with days",
                "write both in months, quarters or years, or both in hours, days or weeks; months "
                "may slide by '1 day'",
            )
        start, shift = read_offset(offset, step.measure)
        first = check_choice("week_starts", week_starts, WEEKDAYS, "a day of the week")
        begins = read_day(day, length)
        if begins and by_days:
            raise refuse(
                f"day={day}",
                f"is of months that begin together, but with slide={step} one ends every day",
                "leave day out, or leave slide out",
            )
        self._set_parts(length, step, start, "left", shift, check_zone(zone), first, begins)

    @property
    def by_months(self) -> bool:
        """Whether lengths are in months, and not in hours."""
        return self.measure == "months"

    @property
    def by_days(self) -> bool:
        """Whether windows are months long, and one ends with each day."""
        return self.by_months and self.slide.measure != "months"

    @property
    def overlap(self) -> Fraction:
        """The average number of windows per row."""
        if not self.by_days:
            return super().overlap
        return self.range.value * MONTH_IN_HOURS / self.slide.value

    @property
    def local(self) -> Local:
        """The windows in the local calendar."""
        if self.by_days:
            months, day = int(self.range.value), int(self.slide.value)
            longest = months * LONGEST_MONTH
            return Local(longest, day, 0, "hours", self.shift, self.zone, back=months)
        offset = int(self.offset.value)
        if not self.by_months:
            offset += week_offset(self.slide, self.week_starts)
        lengths = int(self.range.value), int(self.slide.value), offset
        return Local(*lengths, self.measure, self.shift, self.zone, day=self.day or 1)

    def _key(self) -> tuple[object, ...]:
        return (self.local,)

    def __repr__(self) -> str:
        slide = "" if self.tumbling else f", {self.slide}"
        offset = f", offset={self.offset}" if self.offset.value or self.shift else ""
        first = write_first_days(self)
        return f"Calendar({self.range}{slide}, zone={self.zone!r}{offset}{first})"


def write_first_days(spec: Any) -> str:
    """The first day of weeks and of months as arguments. Empty for the defaults."""
    week = "" if spec.week_starts == "monday" else f", week_starts={spec.week_starts!r}"
    return week + (f", day={spec.day}" if spec.day else "")


def week_offset(length: Extent, week_starts: Weekday) -> int:
    """After how many hours of 1970 counting starts: whole weeks begin on a day of the week."""
    return WEEKDAYS.index(week_starts) * HOURS["day"] if length.value % HOURS["week"] == 0 else 0


def read_units(argument: str, given: object) -> Extent:
    """A length in months, or in hours that the clock shows."""
    if not isinstance(given, str):
        raise refuse(
            f"{argument}={given!r}",
            f"is {describe_type(given)}, not a length of the calendar",
            f"write {argument}='1 day' or '3 months'",
        )
    parts = parse_parts(argument, given)
    by_months = all(unit in MONTHS for _, unit in parts)
    units = MONTHS if by_months else HOURS
    for _, unit in parts:
        if unit not in units:
            raise refuse(
                f"{argument}={given!r}",
                f"has the unit {unit}, which calendar windows do not count"
                if unit not in MONTHS
                else "mixes months, which differ in days, with days",
                "write hours, days and weeks, or months, quarters and years; or fl.Sliding",
            )
    total = sum((number * units[unit] for number, unit in parts), Fraction(0))
    if total.denominator != 1 or not 0 < total < _MOST:
        raise refuse(
            f"{argument}={given!r}",
            "is not a positive whole number of " + ("months" if by_months else "hours"),
            f"write for example {argument}='{'1 month' if by_months else '1 day'}'",
        )
    return Extent("months" if by_months else "hours", total, repr(given))


def read_offset(given: object, measure: Measure) -> tuple[Extent, int]:
    """The offset: its months, and its microseconds of local time."""
    if isinstance(given, timedelta):
        micros = (given.days * 86_400 + given.seconds) * 1_000_000 + given.microseconds
        given = write_duration(micros)
    if isinstance(given, int) and not isinstance(given, bool) and not given:
        return Extent(measure, Fraction(0), "0"), 0
    if not isinstance(given, str):
        raise refuse(
            f"offset={given!r}",
            f"is {describe_type(given)}, not a duration",
            "write offset='6 hours', or for months also offset='3 months'",
        )
    parts = parse_parts("offset", given)
    months = sum((n * MONTHS[unit] for n, unit in parts if unit in MONTHS), Fraction(0))
    lengths = [n * MICROSECONDS[unit] for n, unit in parts if unit not in MONTHS]
    local = sum(lengths, Fraction(0))
    if months and measure != "months":
        raise refuse(
            f"offset={given!r}",
            "is in months, but windows are in hours, days or weeks",
            "write it in days or hours",
        )
    whole = months.denominator == 1 == local.denominator
    if not whole or abs(months) >= _MOST or abs(local) >= _MOST * MICROSECONDS["hour"]:
        raise refuse(
            f"offset={given!r}",
            "is not a whole number of months and microseconds",
            "write for example offset='6 hours'",
        )
    return Extent(measure, months, repr(given)), int(local)


def read_day(given: object, length: Extent) -> int | None:
    """The day on which months begin; None if it is their first."""
    asked = f"day={given!r}"
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= LAST_DAY:
        raise refuse(
            asked,
            "is not a day of a month",
            "write day=1 to day=31; in a month that has fewer days it is the last",
        )
    if given == 1:
        return None
    if length.measure != "months":
        raise refuse(
            asked,
            f"is of months, but range={length} is not in months",
            "write range='1 month', or leave day out",
        )
    return given


def check_zone(zone: object) -> str | None:
    """The zone, if Python knows it; :func:`fanlight.over` asks Spark."""
    if zone is None:
        return None
    named = f"zone={zone!r}"
    instead = "write for example zone='Europe/Berlin' or '+02:00'; None for local times"
    if not isinstance(zone, str):
        raise refuse(named, f"is {describe_type(zone)}, not the name of a time zone", instead)
    if not _FIXED.fullmatch(zone):
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise refuse(named, "is not a time zone that is known here", instead) from error
    return zone


def has_months(argument: str, given: object) -> bool:
    """Whether a length is in months, so that only a calendar can place its windows."""
    return isinstance(given, str) and any(
        unit in MONTHS for _, unit in parse_parts(argument, given)
    )


def refuse_week_starts(day: str) -> FanlightError:
    """The error for ``week_start`` without a calendar."""
    return refuse(
        f"week_starts={day!r}",
        "is of a calendar; without one, weeks are counted from Thursday, 1 January 1970",
        "name the zone, for example zone='UTC', or write offset='3 days'",
    )
