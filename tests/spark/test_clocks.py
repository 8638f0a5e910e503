"""The clock of an operator is the calendar's, by Python's zones."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from fanlight.engine.plan.coordinate import CalendarUnit, Coordinate
from fanlight.engine.spark.ordered.host import clock_of

EPOCH, MICRO = datetime(1970, 1, 1), timedelta(microseconds=1)
ZONES = (
    "Europe/Athens", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Africa/Casablanca", "UTC", "Pacific/Apia",
)  # fmt: skip
LAST = 2037  # Python's rules for later years may differ from Java's
UNITS = {"hours": (1, False, 0), "days from six": (24, False, 6), "months": (1, True, 0),
         "quarters": (3, True, 0), "five hours": (5, False, 1)}  # fmt: skip


def begins(zone, unit, number):
    """When a unit begins; later by what the clock skips."""
    count, in_months, hours = unit
    if in_months:
        months = number * count
        local = datetime(1970 + months // 12, months % 12 + 1, 1)
    else:
        local = EPOCH + timedelta(hours=number * count)
    local += timedelta(hours=hours)
    return (local - local.replace(tzinfo=zone, fold=0).utcoffset() - EPOCH) // MICRO


def near(zone, unit):
    """Units around each change of the zone's clock, and some others."""
    count, in_months, _ = unit
    if in_months:
        return range(1, (LAST - 1970) * 12 // count)
    days = [
        datetime(1970, 1, 3, tzinfo=UTC) + timedelta(days=n) for n in range((LAST - 1970) * 365)
    ]
    offsets = [day.astimezone(zone).utcoffset() for day in days]
    changed = [n for n in range(1, len(days)) if offsets[n] != offsets[n - 1]]
    drawn = random.Random(str(zone))
    some = drawn.sample(changed, min(len(changed), 20)) + drawn.sample(range(9, len(days)), 5)
    hours = {24 * (n + 2) + h for n in some for h in range(-60, 60)}
    return sorted({hour // count for hour in hours if hour > 48})


@pytest.mark.parametrize("about", UNITS)
@pytest.mark.parametrize("name", ZONES)
def test_units_have_begun_when_they_and_all_before_have(classic, name, about):
    zone, unit = ZoneInfo(name), UNITS[about]
    count, in_months, hours = unit
    calendar = CalendarUnit(count, in_months, hours * 3_600_000_000, name)
    clock = clock_of(classic, Coordinate("timestamp", calendar=calendar))
    for number in near(zone, unit):
        before = 1 if in_months else 30 // count + 1  # as far as a clock has ever skipped
        passed = max(begins(zone, unit, n) for n in range(number - before, number + 1))
        assert clock.instant(np.array([number])).tolist() == [passed]
        after = max(passed, begins(zone, unit, number + 1))
        if after > passed:
            assert clock.number(passed) == clock.number(after - 1) == number
