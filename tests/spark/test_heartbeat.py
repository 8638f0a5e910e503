"""Streams whose event time goes on by beats: quiet sources, restarts, and what is refused."""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import date, datetime, timedelta

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import in_backticks
from fanlight.engine.spark.sql import WATERMARK
from tests.helpers.dataframes import ddl, timed
from tests.helpers.names import NAMES
from tests.helpers.streams import stored, write_files

SECOND = 1_000_000
SOON = {"delay": "1 second", "every": "1 second", "lag": "1 second"}
PATIENCE = 60  # seconds, for what comes within a few
WINDOWS = {"sliding": fl.Sliding("1 second"), "sessions": fl.Session("1 second")}


def now():
    """The time, at the start of a second, in microseconds."""
    return int(time.time()) * SECOND


def pairs(first, keys="ab", count=5):
    """Of each key two rows in one second, every five seconds: two rows a window and session."""
    return [
        {"k": k, "ts": first + 5 * n * SECOND + part, "v": float(n)}
        for k in keys for n in range(count) for part in (0, 300_000)
    ]  # fmt: skip


def counted(keys="ab", count=5):
    return sorted((k, 2, float(n)) for k in keys for n in range(count))


def quiet(spark, folder):
    """A stream of the files in a folder, without a watermark."""
    folder.mkdir(exist_ok=True)
    return timed(spark.readStream.schema(ddl()).parquet(str(folder)))


def answer(rows, spec=WINDOWS["sliding"]):
    return fl.over(rows, spec, time="ts", by="k").agg(n=agg.count(), v=agg.max("v"))


@contextmanager
def running(result, folder):
    """The query, and a function that gives what it and those before it have given."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    writer = result.writeStream.option("checkpointLocation", str(folder / "state"))
    query = writer.format("parquet").start(str(out))
    try:
        yield query, lambda: result.sparkSession.read.schema(result.schema).parquet(str(out))
    finally:
        query.stop()


def read(table):
    return sorted(map(tuple, table().select("k", "n", "v").collect()))


def wait(query, condition):
    """Wait for a condition on a query that runs."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert query.exception() is None
        assert time.monotonic() < end, fl.progress(query)
        time.sleep(0.2)


def watermark(query):
    """In microseconds."""
    found = fl.progress(query).watermark
    return 0 if found is None else int(datetime.fromisoformat(found).timestamp() * SECOND)


def wait_for_beats(query, seconds=3):
    """Wait until so much more event time has passed: windows of beats would have been given."""
    until = watermark(query) + seconds * SECOND
    wait(query, lambda: watermark(query) >= until)


@pytest.mark.streaming
@pytest.mark.parametrize("kind", WINDOWS)
def test_a_quiet_source_gives_its_last_windows_and_no_beat_is_counted(spark, tmp_path, kind):
    stream = quiet(spark, tmp_path / "in")
    write_files(tmp_path / "in", [*pairs(now() - 600 * SECOND), {"k": "a", "ts": None}])
    beating = fl.heartbeat(stream, "ts", **SOON)
    with running(answer(beating, WINDOWS[kind]), tmp_path) as (query, table):
        wait(query, lambda: table().count() >= len(counted()))
        wait_for_beats(query)
        assert read(table) == counted()
        assert fl.progress(query).late == fl.progress(query).dropped == 0


@pytest.mark.streaming
def test_a_later_filter_of_the_users_does_not_stop_the_beats(classic, tmp_path):
    stream = quiet(classic, tmp_path / "in")
    write_files(tmp_path / "in", pairs(now() - 600 * SECOND))
    beating = fl.heartbeat(stream, "ts", **SOON).where("k = 'a' and v is not null")
    with running(answer(beating.select("k", "v", "ts")), tmp_path) as (query, table):
        wait(query, lambda: table().count() >= len(counted("a")))
        assert read(table) == counted("a")


