"""Complete windows: those that are left out began before the first row of their key."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers import empty_windows
from tests.helpers.dataframes import all_of
from tests.helpers.streams import ended, stream_of

ROWS = [
    ("a", 1, 1.0), ("a", 3, 2.0), ("a", 4, 2.0), ("a", 17, 4.0), ("a", 17, 5.0), ("a", 18, None),
    ("b", 5, 8.0), ("b", 6, 1.0), (None, 2, 16.0), (None, 3, 3.0), (None, 40, 3.0),
    ("c", None, 1.0),
]  # fmt: skip
LAST = ("last", 10**6, 0.0)  # ends all windows
BY_TIME = {
    "tumbling": fl.Sliding("4 minutes"),
    "sliding": fl.Sliding("4 minutes", "2 minutes", offset="1 minute"),
    "a first row in a gap": fl.Sliding("2 minutes", "6 minutes"),
    "closed": fl.Sliding("4 minutes", "2 minutes", closed="right"),
    "cumulative": fl.Cumulative("8 minutes", "2 minutes"),
    "calendar": fl.Calendar("1 hour", zone="Asia/Kathmandu"),
    "at every row": fl.Sliding("2 minutes", fl.Rows(1)),
    "at every third row": fl.Sliding("14 minutes", fl.Rows(3)),
    "several": [fl.Sliding("4 minutes", "2 minutes"), fl.Sliding("1 minute")],
    "levels": fl.MultiGranular(["2 minutes", "6 minutes"], ["1 minute", "2 minutes"]),
}
BY_ROWS = {
    "over rows": (fl.Sliding(fl.Rows(3), fl.Rows(1)), 3),
    "over rows, closed": (fl.Sliding(fl.Rows(2), fl.Rows(1), closed="both"), 3),
    "the last rows": (fl.Sliding(fl.Rows(2), "2 minutes"), 2),
}


def frame(spark, rows=ROWS):
    more = "double(i) as x", "ts + interval 3 minutes as stop"
    return empty_windows.frame(spark, rows).selectExpr("*", *more)


def firsts(rows=ROWS):
    """The first minute of each key."""
    keys = {k for k, minute, _ in rows if minute is not None}
    return {key: min(m for k, m, _ in rows if k == key and m is not None) for key in keys}


def instant(minute):
    return datetime.fromtimestamp(minute * 60, UTC)


def given(df, began):
    """The rows of a result whose windows began at or after what ``began`` gives for their key."""
    return sorted(repr(row) for row in df.collect() if row.window.start >= began(row))


def started(windows):
    return windows.complete_only(side="start")


@pytest.mark.sampled(7)
@pytest.mark.parametrize("about", BY_TIME)
def test_windows_from_before_the_first_row_of_a_key_are_left_out(spark, about):
    windows = fl.over(frame(spark), BY_TIME[about], time="ts", by="k")
    there = windows.agg(n=agg.count(), s=agg.sum("v"))
    naive = {key: instant(minute).astimezone().replace(tzinfo=None)
             for key, minute in firsts().items()}  # fmt: skip
    expected = given(there, lambda row: naive[row.k])
    assert all_of(started(windows).agg(n=agg.count(), s=agg.sum("v"))) == expected
    assert all_of(there) != expected


@pytest.mark.parametrize(("time", "spec"), [("i", fl.Sliding(4, 2)), ("x", fl.Sliding(2.5, 0.5))])
def test_of_numbers_too(spark, time, spec):
    windows = fl.over(frame(spark), spec, time=time, by="k")
    expected = given(windows.agg(n=agg.count()), lambda row: firsts()[row.k])
    assert all_of(started(windows).agg(n=agg.count())) == expected


def test_without_keys_and_of_events_that_last(spark):
    windows = fl.over(frame(spark), fl.Sliding("4 minutes", "1 minute"), time=("ts", "stop"))
    began = instant(1).astimezone().replace(tzinfo=None)
    expected = given(windows.agg(n=agg.count()), lambda _: began)
    assert all_of(started(windows).agg(n=agg.count())) == expected


LEVELS = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
OF_LEVELS = {
    "lines of series": lambda windows: windows.fit("v", filled=True),
    "lines": lambda windows: windows.fit("v"),
    "recurring": lambda windows: windows.recurring("v"),
    "how often": lambda windows: windows.recurring("v", counts=True),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", OF_LEVELS)
def test_trend_lines_and_recurring_items_of_such_windows(spark, asked):
    windows, found = fl.over(frame(spark), LEVELS, time="ts", by="k"), OF_LEVELS[asked]
    naive = {key: instant(minute).astimezone().replace(tzinfo=None)
             for key, minute in firsts().items()}  # fmt: skip
    expected = given(found(windows), lambda row: naive[row.k])
    assert all_of(found(started(windows))) == expected
    began = instant(3).astimezone().replace(tzinfo=None)
    since = windows.complete_only(instant(3), side="start")
    assert all_of(found(since)) == given(found(windows), lambda _: began)


def test_windows_from_before_an_instant_are_left_out(spark):
    windows = fl.over(frame(spark), BY_TIME["levels"], time="ts", by="k")
    began = instant(3).astimezone().replace(tzinfo=None)
    expected = given(windows.agg(n=agg.count()), lambda _: began)
    for since in ("1970-01-01T00:03:00Z", instant(3)):
        assert all_of(windows.complete_only(since, side="start").agg(n=agg.count())) == expected


def test_what_an_initiation_time_has_cut_short_is_no_complete_window(spark):
    spec = fl.MultiGranular(["2 minutes", "6 minutes"], ["1 minute", "2 minutes"],
                            offset="1 minute")  # fmt: skip
    windows = fl.over(frame(spark), spec, time="ts", by="k")
    lengths = {0: 2, 1: 6}
    there = windows.agg(n=agg.count()).collect()
    naive = {key: instant(minute).astimezone().replace(tzinfo=None)
             for key, minute in firsts().items()}  # fmt: skip
    expected = sorted(
        repr(row)
        for row in there
        if (row.window.end - row.window.start).total_seconds() == 60 * lengths[row.level]
        and row.window.start >= naive[row.k]
    )
    assert all_of(started(windows).agg(n=agg.count())) == expected
    assert 0 < len(expected) < len(there)


@pytest.mark.parametrize("about", BY_ROWS)
def test_windows_with_too_few_rows_are_left_out(spark, about):
    spec, rows = BY_ROWS[about]
    windows = fl.over(frame(spark), spec, time="ts", by="k", tiebreak="v")
    there = windows.agg(n=agg.count(), s=agg.sum("v"))
    expected = sorted(repr(row) for row in there.collect() if row.n == rows)
    side = "start" if about == "the last rows" else "both"
    whole = windows.complete_only(side=side)
    assert all_of(whole.agg(n=agg.count(), s=agg.sum("v"))) == expected
    assert 0 < len(expected) < there.count()


def test_windows_without_rows_begin_with_the_first_row_too(spark):
    windows = fl.over(frame(spark), fl.Sliding("4 minutes"), time="ts", by="k")
    began = {key: instant(minute).astimezone().replace(tzinfo=None)
             for key, minute in firsts().items()}  # fmt: skip
    expected = given(windows.with_empty("zero").agg(n=agg.count()), lambda row: began[row.k])
    assert all_of(started(windows.with_empty("zero")).agg(n=agg.count())) == expected


def test_keys_and_columns_of_any_name(spark):
    df = frame(spark).withColumnsRenamed({"k": "a.b", "v": "first row", "i": "rows of the window"})
    windows = fl.over(df, fl.Sliding("4 minutes", "2 minutes"), time="ts", by="`a.b`")
    plain = fl.over(frame(spark), fl.Sliding("4 minutes", "2 minutes"), time="ts", by="k")
    found = windows.complete_only().agg(n=agg.count())
    assert found.columns == ["a.b", "window", "n"]
    assert all_of(found.toDF("k", "window", "n")) == all_of(
        plain.complete_only().agg(n=agg.count())
    )
    assert found.selectExpr("window_time(window) as at").count() == found.count()


@pytest.mark.parametrize(
    ("spec", "time", "since", "words"),
    [
        (fl.Sliding("1 hour"), "ts", "soon", "'soon', which is not a time"),
        (fl.Sliding("1 hour"), "ts", "2025-03-01", "has no time zone"),
        (fl.Sliding("1 hour"), "ts", 3, "has a int, which is not a time"),
        (fl.Sliding("1 hour"), "ts", True, "bool, which is not a time"),
        (fl.Sliding(4), "i", "2025-03-01T00:00:00Z", "is not a number"),
        (fl.Sliding(fl.Rows(4)), "ts", "2025-03-01T00:00:00Z", "complete when they have so many"),
        (fl.MultiGranular([1, 2], [1, 1], changes_only=True), "i", None, "changes_only"),
    ],
)
def test_what_cannot_be_is_refused(spark, spec, time, since, words):
    with pytest.raises(fl.FanlightError, match=words):
        fl.over(frame(spark), spec, time=time, by="k").complete_only(since)


def arriving(spark, folder):
    """The rows, and then one that ends all windows."""
    return stream_of(spark, folder, [frame(spark, rows) for rows in (ROWS, [LAST])], "1 hour")


def test_a_stream_does_not_know_the_first_row_of_a_key(spark, tmp_path):
    windows = fl.over(arriving(spark, tmp_path), fl.Sliding("1 hour"), time="ts", by="k")
    with pytest.raises(fl.FanlightError, match="which a stream does not keep; write when"):
        windows.complete_only()


@pytest.mark.streaming
@pytest.mark.parametrize(
    ("spec", "since"),
    [
        (fl.Sliding("4 minutes", "2 minutes"), "1970-01-01T00:02:00Z"),
        (fl.Sliding(fl.Rows(3), fl.Rows(1)), None),
        (fl.Sliding(fl.Rows(2), "2 minutes"), None),
    ],
)
def test_a_stream_gives_what_a_batch_gives(spark, tmp_path, spec, since):
    """A batch whose last row is far away, as that of the stream is."""
    place = {"time": "ts", "by": "k", "tiebreak": "v"}
    asked = {"n": agg.count(), "s": agg.sum("v")}
    rows = frame(spark, [*ROWS, LAST])
    stream, batch = (
        fl.over(df, spec, **place).complete_only(since).agg(**asked)
        for df in (arriving(spark, tmp_path), rows)
    )
    found, wanted = (
        all_of(df.filter("k is null or k <> 'last'")) for df in (ended(stream, tmp_path), batch)
    )
    assert wanted
    assert found == wanted


def test_in_sql_errors_say_what_was_written(spark):
    text = "SELECT count(*) FROM t [WATTR ts RANGE 4 MINUTES COMPLETE SINCE 'soon']"
    with pytest.raises(
        fl.FanlightError, match=r"COMPLETE SINCE 'soon'.* write for example COMPLETE SINCE"
    ):
        fl.sql(text, t=frame(spark)).collect()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("about", BY_TIME)
@pytest.mark.parametrize("side", ["both", "end"])
def test_windows_that_end_after_the_last_row_of_all_are_left_out(spark, about, side):
    """Time goes on for every key: the last row of any of them counts."""
    windows = fl.over(frame(spark), BY_TIME[about], time="ts", by="k")
    there = windows.agg(n=agg.count()).collect()
    edges = {key: instant(minute).astimezone().replace(tzinfo=None)
             for key, minute in firsts().items()}  # fmt: skip
    last = instant(40).astimezone().replace(tzinfo=None)
    expected = sorted(
        repr(row) for row in there
        if row.window.end <= last and (side == "end" or row.window.start >= edges[row.k])
    )  # fmt: skip
    assert all_of(windows.complete_only(side=side).agg(n=agg.count())) == expected
    assert len(expected) < len(there) or about == "a first row in a gap"


def test_sides_that_say_nothing_are_refused(spark):
    windows = fl.over(frame(spark), fl.Sliding("4 minutes"), time="ts", by="k")
    rows = fl.over(frame(spark), fl.Sliding(fl.Rows(3)), time="ts", by="k")
    for ask, words in (
        (lambda: windows.complete_only(side="left"), "is not a side of windows; write side='both'"),
        (lambda: windows.complete_only("1970-01-01T00:02:00Z", side="end"), "leave one of them"),
        (lambda: rows.complete_only(side="end"), "wherever they lie; leave side out"),
    ):
        with pytest.raises(fl.FanlightError, match=words):
            ask()
