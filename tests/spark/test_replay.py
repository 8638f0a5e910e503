"""Files played back by Spark: rows, order, restarts, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import chain

import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import fanlight as fl
from fanlight import agg
from fanlight.io.replay.source import Disorder
from tests.replay.by_hand import arrival

ROWS = """
    SELECT timestamp_micros(1700000000000000 + id * id % 101 * 7000001) AS ts,
           timestamp_ntz '2024-03-10 02:30:00.000001' AS local, id,
           if(id % 5 = 0, null, cast(id / 3 AS decimal(20, 6))) AS x,
           array(named_struct('a', id, 't', timestamp_micros(id)), null) AS l,
           map('k', id, 'l', null) AS m, cast(cast(id AS string) AS binary) AS b,
           date'2024-02-29' + cast(id AS int) AS d, id % 2 = 0 AS y, double('NaN') AS f
    FROM range({rows})
"""
DISORDER = Disorder(60_000_000, late=0.1, late_by=600_000_000, seed=7)
ASKED = {
    "time": "ts",
    "disorder": "1 minute",
    "late_share": 0.1,
    "lateness": "10 minutes",
    "seed": 7,
}


@pytest.fixture(scope="module")
def folder(classic, tmp_path_factory):
    """Files as Spark writes them."""
    made = tmp_path_factory.mktemp("played")
    classic.sql(ROWS.format(rows=200)).repartition(3).write.parquet(f"{made}/rows")
    return made


def played_to(stream, path, **trigger):
    writer = stream.writeStream.option("checkpointLocation", f"{path}/checkpoint")
    query = (
        writer.trigger(**(trigger or {"availableNow": True})).format("parquet").start(f"{path}/out")
    )
    query.awaitTermination()
    return query


@pytest.mark.streaming
def test_rows_are_those_of_the_files(spark, folder, tmp_path):
    stream = fl.replay(spark, f"{folder}/rows", format="parquet", max_rows_per_batch=80, **ASKED)
    query = played_to(stream, tmp_path)
    assert [one.numInputRows for one in query.recentProgress if one.numInputRows] == [80, 80, 40]
    wanted = spark.read.parquet(f"{folder}/rows")
    found = spark.read.parquet(f"{tmp_path}/out")
    assert found.schema == wanted.schema == stream.schema
    assert rows_of(found) == rows_of(wanted)
    assert found.count() == 200


def rows_of(found):
    return sorted(map(str, found.selectExpr("to_json(struct(*)) AS row").collect()))


def in_order(folder):
    """The numbers of the rows in the order of their arrival, worked out by hand."""
    paths = sorted(folder.glob("rows/part-*.parquet"))
    tables = [pq.read_table(path, columns=["ts", "id"], coerce_int96_timestamp_unit="us")
              for path in paths]  # fmt: skip
    times = list(chain.from_iterable(t["ts"].cast("int64").to_pylist() for t in tables))
    ids = list(chain.from_iterable(t["id"].to_pylist() for t in tables))
    return [ids[n] for n in sorted(range(len(ids)), key=lambda n: arrival(times[n], n, DISORDER))]


@pytest.mark.streaming
def test_a_stream_that_fails_goes_on_in_the_same_order(classic, folder, tmp_path):
    batches, broken = {}, [False]

    def keep(rows, batch):
        batches[batch] = [row.id for row in rows.collect()]
        if batch == 1 and not broken[0]:
            broken[0] = True
            msg = "pulled the plug"
            raise RuntimeError(msg)

    def run():
        stream = fl.replay(
            classic, f"{folder}/rows", format="parquet", max_rows_per_batch=70, **ASKED
        )
        writer = stream.writeStream.foreachBatch(keep).trigger(availableNow=True)
        writer.option("checkpointLocation", f"{tmp_path}/checkpoint").start().awaitTermination()

    with pytest.raises(StreamingQueryException, match="pulled the plug"):
        run()
    before = batches[1]
    run()
    assert batches[1] == before
    assert list(chain.from_iterable(batches.values())) == in_order(folder)
    run()  # there is nothing more
    assert sum(map(len, batches.values())) == 200


@pytest.mark.streaming
@pytest.mark.parametrize("format", ["csv", "json"])
def test_text_as_spark_writes_it(classic, tmp_path, format):
    columns = "date_trunc('second', ts) AS ts", "id", "x", "d", "y", "f"
    rows = classic.sql(ROWS.format(rows=20)).selectExpr(*columns)
    how = {"header": True} if format == "csv" else {}
    rows.write.format(format).options(**how).save(f"{tmp_path}/rows")
    given = {"format": format, "schema": rows.schema, "time": "ts"}
    played_to(fl.replay(classic, f"{tmp_path}/rows", **given), tmp_path, once=True)
    assert rows_of(classic.read.parquet(f"{tmp_path}/out")) == rows_of(rows)


@pytest.mark.streaming
def test_windows_over_a_replay_are_those_of_the_batch(classic, folder, tmp_path):
    """The watermark is as late as rows are, so none is lost."""
    asked = {**ASKED, "late_share": 0.0, "lateness": None}
    stream = fl.replay(classic, f"{folder}/rows", format="parquet", max_rows_per_batch=50, **asked)
    sliding = fl.Sliding("4 minutes", "1 minute")

    def counted(rows):
        return fl.over(rows, sliding, time="ts").agg(agg.count(), agg.sum("id"))

    played_to(counted(stream.withWatermark("ts", "1 minute")), tmp_path)
    found = {str(row) for row in classic.read.parquet(f"{tmp_path}/out").collect()}
    wanted = {str(row) for row in counted(classic.read.parquet(f"{folder}/rows")).collect()}
    assert len(found) > 5
    assert found <= wanted


def test_what_shows_only_when_files_are_read_ends_the_stream_with_a_sentence(classic, tmp_path):
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    stream = fl.replay(classic, tmp_path / "a.json", time="ts", schema="ts timestamp, id long")
    with pytest.raises(StreamingQueryException, match="finds 1 rows without a time"):
        played_to(stream, tmp_path)


PARQUET = {"time": "ts", "format": "parquet"}
TEXT = {"time": "ts", "format": "json", "schema": "ts timestamp, id long"}
WRONG = [
    ("none", PARQUET, "cannot read them as parquet: .*PATH_NOT_FOUND"),
    ("rows", {"time": "ts"}, "no suffix that tells the format"),
    ("rows", {**PARQUET, "format": "orc"}, "'parquet' or 'csv' or 'json'"),
    ("rows", {**PARQUET, "time": "tss"}, "is not a column of the files; there are 'ts'"),
    ("rows", {**PARQUET, "time": "id"}, "is of type bigint, not a timestamp"),
    ("rows", {**PARQUET, "time": "d"}, "is of type date, not a timestamp"),
    ("rows", {**PARQUET, "speedup": -1}, "speedup=-1 is not a positive number"),
    ("rows", {**PARQUET, "speedup": float("nan")}, "is not a positive number"),
    ("rows", {**PARQUET, "speedup": True}, "is not a positive number"),
    ("rows", {**PARQUET, "disorder": "-1 second"}, "is negative"),
    ("rows", {**PARQUET, "disorder": "1 month"}, "calendar unit"),
    ("rows", {**PARQUET, "disorder": 5}, "not text"),
    ("rows", {**PARQUET, "late_share": 0.1}, "do not go without each other"),
    ("rows", {**PARQUET, "lateness": "1 day"}, "do not go without each other"),
    ("rows", {**PARQUET, "late_share": 2, "lateness": "1 day"}, "is not a share"),
    ("rows", {**PARQUET, "late_share": 0.1, "lateness": "0 days"}, "is not longer than zero"),
    ("rows", {**PARQUET, "seed": 1.5}, "is not a whole number"),
    ("rows", {**PARQUET, "max_rows_per_batch": 0}, "is not a whole number of 1 or more"),
    ("rows", {**PARQUET, "sep": "||"}, "not one ASCII character"),
    ("rows", {**PARQUET, "header": 1}, "is neither True nor False"),
    ("rows", {"time": "ts", "format": "csv"}, "does not know the types"),
    ("rows", {**TEXT, "schema": "ts timestamp, id bgint"}, "cannot read them as json"),
    ("rows", {**TEXT, "schema": "ts timestamp, m map<int, int>"}, "cannot be played from json"),
    ("rows", {**TEXT, "format": "csv", "schema": "ts timestamp, l array<int>"}, "read them as csv"),
    ("rows", {**PARQUET, "schema": "ts timestamp, v variant"}, "'v' of type variant"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "asked", "said"), WRONG, ids=[said for *_, said in WRONG])
def test_what_cannot_be_played_is_refused_at_once(classic, folder, path, asked, said):
    with pytest.raises(fl.FanlightError, match=said):
        fl.replay(classic, f"{folder}/{path}", **asked)


@pytest.mark.parametrize("path", [3, [], ["a", 3], ""])
def test_what_is_no_path_is_refused(classic, path):
    with pytest.raises(fl.FanlightError, match="is not a path"):
        fl.replay(classic, path, time="ts")


@pytest.mark.connect
def test_a_relative_path_has_no_meaning_on_a_server(sessions):
    with pytest.raises(fl.FanlightError, match="the server has another working directory"):
        fl.replay(sessions["connect"], "rows.parquet", time="ts")


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.streaming
def test_a_driver_that_is_killed_goes_on_in_the_same_order(folder, tmp_path):
    """With -9, between two micro-batches or within one; and started again."""
    shutil.copytree(folder / "rows", tmp_path / "rows")
    program = [sys.executable, "-m", "tests.spark.played_program", str(tmp_path)]
    with subprocess.Popen(program, start_new_session=True) as running:
        until = time.monotonic() + 300
        while not (tmp_path / "batch-2").exists() and time.monotonic() < until:
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
    before = {path.name: path.read_text() for path in tmp_path.glob("batch-*")}
    assert 3 <= len(before) < 10
    subprocess.run([*program, "availableNow"], check=True, timeout=500)
    assert {name: (tmp_path / name).read_text() for name in before} == before
    batches = [json.loads((tmp_path / f"batch-{n}").read_text()) for n in range(10)]
    assert list(chain.from_iterable(batches)) == in_order(tmp_path)
    with closing(sqlite3.connect(tmp_path / "rows.db")) as base:
        kept = dict(base.execute("SELECT id, batch FROM rows"))
    assert kept == {id: n for n, batch in enumerate(batches) for id in batch}
