"""Windows of calendars over two centuries: around each change of clocks, by Python's own dates."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.binding import placed
from tests.oracle.calendars import bounds_near

ZONES = (
    "Europe/Athens", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Africa/Casablanca", "UTC",
)  # fmt: skip
FIRST, LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SHAPES = {
    "days": lambda zone: fl.Calendar("1 day", zone=zone),
    "weeks": lambda zone: fl.Calendar("1 week", zone=zone, week_starts="sunday"),
    "months": lambda zone: fl.Calendar("1 month", zone=zone),
    "quarters, sliding": lambda zone: fl.Calendar("3 months", "1 month", zone=zone),
    "years": lambda zone: fl.Calendar("1 year", zone=zone),
    "a month, sliding by days": lambda zone: fl.Calendar("1 month", "1 day", zone=zone),
    "hours": lambda zone: fl.Calendar("1 hour", zone=zone),
    "days from six": lambda zone: fl.Calendar("1 day", zone=zone, offset="6 hours"),
    "the day so far": lambda zone: fl.Cumulative("1 day", "6 hours", zone=zone),
}


def changes(zone):
    """The instants, to the minute, at which the clock of a zone is set."""

    def offset(at):
        return at.astimezone(of).utcoffset()

    of, found, at, step = ZoneInfo(zone), [], FIRST, timedelta(days=5)
    while at < LAST:
        low, high = at, at + step
        if offset(low) != offset(high):
            while high - low > MINUTE:
                middle = low + (high - low) // 2 // MINUTE * MINUTE or low + MINUTE
                low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
            found.append(high)
        at += step
    return found


def instants(zone):
    """Around each change of the clock, at some turns of months, and anywhere: microseconds."""
    drawn = random.Random(zone)
    near = [at + 25 * MINUTE * away for at in changes(zone) for away in range(-6, 7)]
    turns = [datetime(year, month, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC) + MINUTE * away
             for year in range(1901, 2100, 9) for month in range(1, 13)
             for away in (-1, 0)]  # fmt: skip
    whole = int((LAST - FIRST) / MINUTE)
    anywhere = [FIRST + drawn.randrange(whole) * MINUTE for _ in range(1000)]
    return [(at - EPOCH) // timedelta(microseconds=1) for at in (*near, *turns, *anywhere)]


def by_definition(spec, places):
    """How many places each window has, which is known by its bounds."""
    found = Counter()
    for at, times in Counter(places).items():
        for start, end in set(bounds_near(spec, at, at)):
            if start <= at < end:
                found[start, end] += times
    return found


def knows_the_same(rows, zone, places):
    """Whether Java's clock shows what Python's does."""
    utc = "timestamp_ntz'1970-01-01 00:00:00' + at div 1000000 * interval '1' second"
    local = f"convert_timezone('UTC', '{zone}', {utc}) as shown"
    there = [row.shown for row in rows.selectExpr(local).collect()]
    moments = (EPOCH + timedelta(microseconds=at) for at in places)
    return there == [at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for at in moments]


@pytest.mark.sampled(17)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("about", SHAPES)
@pytest.mark.parametrize("many", [0, 10**6], ids=["looked up", "asked one by one"])
def test_each_row_of_two_centuries_is_in_its_windows(
    classic, tmp_path, monkeypatch, about, zone, many
):
    monkeypatch.setattr(placed, "MANY_ROWS", many)
    spec, places = SHAPES[about](zone), instants(zone)
    pq.write_table(pa.table({"at": pa.array(places, pa.int64())}), tmp_path / "rows.parquet")
    rows = classic.read.parquet(str(tmp_path / "rows.parquet"))
    if not knows_the_same(rows, zone, places):
        pytest.skip(f"Java and Python have other rules for {zone}: one of them is older")
    windows = fl.over(rows.selectExpr("timestamp_micros(at) as ts"), spec, time="ts")
    ends = ("unix_micros(window.start) as start", "unix_micros(window.end) as end", "n")
    found = windows.agg(n=agg.count()).selectExpr(*ends).collect()
    assert {(row.start, row.end): row.n for row in found} == by_definition(spec, places)
    assert len(found) == len({(row.start, row.end) for row in found})