@pytest.mark.streaming
@pytest.mark.sampled(1)
def test_beats_come_as_often_as_is_asked_where_there_has_never_been_a_row(classic, tmp_path):
    began = now()
    beating = fl.heartbeat(
        quiet(classic, tmp_path / "in"), "ts", delay="5 minutes", every="2 seconds", lag="1 hour"
    )
    seen = set()
    with running(answer(beating), tmp_path) as (query, table):
        wait(query, lambda: len(seen.add(watermark(query)) or seen - {0}) > 3)
        assert table().count() == 0
    marks = sorted(seen - {0})
    assert {mark % (2 * SECOND) for mark in marks} == {marks[0] % (2 * SECOND)}
    assert began <= marks[0] + 65 * 60 * SECOND <= marks[-1] + 65 * 60 * SECOND <= now() + SECOND


@pytest.mark.streaming
def test_a_stream_that_was_stopped_goes_on(classic, tmp_path):
    stream, inbox = quiet(classic, tmp_path / "in"), tmp_path / "in"
    for number, keys in enumerate(("ab", "c", "d")):
        other = {**SOON, "lag": f"{1 + number} seconds", "every": f"{1 + number} seconds"}
        result = answer(fl.heartbeat(stream, "ts", **other))
        # No row is from before the watermark of the query that was stopped.
        write_files(inbox, pairs(now() - (600 if not number else 0) * SECOND, keys, 1))
        with running(result, tmp_path) as (query, table):
            wanted = counted("abcd"[: number + 2], 1)
            wait(query, lambda wanted=wanted, table=table: table().count() >= len(wanted))
            wait_for_beats(query)
            assert read(table) == wanted


@pytest.mark.streaming
def test_a_row_that_comes_later_than_lag_and_delay_is_late(classic, tmp_path):
    stream, inbox = quiet(classic, tmp_path / "in"), tmp_path / "in"
    write_files(inbox, pairs(now() - 600 * SECOND))
    with running(answer(fl.heartbeat(stream, "ts", **SOON)), tmp_path) as (query, table):
        wait(query, lambda: table().count() >= len(counted()))
        write_files(inbox, pairs(now() - 300 * SECOND, "c", 1))
        wait(query, lambda: fl.progress(query).dropped)
        assert read(table) == counted()


@pytest.mark.streaming
def test_of_two_sources_a_quiet_one_holds_up_nothing(classic, tmp_path):
    one, other = quiet(classic, tmp_path / "in"), quiet(classic, tmp_path / "other")
    write_files(tmp_path / "in", pairs(now() - 600 * SECOND))
    both = fl.heartbeat(one, "ts", **SOON).unionAll(fl.heartbeat(other, "ts", **SOON))
    with running(answer(both), tmp_path) as (query, table):
        wait(query, lambda: table().count() >= len(counted()))
        wait_for_beats(query)
        assert read(table) == counted()


@pytest.mark.streaming
def test_a_run_of_what_is_available_gives_what_the_one_before_could_not(classic, tmp_path):
    stream = quiet(classic, tmp_path / "in")
    write_files(tmp_path / "in", pairs(now() - 600 * SECOND))
    result = answer(fl.heartbeat(stream, "ts", **SOON))

    def run():
        return read(lambda: stored(result, tmp_path))

    assert len(run()) < len(counted())
    assert any(run() == counted() for _ in range(PATIENCE))


ODD = {
    "of a collation": "cast(id as string) collate UTF8_LCASE",
    "of money": "cast(id as decimal(38, 10))",
    "of days": "date'2024-02-29' + cast(id as int)",
    "without zone": "timestamp_ntz'2024-03-10 02:30:00'",
    "of time": "interval '1' day * id",
    "of months": "interval '1' month * cast(id as int)",
    "nested": "map('k', array(named_struct('a b', id, 'c`d', cast('x' as binary))))",
    "void": "null",
    "of anything": "parse_json('[1, null]')",
    "twice": "id",
    "TWICE": "id + 1",
}


