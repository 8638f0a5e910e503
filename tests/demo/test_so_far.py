"""Windows while they are open: what the table says after each micro-batch, and in the end."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import fanlight as fl
from demo import figures, flights, running, so_far

WORST = np.datetime64("2013-03-06")


@pytest.fixture(scope="module")
def week():
    """Of March, with two days on which 180 flights were cancelled."""
    raw = flights.read_zipped_csv(flights.data_folder() / "flights.csv.zip")
    days = pc.and_(pc.greater_equal(raw["day"], 4), pc.less_equal(raw["day"], 10))
    return flights.convert_flights(raw.filter(pc.and_(pc.equal(raw["month"], 3), days)))


@pytest.fixture(scope="module")
def shown(week):
    return so_far.days_around(week, WORST)


@pytest.fixture(scope="module")
def followed(classic, week, tmp_path_factory):
    ticks = []
    found = so_far.follow(classic, week, tmp_path_factory.mktemp("so_far"), ticks.append)
    assert ticks == list(range(1, len(ticks) + 1))
    assert len(ticks) <= so_far.MOST
    return found


def local_days(table):
    return (figures.utc_times(table, "departed") - so_far.MIDNIGHT).astype("datetime64[D]")


def count(tables):
    """Departures by airport and day, counted one by one."""
    table = pa.concat_tables(tables)
    return Counter(zip(table["origin"].to_pylist(), local_days(table).tolist(), strict=True))


def readings(said):
    """By time: departures by airport and day, and which of those are final."""
    found = {}
    for row in said.to_pylist():
        counted, final = found.setdefault(row["known"], ({}, set()))
        key = row["origin"], (row["window.start"] - so_far.MIDNIGHT.item()).date()
        counted[key] = row["departures"]
        final |= {key} if row["final"] else set()
    return [found[time] for time in sorted(found)]


def test_the_days_are_those_around_the_worst(shown):
    assert [str(day) for day in np.unique(local_days(shown))] == [
        f"2013-03-0{day}" for day in (5, 6, 7, 8)
    ]
    assert shown["departed"].null_count == 0


def test_a_file_has_what_became_known_in_its_time(shown):
    known, files = so_far.arrange(shown)
    assert sum(table.num_rows for table in files) == shown.num_rows
    assert (np.diff(known) % so_far.STEP == np.timedelta64(0)).all()
    assert (np.diff(known) > np.timedelta64(0)).all()
    for end, table in zip(known, files, strict=True):
        landed = table["landed"].cast(pa.int64()).fill_null(0).to_numpy()
        assert landed.astype("datetime64[us]").max() < end


@pytest.mark.thorough
def test_after_each_micro_batch_the_table_has_all_flights_so_far(followed, shown):
    _, files = so_far.arrange(shown)
    said = readings(followed.said)
    assert len(said) == len(files) + 1  # the last one has but closed the days
    for number, (counted, _) in enumerate(said):
        assert counted == count(files[: number + 1])


@pytest.mark.thorough
def test_days_are_open_before_they_are_final(followed):
    said = readings(followed.said)
    assert not said[0][1]
    days = set(said[-1][0])
    assert said[-1][1] == days
    assert len(days) == 3 * so_far.DAYS
    final = [now for _, now in said]
    assert all(before <= now for before, now in pairwise(final))
    assert len({len(now) for now in final}) >= so_far.DAYS  # not all at once


@pytest.mark.thorough
def test_the_end_is_what_a_batch_gives(followed):
    assert followed.compared.rows == 3 * so_far.DAYS
    assert followed.compared.different == 0


def open_one(found):
    """One that stays open though nothing more will come."""
    return found.selectExpr("*", "departures % 2 = 0 as final")


def change_one(found):
    return found.selectExpr(
        "origin", "window", "departures + int(origin = 'JFK') as departures", "mean_delay",
        "true as final",
    )  # fmt: skip


def leave_one_out(found):
    return found.where("origin <> 'JFK'").selectExpr("*", "true as final")


@pytest.mark.parametrize("spoil", [open_one, change_one, leave_one_out])
def test_a_final_row_that_is_wrong_is_seen(classic, week, monkeypatch, tmp_path, spoil):
    """The comparison itself: the table has another answer in the end."""

    class Ended:
        def awaitTermination(self):  # noqa: N802 - Spark's name
            pass

    def write(_arriving, base, _checkpoint, read):
        kept = running.write_table(classic, so_far.days_around(week, WORST), tmp_path / "kept")
        table = fl.upsert(f"sqlite:///{base}", table="days", key=["origin", "window"])
        table(spoil(so_far.ask(kept)))
        read(0)
        return Ended()

    monkeypatch.setattr(so_far, "start", write)
    found = so_far.follow(classic, week, tmp_path / "work")
    assert found.compared.rows == 3 * so_far.DAYS
    assert found.compared.different >= (1 if spoil is open_one else so_far.DAYS)


@pytest.mark.thorough
def test_open_days_are_hatched_and_final_ones_are_not(followed):
    figure = figures.draw_days(followed.said, so_far.STEP)
    drawn = Counter()
    for bars in figure.data:
        if bars.x != (None,):
            drawn[bool(bars.marker.pattern.shape)] += sum(bars.y)
    final = followed.said["final"]
    for hatched in (True, False):
        rows = followed.said.filter(pc.equal(final, not hatched))
        assert drawn[hatched] == pc.sum(rows["departures"]).as_py() > 0
