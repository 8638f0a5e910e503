"""Where the clock of a zone is set, and which windows of a calendar there are not, for that."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from fanlight.engine.plan.coordinate import CalendarUnit
from fanlight.engine.plan.grid import Grid, Number, first_day, month_of
from fanlight.engine.spec.units import HOURS, MICROSECONDS, write_units

_EPOCH, _SECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(seconds=1)
# The years in which changes are looked for, and the time between two looks: no clock has been set
# forth and back within it.
SINCE, UNTIL = ((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _SECOND for year in (1900, 2200))
LOOK = 3 * 86_400


@dataclass(frozen=True)
class Change:
    """A clock that is set at an instant; how far ahead of UTC it was, and is. All in seconds."""

    at: int
    before: int
    after: int


@lru_cache(maxsize=64)
def changes_of(zone: str | None) -> tuple[Change, ...]:
    """Each time at which the clock of a zone is set, from 1900 up to 2200."""
    if zone is None or zone[0] in "+-":
        return ()
    found, before = [], _ahead(zone, SINCE)
    for low in range(SINCE, UNTIL, LOOK):
        after = _ahead(zone, low + LOOK)
        if after != before:
            at = low + bisect_left(range(LOOK), 1, key=lambda n: _ahead(zone, low + n) != before)
            found.append(Change(at, before, after))
        before = after
    return tuple(found)


def _ahead(zone: str | None, at: int) -> int:
    """The seconds by which the clock of a zone is ahead of UTC at an instant."""
    shown = (_EPOCH + at * _SECOND).astimezone(find_zone(zone))
    return (shown.utcoffset() or timedelta()) // _SECOND


def find_zone(name: str | None) -> tzinfo:
    """The zone of a name, or so far ahead of UTC; without a name, UTC."""
    if name is None:
        return UTC
    if name[0] in "+-":
        ahead = timedelta(hours=int(name[1:3]), minutes=int(name[4:6]))
        return timezone(-ahead if name[0] == "-" else ahead)
    return ZoneInfo(name)


@dataclass(frozen=True)
class ZoneClock:
    """The clock of a zone: by how many seconds it is ahead of UTC at first, and its changes."""

    ahead: int
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, zone: str | None, changes: tuple[Change, ...]) -> ZoneClock:
        """The clock of a zone that is set so."""
        return cls(changes[0].before if changes else _ahead(zone, SINCE), changes)


@dataclass(frozen=True)
class CalendarLength:
    """So many months, and then days, by a clock."""

    clock: ZoneClock
    months: int
    days: int

    @property
    def longest(self) -> int:
        """How many microseconds it may last, with a day by which a clock may have been set."""
        return (self.months * 31 + self.days + 1) * MICROSECONDS["day"]


@dataclass(frozen=True)
class CalendarSteps:
    """Times at which the units of a calendar begin."""

    unit: CalendarUnit
    clock: ZoneClock

    def __repr__(self) -> str:
        return f"{write_units(self.unit.count, in_months=self.unit.in_months)} in {self.unit.zone}"


def with_changes(unit: CalendarUnit, changes: Sequence[Change]) -> CalendarUnit:
    """The unit of a clock that is set so."""
    late: list[tuple[int, int]] = []
    together = []
    for change in changes:
        numbers, within = _skipped_numbers(unit, change)
        late += [(number, change.at * 1_000_000) for number in within]
        if len(numbers) > 1:
            together.append((numbers[0], numbers[-1]))
    back = max((change.before - change.after for change in changes), default=0) * 1_000_000
    repeated = 1 if unit.in_months else max(1, -(-back // unit.microseconds))
    return replace(unit, late=tuple(late), together=tuple(together), repeated=repeated)


def _skipped_numbers(unit: CalendarUnit, change: Change) -> tuple[list[int], list[int]]:
    """The units that begin in a time that is skipped, its ends included; and those within it."""
    first, last = ((change.at + offset) * 1_000_000 for offset in (change.before, change.after))
    lowest, highest = (number_by_clock(unit, local) for local in (first, last))
    begins = {number: begins_by_clock(unit, number) for number in range(lowest, highest + 1)}
    numbers = [number for number, local in begins.items() if local >= first]
    return numbers, [number for number in numbers if first < begins[number] < last]


def begins_by_clock(unit: CalendarUnit, number: Number) -> Number:
    """The local time at which a unit begins, in microseconds."""
    first = number * unit.count
    hours = first_day(first, unit.day) * HOURS["day"] if unit.in_months else first
    return hours * MICROSECONDS["hour"] + unit.shift


def number_by_clock(unit: CalendarUnit, local: Number) -> Number:
    """The unit that a local time is in, in microseconds."""
    hours = (local - unit.shift) // MICROSECONDS["hour"]
    number = month_of(hours // HOURS["day"], unit.day) if unit.in_months else hours
    return number // unit.count


def without_skipped(grid: Grid, unit: CalendarUnit, since: int | None = None) -> Grid:
    """The grid, which knows the windows that there are not: they begin when they end, or are twice.

    Where units begin together, a window may have no length, or the bounds of the one before it.
    ``since`` is where the windows of levels begin at the earliest.
    """
    lasts = {n: last for first, last in unit.together for n in range(first, last + 1)}

    def bounds(window: int) -> tuple[int, int]:
        start, end = grid.first_place(window), grid.window_end(window)
        start = start if since is None else max(start, since)
        return lasts.get(start, start), lasts.get(end, end)

    missing = []
    for first, last in unit.together:
        for window in range(grid.first_window(first - 1), grid.first_window(last)):
            start, end = bounds(window)
            if start == end or (start, end) == bounds(window - 1):
                missing.append(grid.window_start(window))
    return replace(grid, missing=tuple(sorted(set(missing))))
