"""A stream that is watched while files are replayed: its page shows what the stream gives."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.watching.newest_windows import NewestWindows
from tests.helpers.streams import source, write_files
from tests.plots.browser import chromium, opened
from tests.watching.served import cells, element, page_of, state_of

pytest.importorskip("starlette")
BEGIN = datetime(2024, 5, 1, 12)
FILES, SCHEMA = 4, "ts timestamp, k long"
SPEC = fl.Sliding("2 minutes", "1 minute")


@pytest.fixture
def folder(spark, tmp_path):
    """Files of a quarter of an hour each."""
    for number in range(FILES):
        rows = [(BEGIN + timedelta(seconds=900 * number + 9 * k), k % 2) for k in range(100)]
        write_files(tmp_path / "in", spark.createDataFrame(rows, SCHEMA))
    return tmp_path


def started(spark, folder, name, *, early=False):
    """One file a micro-batch, for ever."""
    rows = source(spark, folder / "in", "1 minute", schema=SCHEMA)
    windows = fl.over(rows, SPEC, time="ts", by="k")
    windows = windows.early() if early else windows
    writer = windows.agg(calls=agg.count()).writeStream.format("memory").queryName(name)
    writer = writer.outputMode("update" if early else "append")
    return writer.option("checkpointLocation", f"{folder}/checkpoint").start()


def expected(spark, folder):
    """The newest windows that a stream of these files has finished, as a batch has them."""
    rows = spark.read.parquet(f"{folder}/in")
    found = fl.over(rows, SPEC, time="ts", by="k").agg(calls=agg.count())
    last = BEGIN + timedelta(seconds=900 * (FILES - 1) + 9 * 99 - 60)
    kept = [row for row in found.collect() if row.window.end.replace(tzinfo=None) <= last]
    return sorted(([str(row.k), *map(str, row.window), str(row.calls)] for row in kept), key=_last)


def _last(row):
    return row[2], row[0]


@pytest.mark.streaming
def test_a_page_shows_a_stream_while_it_runs_and_after_its_end(spark, folder, monkeypatch):
    monkeypatch.setattr("fanlight.watching.newest_windows.SHARE", 0)
    name = f"watched_{type(spark).__module__.split('.')[-2]}"
    query = started(spark, folder, name)
    try:
        with fl.watch(query, spark.table(name), every="200 milliseconds") as served:
            if chromium():
                dom, said = opened(folder, served.url, seconds=3)
                assert said == []
                assert element(dom, "news").startswith("Running")
            query.processAllAvailable()
            query.stop()
            end = time.monotonic() + 60
            while not state_of(served)["ended"] and time.monotonic() < end:
                time.sleep(0.2)
            dom, said = opened(folder, served.url, seconds=3) if chromium() else (None, [])
            assert said == []
            for page in filter(None, (page_of(served), dom)):
                wanted = expected(spark, folder)
                assert element(page, "news").startswith("Ended. 400 rows so far")
                assert sorted(cells(page), key=_last) == wanted[-12:]
                assert f"The newest 12 of the {len(wanted)} windows" in page
                assert "slices or windows" in page
    finally:
        query.stop()
    assert fl.progress(query).rows == 400


@pytest.mark.streaming
def test_open_windows_are_shown_as_they_stand(spark, folder):
    """A memory sink adds each result to the table; the page shows the last of each window."""
    name = f"opened_{type(spark).__module__.split('.')[-2]}"
    query = started(spark, folder, name, early=True)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    reading = NewestWindows(spark.table(name), lambda: False, 1_000, 1.0, {"zone": "UTC"})
    reading.read()
    assert reading.latest.trouble is None
    rows = spark.read.parquet(f"{folder}/in")
    batch = fl.over(rows, SPEC, time="ts", by="k").agg(calls=agg.count()).collect()
    wanted = sorted((row.k, row.calls) for row in batch)
    shown = reading._read_table().to_pylist()
    assert sorted((row["k"], row["calls"]) for row in shown) == wanted
    assert len({(row["k"], row["window"]["end"]) for row in shown}) == len(batch)
    assert len(shown) < spark.table(name).count()
    last = BEGIN + timedelta(seconds=900 * (FILES - 1) + 9 * 99 - 60)
    still = sum(row.window.end.replace(tzinfo=None) > last for row in batch)
    assert (reading.latest.count, reading.latest.opened) == (len(batch), still)
    assert still


@pytest.mark.streaming
def test_files_are_read_anew_each_time_and_a_frame_of_old_ones_is_refused(classic, tmp_path):
    classic.range(3).write.parquet(f"{tmp_path}/in")
    stream = classic.readStream.schema("id long").parquet(f"{tmp_path}/in")
    query = stream.writeStream.format("noop").start()
    try:
        with pytest.raises(fl.FanlightError, match=r"lambda: spark\.read\.parquet"):
            fl.watch(query, classic.read.parquet(f"{tmp_path}/in"))
        with pytest.raises(fl.FanlightError, match=r"spark\.table"):
            fl.watch(query, stream)
        with fl.watch(query, lambda: classic.read.parquet(f"{tmp_path}/none")) as served:
            end, part = time.monotonic() + 60, ""
            while "could not be read" not in part and time.monotonic() < end:
                part = state_of(served)["parts"]["windows-rows"]
                time.sleep(0.1)
            assert "PATH_NOT_FOUND" in part
            assert "java" not in part
    finally:
        query.stop()
