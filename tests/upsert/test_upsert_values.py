"""Values as they lie in each database, and what is refused before anything is written."""

from __future__ import annotations

import json
import math
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

import fanlight as fl
from fanlight.io.upsert.postgresql import without_password
from tests.upsert.bases import KINDS, Sqlite, rows_of
from tests.upsert.bases import base as made

NOON = datetime(2024, 3, 10, 12, 0, 0, 1, UTC)
HERE = pa.timestamp("us", tz="America/New_York")
LONG = Decimal("12345678901234567890.123456789012345678")
INNER = pa.struct([("f", pa.float64()), ("t", HERE), ("x", pa.decimal128(9, 2))])
ROWS = pa.table({
    "k": ["a", "b"],
    "y": [True, None],
    "i": pa.array([-(2**63), None], pa.int64()),
    "h": pa.array([2**15 - 1, None], pa.int16()),
    "f": [math.nan, -math.inf],
    "g": pa.array([1.5, None], pa.float32()),
    "x": pa.array([LONG, None], pa.decimal128(38, 18)),
    "t": pa.array([NOON, None], HERE),
    "n": pa.array([NOON.replace(tzinfo=None), None], pa.timestamp("us")),
    "d": [date(2024, 2, 29), None],
    "b": [b"\0\xff", None],
    "l": pa.array([[{"t": NOON, "x": Decimal("1.20"), "f": math.nan}, None], None],
                  pa.list_(INNER)),
    "m": pa.array([[("a", 1), ("b", None)], None], pa.map_(pa.string(), pa.int64())),
})  # fmt: skip

base = pytest.fixture(params=KINDS)(made)
INSTANT, LOCAL = "2024-03-10 12:00:00.000001+00:00", "2024-03-10 12:00:00.000001"
AS_JSON = [{"f": "NaN", "t": INSTANT, "x": "1.20"}, None]
LIST = [{"f": math.nan, "t": NOON, "x": Decimal("1.20")}, None]
LIES = {
    "sqlite": ["a", 1, -(2**63), 2**15 - 1, "NaN", 1.5, str(LONG), INSTANT, LOCAL, "2024-02-29",
               b"\0\xff", json.dumps(AS_JSON), json.dumps({"a": 1, "b": None})],
    "postgresql": ["a", True, -(2**63), 2**15 - 1, math.nan, 1.5, LONG, NOON,
                   NOON.replace(tzinfo=None), date(2024, 2, 29), b"\0\xff", AS_JSON,
                   {"a": 1, "b": None}],
    "delta": ["a", True, -(2**63), 2**15 - 1, math.nan, 1.5, LONG, NOON,
              NOON.replace(tzinfo=None), date(2024, 2, 29), b"\0\xff", LIST,
              [("a", 1), ("b", None)]],
}  # fmt: skip


def test_every_type(base, request):
    base.write(["k"], ROWS)
    base.write(["k"], ROWS)
    first, second = base.read(ROWS.column_names)
    wanted = LIES[request.node.callspec.params["base"]]
    assert str(same_zone(first)) == str(same_zone(wanted))
    nulls = [value for name, value in zip(ROWS.column_names, second, strict=True) if name != "f"]
    assert nulls == ["b", *[None] * 11]
    assert second[ROWS.column_names.index("f")] == -math.inf


def same_zone(values):
    """The same instants, under one name of their zone."""
    if isinstance(values, datetime) and values.tzinfo is not None:
        return values.astimezone(UTC)
    if isinstance(values, (list, tuple)):
        return [same_zone(one) for one in values]
    if isinstance(values, dict):
        return {name: same_zone(one) for name, one in values.items()}
    return values


def test_durations_are_numbers_in_sqlite(tmp_path):
    base = Sqlite(str(tmp_path / "a.db"))
    rows = pa.table({"k": [1], "p": pa.array([timedelta(days=-1, microseconds=5)])})
    base.write(["k"], rows)
    assert base.read(["k", "p"]) == [(1, -86_400_000_000 + 5)]


def refused(base, rows, key, said):
    with pytest.raises(fl.FanlightError, match=said):
        base.write(key, rows)


def test_what_is_no_key_is_refused(base):
    refused(base, rows_of([("a", 1), (None, 2)]), ["k"], "finds 1 rows in which it is null")
    refused(base, rows_of([("a", 1), ("a", 2)]), ["k"], "finds 2 rows with the key k=a")
    refused(base, rows_of([("a", 1)]), ["kk"], r"names no column: 'kk'; there are 'k', 'v'")
    refused(base, pa.table({"k": [[1]]}), ["k"], "is a list, map or struct")
    empty = pa.table({"window": pa.array([None], pa.struct([("start", HERE), ("end", HERE)]))})
    refused(base, empty, ["window"], "window_start")


def test_columns_that_would_be_one_are_refused(base):
    rows = pa.table({"k": ["a"], "K": ["b"]})
    refused(base, rows, ["k"], "two columns of that name")


def test_what_postgresql_does_not_keep_is_refused(server):
    from tests.upsert.bases import Postgresql

    base = Postgresql(server, "refused")
    refused(base, rows_of([("a\0", 1)]), ["k"], "NUL")
    refused(base, rows_of([("a", 1)], value="v" * 64), ["k"], "63 bytes")
    nowhere = Postgresql("postgresql://me:secret@127.0.0.1:1/none")
    with pytest.raises(fl.FanlightError) as raised:
        nowhere.write(["k"], rows_of([]))
    assert "secret" not in str(raised.value)


def test_a_schema_of_postgresql_stands_before_a_dot(server):
    from tests.upsert.bases import Postgresql

    base = Postgresql(server, "Lake.busy")
    base.ask('CREATE SCHEMA "Lake"')
    base.write(["k"], rows_of([("a", 1)]))
    assert base.ask('SELECT k, v FROM "Lake"."busy"') == [("a", 1)]


@pytest.mark.parametrize(
    "url", ["postgresql://me:se@cret@host/base", "postgresql://host/base?password=secret&x=1"]
)
def test_no_password_is_shown(url):
    assert "cret" not in without_password(url)


def test_a_delta_table_refuses_what_it_has_no_type_for(tmp_path):
    from tests.upsert.bases import Lake

    rows = pa.table({"k": [1], "p": pa.array([timedelta(days=1)])})
    refused(Lake(str(tmp_path)), rows, ["k"], "no corresponding type in Delta")


def test_a_file_that_is_no_database_is_told(tmp_path):
    path = tmp_path / "a.db"
    path.write_text("no database, but long enough to be taken for one" * 50)
    refused(Sqlite(str(path)), rows_of([("a", 1)]), ["k"], "is not a database")


@pytest.mark.parametrize(("package", "extra"), [("psycopg", "postgresql"), ("deltalake", "delta")])
def test_a_package_that_is_not_there_is_named(package, extra, tmp_path, monkeypatch):
    from tests.upsert.bases import Lake, Postgresql

    monkeypatch.setitem(sys.modules, package, None)
    base = {"psycopg": Postgresql, "deltalake": Lake}[package](str(tmp_path))
    with pytest.raises(fl.FanlightError, match=rf"fanlight\[{extra}\]"):
        base.write(["k"], rows_of([]))
