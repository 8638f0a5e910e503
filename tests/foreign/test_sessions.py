"""Sessions are Spark's own wherever Spark can say them, in a batch and in a stream; and beyond."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers import events
from tests.helpers.dataframes import BLANK, collected, frame
from tests.helpers.events import MINUTE, SPRING, examples, splits
from tests.helpers.frames import SESSIONS
from tests.helpers.streams import source, stream, write_files

TODAY = 1_700_000_000_000_000 - 1_700_000_000_000_000 % MINUTE
OWN = (
    "case when n = 0 then null when n < 0 then '-1 minute' when n = 7 then 'soon' "
    "when n = 2 then '0 seconds' when s = 'a' then '2 days' when n > 7 then '1 month' "
    "else '2 minutes' end"
)
GAPS = ("1 minute", "61 seconds", "interval 2 minutes", "1 day", "1 week 2 hours", "1 month", OWN)


def packed(length, step, count=12):
    return events.packed(fl.Sliding(length, step), count)


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, packed("4 minutes", "1 minute", 16)).cache()


def ours(df, gap, strategy="auto"):
    """Ours: bounds, and what is in them."""
    windows = fl.over(df, fl.Session(gap), time="ts", by=["case", "k"]).using(strategy)
    return windows.agg(n=agg.sum("n"), d=agg.sum("d"), all=agg.count()).where("closed")


def sparks(df, gap):
    """Spark's."""
    text = gap if gap == OWN else f"'{gap}'"
    window = F.expr(f"session_window(ts, {text})").alias("window")
    sums = [F.sum("n").alias("n"), F.sum("d").alias("d"), F.count("*").alias("all")]
    return df.groupBy("case", "k", window).agg(*sums)


def sorted_rows(rows):
    names = ("case", "k", "window", "n", "d", "all")
    return sorted(repr([row[name] for name in names]) for row in rows)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("given", ["minutes apart", "days apart"])
def test_a_batch_is_sparks(classic, df, given, gap):
    many = df if given == "minutes apart" else frame(classic, packed("2 weeks", "1 day"))
    expected = sorted_rows(collected(sparks(many, gap)))
    assert len(expected) > 20
    for strategy in ("auto", "native"):
        assert sorted_rows(collected(ours(many, gap, strategy))) == expected, strategy


@pytest.mark.streaming
@pytest.mark.slow
@pytest.mark.parametrize(("gap", "which"), [(OWN, 3), ("61 seconds", 2), ("1 minute", 1)])
def test_a_stream_is_sparks(classic, tmp_path, gap, which):
    rows = events.packed(fl.Sliding("4 minutes", "1 minute"), 6, origins=(TODAY,))
    pieces = examples(splits(rows, 5 * MINUTE), which + 1)[which]
    mine, theirs = (
        stream(classic, tmp_path, pieces, lambda df, of=of: of(df, gap), delay="5 minutes")
        for of in (ours, sparks)
    )
    assert sorted_rows(mine) == sorted_rows(theirs)
    assert len(mine) > 10


@pytest.mark.parametrize(("apart", "rows"), [(0, [2]), (-1, [2]), (1, [1, 1])])
def test_a_gap_exactly_as_long_as_allowed(classic, apart, rows):
    both = [{**BLANK, "ts": TODAY}, {**BLANK, "ts": TODAY + 5 * MINUTE + apart}]
    df = frame(classic, both)
    for strategy in ("auto", "native"):
        windows = fl.over(df, fl.Session("5 minutes"), time="ts").using(strategy)
        got = windows.frames().orderBy("frame_id").collect()
        assert [row["rows"] for row in got] == rows
        theirs = df.groupBy(F.session_window("ts", "5 minutes").alias("w")).count().orderBy("w")
        assert [row.window for row in got] == [row.w for row in theirs.collect()]


