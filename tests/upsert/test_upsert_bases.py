"""What holds of every database: the newest row of each key, once, whatever is written again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fanlight as fl
from tests.helpers.shown import shown
from tests.upsert.bases import KINDS, Sqlite, rows_of
from tests.upsert.bases import base as made

base = pytest.fixture(params=KINDS)(made)
tables = pytest.fixture(params=KINDS[:2])(made)


def test_a_row_takes_the_place_of_the_one_with_its_key(base):
    base.write(["k"], rows_of([("a", 1), ("b", 2)]))
    base.write(["k"], rows_of([("b", 3), ("c", None)]))
    assert base.read(["k", "v"]) == [("a", 1), ("b", 3), ("c", None)]
    base.write(["k"], rows_of([]))
    base.write(["k"], rows_of([("b", None)]))
    assert base.read(["k", "v"]) == [("a", 1), ("b", None), ("c", None)]


def test_a_micro_batch_again_or_an_older_one_changes_nothing(base):
    base.write(["k"], rows_of([("a", 1)]), "one", 0)
    base.write(["k"], rows_of([("a", 2)]), "one", 1)
    base.write(["k"], rows_of([("a", 9)]), "one", 1)
    base.write(["k"], rows_of([("a", 9), ("b", 9)]), "one", 0)
    assert base.read(["k", "v"]) == [("a", 2)]
    base.write(["k"], rows_of([("a", 3)]), "other", 0)  # another stream counts for itself
    assert base.read(["k", "v"]) == [("a", 3)]
    base.write(["k"], rows_of([("b", 4)]), "one", 2)
    assert base.read(["k", "v"]) == [("a", 3), ("b", 4)]


def test_a_micro_batch_that_fails_leaves_nothing(tables):
    tables.write(["k"], rows_of([("a", 1)]), "one", 0)
    tables.ask(f'CREATE UNIQUE INDEX "only {tables.table}" ON "{tables.table}" (v)')
    with pytest.raises(fl.FanlightError, match="no row of this micro-batch"):
        tables.write(["k"], rows_of([("b", 2), ("c", 1)]), "one", 1)
    assert tables.read(["k", "v"]) == [("a", 1)]
    tables.write(["k"], rows_of([("b", 2)]), "one", 1)  # so it is not remembered either
    assert tables.read(["k", "v"]) == [("a", 1), ("b", 2)]


HOSTILE = 'k"; DROP TABLE busy; --`%s %(x)s ${x} \u00e9'


def test_names_and_values_are_not_sql(base):
    rows = rows_of([("'; DROP TABLE busy; --", 1), ("%s", 2), ("\U0001f600", 3)], HOSTILE, "select")
    base.table = f'a "b"; %s {base.table}'[:50]
    for _ in range(2):
        base.write([HOSTILE], rows, "'%s", 0)
        base.write([HOSTILE], rows)
    assert [row[1] for row in base.read([HOSTILE, "select"])] == [2, 1, 3]


def window(minute):
    start = datetime(2024, 3, 10, 6, 30, tzinfo=UTC) + timedelta(minutes=minute)
    return {"start": start, "end": start + timedelta(minutes=1)}


def windows(minutes, zone, **more):
    kind = pa.timestamp("us", tz=zone)
    columns = {
        "window": pa.array(
            [window(one) for one in minutes], pa.struct([("start", kind), ("end", kind)])
        ),
        "level": pa.array([0] * len(minutes), pa.int32()),
    }
    return pa.table({**columns, **{name: pa.array(one) for name, one in more.items()}})


def test_a_window_is_two_columns_whatever_the_session_s_time_zone(base):
    key = ["window", "level"]
    base.write(key, windows([0, 30, 60], "America/New_York", n=[1, 2, 3]))  # clocks go forward
    base.write(key, windows([30, 60, 90], "Asia/Tokyo", n=[4, 5, 6]))
    found = base.read(["window_start", "window_end", "level", "n"])
    shown = [(str(start)[:19], str(end)[:19], *rest) for start, end, *rest in found]
    assert shown == [
        ("2024-03-10 06:30:00", "2024-03-10 06:31:00", 0, 1),
        ("2024-03-10 07:00:00", "2024-03-10 07:01:00", 0, 4),
        ("2024-03-10 07:30:00", "2024-03-10 07:31:00", 0, 5),
        ("2024-03-10 08:00:00", "2024-03-10 08:01:00", 0, 6),
    ]


def test_a_table_of_keys_alone(base):
    rows = pa.table({"k": ["a", "b"]})
    base.write(["k"], rows)
    base.write(["k"], rows)
    assert base.read(["k"]) == [("a",), ("b",)]


def test_rows_that_are_gone_are_deleted(base):
    def rows(*found):
        table = rows_of([row[:2] for row in found])
        return table.append_column("no more", pa.array([row[2] for row in found], pa.bool_()))

    base.write(["k"], rows(("a", 1, False), ("b", 2, None), ("c", 3, True)), gone="no more")
    assert base.read(["k", "v"]) == [("a", 1), ("b", 2)]
    base.write(["k"], rows(("a", 9, True), ("d", 4, False)), "one", 3, gone="no more")
    assert base.read(["k", "v"]) == [("b", 2), ("d", 4)]
    base.write(["k"], rows(("b", 2, True)), "one", 2, gone="no more")  # an older micro-batch
    assert base.read(["k", "v"]) == [("b", 2), ("d", 4)]
    base.write(["k"], rows_of([("a", 1)]))
    assert base.read(["k", "v"]) == [("a", 1), ("b", 2), ("d", 4)]


def test_a_table_of_other_columns_is_refused(base):
    base.write(["k"], rows_of([("a", 1)]))
    with pytest.raises(fl.FanlightError, match="lacks 'w', and has 'v', which no row has"):
        base.write(["k"], rows_of([("a", 1)], value="w"))
    assert base.read(["k", "v"]) == [("a", 1)]


def test_a_table_without_such_a_key_is_refused(tables):
    tables.write(["k", "v"], rows_of([("a", 1)]))
    with pytest.raises(fl.FanlightError, match="without primary key or unique index of 'k'"):
        tables.write(["k"], rows_of([("a", 2)]))
    tables.ask(f'CREATE UNIQUE INDEX "i {tables.table}" ON "{tables.table}" (k)')
    tables.write(["k"], rows_of([("a", 2)]))
    assert tables.read(["k", "v"]) == [("a", 2)]


def test_an_index_of_some_rows_is_no_key(tables):
    tables.ask(f'CREATE TABLE "{tables.table}" (k text, v bigint)')
    tables.ask(f'CREATE UNIQUE INDEX "p {tables.table}" ON "{tables.table}" (k) WHERE v > 1')
    with pytest.raises(fl.FanlightError, match="without primary key"):
        tables.write(["k"], rows_of([("a", 2)]))


def test_two_that_write_at_once_both_write(tables):
    with ThreadPoolExecutor(4) as pool:
        for done in [
            pool.submit(tables.write, ["k"], rows_of([(f"k{n % 5}", n), (f"o{n}", n)]), f"{n}", 0)
            for n in range(12)
        ]:
            done.result()
    found = dict(tables.read(["k", "v"]))
    assert len(found) == 17
    assert all(found[f"o{n}"] == n for n in range(12))


CALL = st.dictionaries(st.sampled_from("abcd"), st.none() | st.integers(-9, 9), max_size=4)


@settings(shown(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.tuples(st.integers(0, 5), CALL), max_size=8))
def test_the_table_is_a_dictionary_that_no_older_micro_batch_updates(tmp_path, calls):
    base = Sqlite(str(tmp_path / "any.db"))
    base.ask("DROP TABLE IF EXISTS busy")
    base.ask("DROP TABLE IF EXISTS fanlight_batches")
    base.write(["k"], rows_of([]))
    wanted, last = {}, -1
    for batch, rows in calls:
        base.write(["k"], rows_of(list(rows.items())), "one", batch)
        if batch > last:
            wanted.update(rows)
            last = batch
    assert dict(base.read(["k", "v"])) == wanted
