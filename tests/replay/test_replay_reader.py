"""What a reader gives Spark, without Spark: every row once, in the order of arrival."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

import fanlight as fl
from fanlight.io.replay import source
from fanlight.io.replay.source import Disorder, LimitedReader, ReplayOptions, UnlimitedReader
from tests.helpers.shown import shown
from tests.replay.by_hand import arrival

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KINDS = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("id", pa.int64()), ("s", pa.string())])


def at(micros):
    return EPOCH + timedelta(microseconds=micros)


def rows_of(times, begin):
    return [{"ts": at(t), "id": begin + n, "s": None if n % 3 else f"a,{n}\u00e9"}
            for n, t in enumerate(times)]  # fmt: skip


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows, KINDS), path, row_group_size=3)


def write_json(path, rows):
    shown = [{**row, "ts": row["ts"].isoformat()} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n\n" for row in shown), "utf-8")


def write_csv(path, rows):
    lines = ["s;id;unused;ts"]
    for row in rows:
        text = "" if row["s"] is None else '"' + row["s"] + '"'
        lines.append(f"{text};{row['id']};x;{row['ts'].isoformat(' ')}")
    path.write_text("\ufeff" + "\r\n".join(lines), "utf-8")


WRITERS = {"parquet": write_parquet, "csv": write_csv, "json": write_json}


IN_ORDER = Disorder()


def options_of(folder, format, disorder=IN_ORDER, **more):
    given = {"speedup": None, "max_rows": 100, "header": True, "sep": ";", **more}
    return ReplayOptions(
        paths=(f"file://{folder}",), format=format, time="ts", disorder=disorder, **given
    )


def played(reader, start, end):
    """The rows between two offsets, read by other readers in other processes."""
    found = []
    for part in reader.partitions(start, end):
        other = pickle.loads(pickle.dumps(LimitedReader(reader.options, reader.kinds)))  # noqa: S301
        for batch in other.read(pickle.loads(pickle.dumps(part))):  # noqa: S301
            assert batch.schema == KINDS
            found += batch.to_pylist()
    return found


MICROS = st.integers(0, 20) | st.integers(-(2**45), 2**45)


@shown(90)
@given(
    files=st.lists(st.lists(MICROS, max_size=12), min_size=1, max_size=3),
    format=st.sampled_from(sorted(WRITERS)),
    disorder=st.builds(Disorder, st.integers(0, 30), st.sampled_from([0.0, 0.3]),
                       st.integers(1, 40), st.integers(0, 9)),
    data=st.data(),
)  # fmt: skip
def test_each_row_comes_once_in_the_order_of_arrival(
    tmp_path_factory, files, format, disorder, data
):
    folder = tmp_path_factory.mktemp("played")
    rows = []
    for n, times in enumerate(files):
        mine = rows_of(times, len(rows))
        WRITERS[format](folder / f"part-{n}", mine)
        rows += mine
    micros = [t for times in files for t in times]
    wanted = sorted(range(len(rows)), key=lambda n: arrival(micros[n], n, disorder))

    how = options_of(folder, format, disorder)
    reader = LimitedReader(how, KINDS)
    offset, found = reader.initialOffset(), []
    while True:
        if data.draw(st.booleans(), "restarted"):
            reader = LimitedReader(how, KINDS)
            offset = json.loads(json.dumps(offset))
        end = reader.latestOffset(offset, ReadMaxRows(data.draw(st.integers(1, 7), "rows")))
        if end == offset:
            break
        mine = played(reader, offset, end)
        if data.draw(st.booleans(), "again"):  # a micro-batch that was not committed
            assert played(LimitedReader(how, KINDS), offset, end) == mine
        found += mine
        offset = end
    assert found == [rows[n] for n in wanted]


def test_partitions_are_some_rows_each(tmp_path, monkeypatch):
    write_parquet(tmp_path / "one", rows_of(range(10), 0))
    monkeypatch.setattr(source, "TOGETHER", 4)
    reader = LimitedReader(options_of(tmp_path, "parquet"), KINDS)
    parts = reader.partitions(reader.make_offset(0), reader.make_offset(10))
    assert [sum(batch.num_rows for batch in reader.read(part)) for part in parts] == [4, 4, 2]
    assert reader.partitions(reader.make_offset(3), reader.make_offset(3)) == []


@pytest.fixture
def slow(tmp_path):
    """A replay of ten rows, an hour apart."""
    write_parquet(tmp_path / "one", rows_of([n * 3_600_000_000 for n in range(10)], 0))
    return options_of(tmp_path, "parquet", speedup=1.0, max_rows=4)


def test_triggers_that_end_wait_for_no_clock(slow):
    reader = LimitedReader(slow, KINDS)
    begin = reader.initialOffset()
    assert reader.getDefaultReadLimit() == ReadMaxRows(4)
    assert reader.read_offset(reader.latestOffset(begin, ReadMaxRows(4))) == 1
    assert reader.read_offset(reader.latestOffset(begin, ReadAllAvailable())) == 10  # once
    reader.prepareForTriggerAvailableNow()
    ends, offset = [], begin
    while not ends or ends[-1] < 10:
        offset = reader.latestOffset(offset, reader.getDefaultReadLimit())
        ends.append(reader.read_offset(offset))
    assert ends == [4, 8, 10]
    assert reader.latestOffset(offset, ReadMaxRows(4)) == offset


def test_the_oldest_pyspark_is_told_what_it_can_know(slow, tmp_path):
    reader = UnlimitedReader(slow, KINDS)
    assert reader.read_offset(reader.latestOffset()) == 1
    again = UnlimitedReader(slow, KINDS)
    again.partitions(again.make_offset(7), again.make_offset(7))  # how Spark tells where it stands
    assert again.read_offset(again.latestOffset()) == 8
    with pytest.raises(fl.FanlightError, match="install PySpark 4"):
        again.partitions(again.make_offset(7), again.make_offset(1))
    at_once = UnlimitedReader(options_of(tmp_path, "parquet", max_rows=2), KINDS)
    assert at_once.read_offset(at_once.latestOffset()) == 10


def test_a_checkpoint_of_another_replay_is_refused(slow, tmp_path):
    offset = LimitedReader(slow, KINDS).make_offset(3)
    other = LimitedReader(options_of(tmp_path, "parquet", Disorder(10**10, seed=1)), KINDS)
    with pytest.raises(fl.FanlightError, match="new checkpointLocation"):
        other.latestOffset(offset, ReadMaxRows(1))
    faster = LimitedReader(options_of(tmp_path, "parquet", speedup=9.0), KINDS)
    assert faster.read_offset(offset) == 3  # the speed may change


def test_what_is_asked_goes_through_an_option_as_it_is(slow):
    assert ReplayOptions.from_text(slow.to_text()) == slow
