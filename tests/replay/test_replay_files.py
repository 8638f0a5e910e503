"""Files as they are found and read: values of every type, and what is refused."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fanlight as fl
from fanlight.io.replay import files
from fanlight.io.replay.files import Csv, Json, Parquet, list_files
from fanlight.io.replay.text_lines import parse_csv, parse_json, parse_time

UTC_TIME, LOCAL_TIME = pa.timestamp("us", tz="UTC"), pa.timestamp("us")
NOON = datetime(2024, 3, 10, 12, 0, 0, 1, UTC)
STRUCT = pa.struct([("a", pa.int32()), ("t", UTC_TIME)])
MAP = pa.map_(pa.string(), pa.decimal128(10, 2))
NESTED = pa.schema([
    ("ts", UTC_TIME), ("n", LOCAL_TIME), ("l", pa.list_(STRUCT)), ("m", MAP), ("b", pa.binary()),
    ("d", pa.date32()), ("x", pa.decimal128(38, 18)), ("f", pa.float64()), ("y", pa.bool_()),
])  # fmt: skip
LONG = Decimal("12345678901234567890.123456789012345678")
ROWS = [
    {"ts": NOON, "n": NOON.replace(tzinfo=None), "l": [{"a": 1, "t": NOON}, None], "f": 0.1,
     "m": [("k", Decimal("1.20")), ("l", None)], "b": b"\0\xff", "d": date(2024, 3, 10), "x": LONG,
     "y": True},
    {"ts": NOON, "n": None, "l": None, "m": None, "b": None, "d": None, "x": None, "f": None,
     "y": None},
    {"ts": NOON, "n": None, "l": [], "m": [], "b": b"", "d": None, "x": LONG.copy_negate(),
     "f": -0.0, "y": False},
]  # fmt: skip


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"])
def zone(request, monkeypatch):
    """The machine is elsewhere."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone")
def test_values_of_json(tmp_path):
    text = """
{"ts": "2024-03-10T12:00:00.000001Z", "n": "2024-03-10 12:00:00.000001", "y": true, "f": 0.1,
 "l": [{"a": 1, "t": "2024-03-10T14:00:00.000001+02:00", "more": 1}, null], "d": "2024-03-10",
 "m": {"k": 1.20, "l": null}, "b": "AP8=", "x": 12345678901234567890.123456789012345678}
{"ts": "2024-03-10T12:00:00.000001"}
{"ts": "2024-03-10T12:00:00.000001", "l": [], "m": {}, "b": "", "f": -0.0, "y": false,
 "x": -12345678901234567890.123456789012345678}"""
    lines = text.strip().replace("\n ", " ").splitlines()
    path = tmp_path / "a.json"
    path.write_text("\n".join(lines), "utf-8")
    file = Json(str(path.as_uri()))
    times = file.read_times(NESTED.field("ts"))
    assert times.tolist() == [parse_time("2024-03-10T12:00:00.000001")] * 3
    rows = np.array([0, 1, 2])
    assert file.keep_rows(rows).read_rows(rows, NESTED).to_pylist() == ROWS


def test_floats_of_json_that_json_lacks():
    kinds = pa.schema([("f", pa.float64())])
    lines = [b'{"f": "NaN"}', b'{"f": "-Infinity"}', b'{"f": 3}']
    assert str(parse_json(lines, kinds)["f"].to_pylist()) == "[nan, -inf, 3.0]"


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("old", [False, True])
def test_values_of_parquet(old, tmp_path):
    """Spark's own times may be of 96 bits, which have no zone, and mean UTC."""
    path = tmp_path / "a.parquet"
    table = pa.Table.from_pylist(ROWS, NESTED)
    table = table.drop(["n"]) if old else table
    pq.write_table(table, path, use_deprecated_int96_timestamps=old, row_group_size=2)
    file = Parquet(path.as_uri())
    assert (
        file.read_times(NESTED.field("ts")).tolist()
        == [parse_time("2024-03-10T12:00:00.000001")] * 3
    )
    read = file.read_rows(np.array([0, 1, 2]), NESTED)
    assert read.schema == NESTED
    wanted = [{**row, "n": None} for row in ROWS] if old else ROWS
    assert read.to_pylist() == wanted


@pytest.mark.usefixtures("zone")
def test_values_of_csv():
    kinds = pa.schema([("ts", UTC_TIME), ("n", LOCAL_TIME), ("x", pa.decimal128(38, 18)),
                       ("s", pa.string()), ("d", pa.date32()), ("f", pa.float64())])  # fmt: skip
    lines = [
        b'2024-03-10 12:00:00.000001;2024-03-10T12:00:00.000001;%s;"a;""b""";2024-03-10;NaN\r\n'
        % str(LONG).encode(),
        b'2024-03-10T07:00:00.000001-05:00;;;"";;\n',
        b"2024-03-10T12:00:00.000001Z;;-1;;;1e3",
    ]
    found = parse_csv(lines, kinds.names, kinds, ";").to_pylist()
    local = NOON.replace(tzinfo=None)
    first = {"ts": NOON, "n": local, "x": LONG, "s": 'a;"b"', "d": date(2024, 3, 10)}
    assert str(found[0].pop("f")) == "nan"
    assert found == [
        first,
        {"ts": NOON, "n": None, "x": None, "s": "", "d": None, "f": None},
        {"ts": NOON, "n": None, "x": Decimal(-1), "s": None, "d": None, "f": 1000.0},
    ]
    assert parse_csv([], kinds.names, kinds, ";").num_rows == 0