def test_days_are_sparks_and_a_timedelta_is_fixed(classic):
    """New York loses an hour within the day."""
    df = frame(classic, [{**BLANK, "ts": SPRING - 2 * 3_600_000_000}])
    lasted = "unix_micros(window.end) - unix_micros(window.start) as n"
    for gap, hours in (("1 day", 23), ("24 hours", 24), (timedelta(days=1), 24)):
        (row,) = fl.over(df, fl.Session(gap), time="ts").frames().selectExpr(lasted).collect()
        assert row.n == hours * 3_600_000_000


def test_a_gap_given_as_a_column(spark):
    rows = [{**BLANK, "ts": t, "n": n} for t, n in ((0, 5), (4, 1), (6, 2), (7, None), (9, 0))]
    df = frame(spark, rows).selectExpr("ts", "n * interval '1' second / 1000000 as `my gap`", "n")
    for gap in ("my gap", "`my gap`", df["my gap"], "cast(n as string) || ' microseconds'"):
        got = fl.over(df, fl.Session(gap), time="ts").agg(agg.count(), agg.max("n"))
        assert [row["rows"] for row in got.collect()] == [2, 1]
        out = fl.over(df, fl.Session(gap), time="ts").rejected()
        assert sorted((str(row.n), row.reason) for row in out.collect()) == [
            ("0", "gap is null or not positive"), ("None", "gap is null or not positive"),
        ]  # fmt: skip
        assert out.columns == [*df.columns, "reason"]


NAIVE = "timestamp_ntz'1970-01-01' + unix_micros(ts) * interval '0.000001' second"


