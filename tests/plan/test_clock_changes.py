"""Windows of calendars around each change of each clock, by Python's own dates and zones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest

import fanlight as fl
from fanlight.engine.plan.clock_changes import changes_of, with_changes, without_skipped
from fanlight.engine.plan.grid import make_grids
from tests.helpers.thorough import THOROUGH
from tests.oracle.calendars import bounds_near

EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
HOUR = 3_600_000_000
FIRST, LAST = ((datetime(year, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND for year in (1900, 2100))
ODD = (
    "Europe/Berlin", "Antarctica/Troll", "Antarctica/Casey", "Australia/Lord_Howe",
    "Africa/Casablanca", "Africa/Freetown", "America/Sao_Paulo", "Pacific/Apia",
    "Pacific/Kwajalein", "Asia/Kathmandu", "UTC",
)  # fmt: skip
ZONES = sorted(available_timezones()) if THOROUGH else ODD
SPECS = (
    lambda zone: fl.Calendar("1 hour", zone=zone),
    lambda zone: fl.Calendar("1 hour", zone=zone, offset="20 minutes"),
    lambda zone: fl.Calendar("1 day", "1 hour", zone=zone),
    lambda zone: fl.Calendar("2 hours", "3 hours", zone=zone),
    lambda zone: fl.Calendar("1 day", zone=zone),
    lambda zone: fl.Calendar("2 days", "1 day", zone=zone, offset="90 minutes"),
    lambda zone: fl.Calendar("1 week", zone=zone, week_starts="sunday"),
    lambda zone: fl.Calendar("1 month", zone=zone),
    lambda zone: fl.Calendar("1 year", "1 quarter", zone=zone, offset="1 month 29 days 50 minutes"),
    lambda zone: fl.Calendar("1 month", "1 day", zone=zone),
    lambda zone: fl.Cumulative("1 day", "1 hour", zone=zone),
    lambda zone: fl.Cumulative("1 month", "1 day", zone=zone),
    lambda zone: fl.Cumulative("1 year", "12 hours", zone=zone, offset="3 months 30 minutes"),
)


@cache
def set_at(zone):
    """The instants at which the clock of a zone is set, in microseconds, looked for each day."""
    of, found, day = ZoneInfo(zone), [], 24 * HOUR

    def ahead(at):
        return (EPOCH + at * MICROSECOND).astimezone(of).utcoffset()

    for low in range(FIRST, LAST, day):
        high = low + day
        if ahead(low) != ahead(high):
            begin = low
            while high - begin > 1:
                middle = (begin + high) // 2
                begin, high = (middle, high) if ahead(middle) == ahead(low) else (begin, middle)
            found.append(high)
    return found


def odd_changes(zone):
    """Of each kind of change of a zone the last; thoroughly also by the time that is shown then.

    Thoroughly every change of the odd zones.
    """
    of, kinds = ZoneInfo(zone), {}
    for at in set_at(zone):
        before, after = ((EPOCH + one * MICROSECOND).astimezone(of) for one in (at - 1, at))
        kind = [after.utcoffset() - before.utcoffset(), before.time(), at]
        kinds[tuple(kind[: 3 if zone in ODD else 2] if THOROUGH else kind[:1])] = at
    return sorted(kinds.values())


def spark_begins(shown, zone):
    """When a local time is, as Spark's ``to_utc_timestamp`` has it."""
    local = (EPOCH + shown * MICROSECOND).replace(tzinfo=ZoneInfo(zone), fold=0)
    return shown - local.utcoffset() // MICROSECOND


class Code:
    """The windows that the plan has, in a batch of which Spark says only what it says of a time."""

    def __init__(self, spec):
        coordinate, (grid,) = make_grids([spec], "ts", "timestamp")
        self.unit = with_changes(coordinate.calendar, changes_of(spec.zone))
        self.grid, self.late = without_skipped(grid, self.unit), dict(self.unit.late)

    def local(self, number):
        """The local time at which a unit begins."""
        if not self.unit.in_months:
            return number * self.unit.count * HOUR + self.unit.shift
        months = 1970 * 12 + number * self.unit.count
        first = datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
        return (first - EPOCH) // MICROSECOND + self.unit.shift

    @cache  # noqa: B019 - of a few units
    def begins(self, number):
        """The instant at which a unit begins."""
        return self.late.get(number) or spark_begins(self.local(number), self.unit.zone)

    def number(self, at):
        """The unit that an instant is in."""
        shown = (EPOCH + at * MICROSECOND).astimezone(ZoneInfo(self.unit.zone)).replace(tzinfo=UTC)
        local = (shown - EPOCH) // MICROSECOND - self.unit.shift
        if self.unit.in_months:
            day = EPOCH + local * MICROSECOND
            guess = ((day.year - 1970) * 12 + day.month - 1) // self.unit.count
        else:
            guess = local // HOUR // self.unit.count
        later = range(guess + 1, guess + 1 + self.unit.repeated)
        return guess + sum(at >= self.begins(one) for one in later)

    def windows_of(self, at):
        """The bounds of the windows that hold an instant."""
        number, grid = self.number(at), self.grid
        for window in range(grid.first_window(number), grid.last_window(number) + 1):
            start, end = grid.first_place(window), grid.window_end(window)
            if start <= number and grid.window_start(window) not in grid.missing:
                yield self.begins(start), self.begins(end)

    def windows_between(self, low, high):
        """The bounds of the windows that begin or end between two instants, and some more."""
        grid = self.grid
        for window in range(
            grid.first_window(self.number(low)), grid.last_window(self.number(high)) + 1
        ):
            if grid.window_start(window) not in grid.missing:
                yield self.begins(grid.first_place(window)), self.begins(grid.window_end(window))


@pytest.mark.parametrize("zone", ZONES)
def test_each_change_of_a_clock_is_known(zone):
    assert [one.at * 1_000_000 for one in changes_of(zone) if one.at < LAST // 1e6] == set_at(zone)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("zone", ZONES)
def test_a_window_is_what_lies_between_its_instants(zone):
    """None is without length, and no two are equal, wherever a clock is set."""
    for made in SPECS:
        spec = made(zone)
        code = Code(spec)
        for at in odd_changes(zone):
            near = (at - 25 * HOUR, at - 1, at, at + HOUR // 2, at + 3 * HOUR, at + 25 * HOUR)
            for one in near:
                found = list(code.windows_of(one))
                told = [b for b in bounds_near(spec, one, one) if b[0] <= one < b[1]]
                assert sorted(found) == sorted(told), (spec, one)
            low, high = at - 3 * HOUR, at + 27 * HOUR
            every = list(code.windows_between(low, high))
            assert all(start < end for start, end in every), (spec, at)
            assert len(set(every)) == len(every), (spec, at)
            assert set(every) >= {
                b for b in bounds_near(spec, low, high) if b[0] <= high and low < b[1]
            }, (spec, at)