def test_files_of_a_folder_are_those_that_spark_reads(tmp_path):
    for name in ("b", "a", "_SUCCESS", ".a.crc"):
        (tmp_path / name).write_text("")
    (tmp_path / "_temporary").mkdir()
    uri = tmp_path.as_uri()
    assert list_files([f"{uri}/"]) == [f"{uri}/a", f"{uri}/b"]
    assert list_files([f"{uri}/b", f"{uri}/a"]) == [f"{uri}/b", f"{uri}/a"]
    (tmp_path / "day=1").mkdir()
    with pytest.raises(fl.FanlightError, match="'day=1'"):
        list_files([uri])
    with pytest.raises(fl.FanlightError, match="no such file"):
        list_files([f"{uri}/none"])


def test_a_file_of_many_lines_is_read_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINES", 3)
    path = tmp_path / "a.csv"
    path.write_text("".join(f"2024-01-01 00:00:0{n},{n}\n" for n in range(8)), "utf-8")
    kinds = pa.schema([("ts", UTC_TIME), ("n", pa.int64())])
    file = Csv(path.as_uri(), names=("ts", "n"), header=False)
    assert np.diff(file.read_times(kinds.field("ts"))).tolist() == [1_000_000] * 7
    rows = np.array([0, 3, 7])
    assert file.keep_rows(rows).read_rows(rows, kinds)["n"].to_pylist() == [0, 3, 7]


KINDS = pa.schema([("ts", UTC_TIME), ("n", pa.int32())])
WRONG = [
    ("csv", "ts,n\n2024-01-01,1\n,2\n", "1 rows without a time"),
    ("csv", "ts\n2024-01-01\n", "no column 'n' in its first line, which has 'ts'"),
    ("csv", "ts,n\n2024-01-01,x\n", "invalid value 'x'"),
    ("csv", "ts,n\n2024-01-01,1,2\n", "Expected 2 columns, got 3"),
    ("csv", "ts,n\nyesterday,1\n", "yesterday"),
    ("csv", "ts,n\n2024-01-01,3000000000\n", "3000000000"),
    ("json", '{"ts": "2024-01-01", "n": 1}\n{"n": 1}\n', "1 rows without a time"),
    ("json", '{"ts": "2024-01-01", "n": "1"}', '"1" is not a whole number'),
    ("json", '{"ts": "2024-01-01", "n": true}', "true is not a whole number"),
    ("json", '{"ts": "2024-01-01", "n": 1.5}', "is not a whole number"),
    ("json", '{"ts": 5}', "5 is not text"),
    ("json", "[1]", "is not an object"),
    ("json", '{"ts": ', "cannot read its rows"),
]


@pytest.mark.parametrize(("format", "text", "said"), WRONG, ids=[one for _, _, one in WRONG])
def test_what_cannot_be_read_is_told(format, text, said, tmp_path):
    path = tmp_path / "a"
    path.write_text(text, "utf-8")
    file = files.make_file(path.as_uri(), format, KINDS.names, header=True, sep=",")
    with pytest.raises(fl.FanlightError) as raised:
        read_all(file)
    assert said in str(raised.value)
    assert path.as_uri() in str(raised.value)


def read_all(file):
    rows = np.arange(len(file.read_times(KINDS.field("ts"))))
    return file.keep_rows(rows).read_rows(rows, KINDS)


def test_a_packed_text_is_refused(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(b"")
    with pytest.raises(fl.FanlightError, match="decompress it"):
        Csv(path.as_uri(), names=("ts",)).read_times(KINDS.field("ts"))


def test_a_parquet_file_of_other_types_is_refused_and_of_fewer_columns_has_nulls(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"ts": pa.array([NOON], UTC_TIME)}), path)
    assert read_all(Parquet(path.as_uri())).to_pylist() == [{"ts": NOON, "n": None}]
    pq.write_table(pa.table({"ts": pa.array([NOON], UTC_TIME), "n": ["x"]}), path)
    with pytest.raises(fl.FanlightError, match="'x'"):
        read_all(Parquet(path.as_uri()))
    pq.write_table(pa.table({"n": [1]}), path)
    with pytest.raises(fl.FanlightError, match="1 rows without a time"):
        read_all(Parquet(path.as_uri()))