OWN_MINUTE = "if(n > 0, '1 minute', null)"
TIMES = {
    "without zone": (NAIVE, "1 minute", OWN_MINUTE),
    "whole numbers": ("unix_micros(ts)", MINUTE, f"if(n > 0, {MINUTE}L, null)"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("strategy", ["auto", "native"])
@pytest.mark.parametrize("own", [False, True])
def test_times_without_time_zone_and_whole_numbers(df, own, strategy):
    def counted(rows, time, gap):
        found = fl.over(rows, fl.Session(gap), time=time, by=["case", "k"]).using(strategy).frames()
        assert dict(found.dtypes)["window"].count(dict(rows.dtypes)[time]) == 2
        return [row["rows"] for row in found.orderBy("case", "k", "frame_id").collect()]

    expected = counted(df, "ts", OWN_MINUTE if own else "1 minute")
    for text, *gaps in TIMES.values():
        other = df.selectExpr("case", "k", "n", f"{text} as at")
        assert counted(other, "at", gaps[own]) == expected


def test_the_widest_whole_numbers(classic):
    df = classic.sql(
        f"select * from values ({-(2**61)}L, {2**63 - 1}L), (0L, 1L), (1L, {-(2**63)}L) as (t, g)"
    )
    got = fl.over(df, fl.Session("g"), time="t").frames().collect()
    assert [(row.window.start, row.window.end, row["rows"]) for row in got] == [
        (-(2**61), 2**61, 2)
    ]


@pytest.mark.parametrize("strategy", ["auto", "native"])
def test_rows_carry_the_number_of_their_session(df, strategy):
    windows = fl.over(df, SESSIONS[1], time="ts", by=["case", "k"]).using(strategy)
    rows = windows.rows().groupBy("case", "k", "frame_id").count().where("frame_id is not null")
    sizes = windows.frames().selectExpr("case", "k", "frame_id", "rows as count")
    assert rows.exceptAll(sizes).isEmpty()
    assert sizes.exceptAll(rows).isEmpty()
    assert windows.rows().where("ts is not null").count() == df.where("ts is not null").count()


def test_filling_and_splitting(spark):
    seen = [{**BLANK, "ts": TODAY + at * MINUTE} for at in (0, 1, 10)]
    more = [{**BLANK, "ts": TODAY + at * MINUTE, "n": at} for at in range(14)]
    windows = fl.over(frame(spark, seen), fl.Session("2 minutes"), time="ts")
    got = windows.fill(frame(spark, more), time="ts").agg(agg.collect_list("n")).orderBy("frame_id")
    assert [row["collect_list(n)"] for row in got.collect()] == [[0, 1, 2], [10, 11]]
    parts = windows.split("1 minute", agg.count()).groupBy("frame_id").count().orderBy("frame_id")
    assert [row["count"] for row in parts.collect()] == [3, 2]


def read(running):
    """How many rows the stream has taken in."""
    return sum(progress["numInputRows"] for progress in running.recentProgress)


def waiting(there, seconds=600):
    """Until it is there: on a busy machine that takes its time."""
    end = time.monotonic() + seconds
    while not there() and time.monotonic() < end:
        time.sleep(0.05)


@pytest.mark.streaming
@pytest.mark.slow
def test_a_stream_releases_a_session_without_a_further_row(classic, tmp_path):
    """Another key's row moves the watermark; and it stays where it is from then on."""
    inbox = write_files(tmp_path / "in")
    first = {**BLANK, "k": "a", "ts": TODAY}
    batches = (
        [first, {**first, "ts": TODAY + 2 * MINUTE}],
        [{**first, "k": "b", "ts": TODAY + 8 * MINUTE - 1_000}],  # watermark just below the end
        [{**first, "k": "b", "ts": TODAY + 8 * MINUTE}],  # and at it
    )
    name = f"t{uuid.uuid4().hex}"
    df = source(classic, inbox, "1 minute")
    result = fl.over(df, fl.Session("5 minutes"), time="ts", by="k").frames()
    writer = result.writeStream.format("memory").queryName(name).outputMode("append")
    running = writer.option("checkpointLocation", str(tmp_path / name)).start()
    seen, written = [], 0
    try:
        for number, rows in enumerate(batches):
            write_files(inbox, rows)
            written += len(rows)
            waiting(lambda: read(running) == written)  # noqa: B023
            running.processAllAvailable()
            if number == len(batches) - 1:  # by a micro-batch of its own, without rows
                waiting(lambda: not classic.table(name).isEmpty())
            seen.append([(row.k, row["rows"]) for row in classic.table(name).collect()])
    finally:
        running.stop()
    assert seen == [[], [], [("a", 2)]]


def test_explain(df):
    text = fl.over(df, fl.Session("5 minutes", max_duration="1 hour"), time="ts").explain()
    assert "'5 minutes' after its last row, but no later than '1 hour' after its first" in text
    assert "at the latest time" in fl.over(df, fl.Session(OWN), time="ts").explain()


BAD = {
    "a number for a timestamp": (fl.Session(5), "ts", "is a number, but the time is a timestamp"),
    "a duration for a number": (fl.Session("5 minutes"), "n", "is a duration, but the time is"),
    "half a unit": (fl.Session(0.5), "n", "is not a whole number, but the time is one"),
    "a longest duration of another kind": (
        fl.Session("n", max_duration="1 hour"), "n", "is a duration, but the time is"
    ),
    "a gap of the wrong type": (fl.Session("n"), "ts", "is of type bigint"),
    "text for a number": (fl.Session("s"), "n", "is of type string"),
    "a gap that does not parse": (fl.Session("n +"), "ts", "not a length of a row's gap"),
    "a gap of an unknown column": (fl.Session("pause"), "ts", "not a length of a row's gap"),
    "an aggregate": (fl.Session("max(s)"), "ts", "not a length of a row's gap"),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "time", "says"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_a_gap(df, spec, time, says):
    with pytest.raises(fl.FanlightError, match=says):
        fl.over(df, spec, time=time)


def test_natively_not_cut_by_a_longest_duration(df):
    spec = fl.Session("5 minutes", max_duration="1 hour")
    with pytest.raises(fl.FanlightError, match="their frame began"):
        fl.over(df, spec, time="ts").using("native")


def test_a_session_may_not_end_as_a_window_of_a_pair(df):
    with pytest.raises(fl.FanlightError, match="pair"):
        fl.over(df, fl.Session("5 minutes"), time=("ts", "ts"))