@pytest.mark.streaming
def test_columns_are_kept_as_they_are(spark, tmp_path):
    columns = [f"{text} as {in_backticks(name)}" for name, text in ODD.items()]
    rows = timed_ids(spark, tmp_path).selectExpr(*columns[:4], "at as `a.b`", *columns[4:])
    beating = fl.heartbeat(rows, "a.b", **SOON)
    assert beating.dtypes == rows.dtypes
    marks = [WATERMARK in field.metadata for field in beating.schema.fields]
    assert marks == [name == "a.b" for name in rows.columns]
    plain = beating.toDF(*(f"c{at}" for at in range(len(rows.columns))))
    texts = [f"c{at}" for at in range(len(rows.columns)) if at not in (7, 8, 9)]
    texts = f"concat_ws('|', {', '.join(texts)}, to_json(c7), to_json(c9)) as row"
    with running(plain.where("c8 is null").selectExpr(texts), tmp_path) as (query, table):
        wait(query, lambda: table().count() >= 5)
        wait_for_beats(query)
        found = sorted(row.row for row in table().collect())
    assert found == [
        f"{n}|{n}.0000000000|{date(2024, 2, 29) + timedelta(n)}|2024-03-10 02:30:00"
        f"|2023-11-14 17:13:2{n}|INTERVAL '{n} 00:00:00' DAY TO SECOND"
        f"|INTERVAL '0-{n}' YEAR TO MONTH|{n}|{n + 1}"
        f'|{{"k":[{{"a b":{n},"c`d":"eA=="}}]}}|[1,null]'
        for n in range(5)
    ]


def timed_ids(spark, folder):
    """A stream of five rows with a number and a time."""
    write = spark.range(5).selectExpr("id", "timestamp_seconds(1700000000 + id) as at").write
    write.parquet(str(folder / "ids"))
    return spark.readStream.schema("id bigint, at timestamp").parquet(str(folder / "ids"))


def test_any_name_will_do(classic, tmp_path):
    rows = timed_ids(classic, tmp_path)
    for name in NAMES:
        named = rows.toDF("beat", name) if name != "beat" else rows.toDF("id", name)
        beating = fl.heartbeat(named, name, **SOON)
        assert beating.columns == named.columns
        assert fl.over(beating, fl.Sliding("1 hour"), time=name).agg(agg.count()).isStreaming


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time": "nowhere"}, "is not a column"),
        ({"time": "id"}, "is a number, and no watermark"),
        ({"time": "day"}, "is of type date, on which Spark sets no watermark"),
        ({"time": "plain"}, "without time zone"),
        ({"time": "within.at"}, "not the name of a single column"),
        ({"delay": "-1 second"}, "delay='-1 second' is negative"),
        ({"delay": 5}, "delay=5 is not a duration"),
        ({"delay": "1 month"}, "no fixed length"),
        ({"every": "0 seconds"}, "every='0 seconds' must be positive"),
        ({"every": "1500 milliseconds"}, "whole number of seconds"),
        ({"lag": timedelta(0)}, "lag=datetime.timedelta(0) must be positive"),
        ({"lag": fl.Rows(3)}, "is not a duration"),
    ],
)
def test_what_cannot_be_is_refused(classic, tmp_path, given, said):
    rows = timed_ids(classic, tmp_path).selectExpr(
        "*", "date(at) as day", "cast(at as timestamp_ntz) as plain", "struct(at) as within"
    )
    asked = {"time": "at", **SOON, **given}
    with pytest.raises(fl.FanlightError) as caught:
        fl.heartbeat(rows, **asked)
    assert said in str(caught.value)


def test_a_batch_and_a_second_watermark_are_refused(spark, tmp_path):
    rows = timed_ids(spark, tmp_path).selectExpr("*", "at as other")
    with pytest.raises(fl.FanlightError, match="is of a batch"):
        fl.heartbeat(spark.range(3).selectExpr("timestamp_seconds(id) as at"), "at", **SOON)
    for name in ("at", "other"):
        with pytest.raises(fl.FanlightError, match=f"watermark on '{name}'.*leave out"):
            fl.heartbeat(rows.withWatermark(name, "1 hour"), "at", **SOON)
    with pytest.raises(fl.FanlightError, match="a single column"):
        fl.heartbeat(rows.select("at", "at"), "at", **SOON)
    with pytest.raises(fl.FanlightError, match="delay='10 minutes'"):
        fl.heartbeat(rows, "at")
