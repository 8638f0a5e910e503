"""The order of arrival: disordered, with rows that are surely late, and always the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demo import arrivals

HOUR = 3_600_000_000
DAY = 24 * HOUR
START = 1_357_000_000_000_000


def made(count, *, spread=40 * DAY):
    """Flights at even distances, every hundredth cancelled."""
    times = START + np.arange(count) * (spread // count)
    instants = pa.array(times).cast(pa.timestamp("us", "UTC"))
    landed = pa.array(times + 2 * HOUR).cast(instants.type)
    cancelled = pa.array(np.arange(count) % 100 == 7)
    return pa.table({
        "departed": pa.compute.if_else(cancelled, pa.scalar(None, instants.type), instants),
        "landed": pa.compute.if_else(cancelled, pa.scalar(None, instants.type), landed),
        "origin": [("EWR", "JFK")[k % 2] for k in range(count)],
        "carrier": [("UA", "B6", "DL")[k % 3] for k in range(count)],
        "flight": pa.array(np.arange(count)),
        "tail": ["N1"] * count,
        "delay": pa.array(np.arange(count)),
        "scheduled": instants,
    })  # fmt: skip


@pytest.fixture
def flights():
    return made(4_000)


def micros(column):
    return column.cast(pa.int64()).to_numpy(zero_copy_only=False)


def test_every_flight_arrives_once(flights):
    arriving = arrivals.arrange(flights, files=5, late=20)
    together = pa.concat_tables(arriving.files).sort_by("delay")
    assert len(arriving.files) == 5
    assert together.drop_columns("late").equals(flights)


def test_the_order_is_always_the_same_and_not_that_of_departure(flights):
    one, other = (arrivals.arrange(flights, files=5, late=20) for _ in range(2))
    assert all(a.equals(b) for a, b in zip(one.files, other.files, strict=True))
    assert one.disordered > 1_000
    assert one.files[0]["departed"].drop_null() != one.files[0]["departed"].drop_null().sort()


def test_late_flights_are_behind_the_watermark_and_the_others_before_it(flights):
    arriving = arrivals.arrange(flights, files=5, late=20)
    assert arriving.late == 20
    seen = []  # the latest departure of each file before
    for table in arriving.files:
        known = table.filter(table["departed"].is_valid())
        departed, late = micros(known["departed"]), known["late"].to_numpy()
        if seen:
            watermark = max(seen) - arrivals.DELAY_HOURS * HOUR
            assert (departed[~late] > watermark).all()
        if late.any():
            watermark = max(seen[:-1]) - arrivals.DELAY_HOURS * HOUR  # a file earlier
            assert (departed[late] + DAY <= watermark).all()
        seen.append(departed.max())


def test_no_two_late_flights_can_be_added_up_before_they_are_dropped(flights):
    together = pa.concat_tables(arrivals.arrange(flights, files=5, late=200).files)
    late = together.filter(together["late"])
    hours = (micros(late["departed"]) // HOUR).tolist()
    keys = list(zip(hours, late["origin"].to_pylist(), strict=True))
    assert len(keys) == len(set(keys)) > 50


def test_flights_that_are_neither_late_nor_on_time_are_refused():
    """Files of hours: what comes three files later is not yet behind a window of a day."""
    with pytest.raises(AssertionError, match="neither on time nor late"):
        arrivals.arrange(made(4_000, spread=DAY), files=8, late=20)


def test_files_are_written_in_order_and_the_last_row_closes_all_windows(flights, tmp_path):
    arriving = arrivals.arrange(flights, files=5, late=20)
    arrivals.write(arriving.files, tmp_path / "in")
    paths = sorted((tmp_path / "in").iterdir())
    assert [path.name for path in paths] == [f"{k:03d}.parquet" for k in range(5)]
    changed = [path.stat().st_mtime for path in paths]
    assert changed == sorted(set(changed))
    tables = [pq.read_table(path) for path in paths]
    assert all(one.equals(other) for one, other in zip(tables[:-1], arriving.files, strict=False))
    assert tables[-1].slice(0, tables[-1].num_rows - 1).equals(arriving.files[-1])
    (closing,) = tables[-1].slice(tables[-1].num_rows - 1).to_pylist()
    assert closing["departed"].year == 2096
    assert (closing["origin"], closing["late"]) == ("", False)
