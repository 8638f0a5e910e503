"""Windows without rows: which there are, and what they have, by those with rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import source
from tests.helpers.silences import MINUTE, ROWS, RULES, SPECS, frame, micros
from tests.oracle.calendars import bounds_near


def found(df):
    """By key and bounds: the count, the sum, the list."""
    made = {
        (row.k, micros(row.window.start), micros(row.window.end)): (row.n, row.s, row["list"])
        for row in df.collect()
    }
    assert len(made) == df.count()
    return made


def asked(windows, **more):
    return found(windows.agg(n=agg.count(), s=agg.sum("v"), list=agg.collect_list("i"), **more))


def filled(there, bounds, rule):
    """The windows with those between, which are in order of their bounds."""
    expected, before = {}, (None, None, None)
    for one in bounds:
        if one in there:
            before = there[one]
        empty = {"null": (None, None, None), "zero": (0, 0.0, None), "last": before}[rule]
        expected[one] = there.get(one, empty)
    return expected


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("about", SPECS)
@pytest.mark.sampled(3)
def test_those_between_the_first_and_the_last_of_a_key(spark, about, rule):
    spec, rows = SPECS[about]
    windows = fl.over(frame(spark, rows), spec, time="ts", by="k")
    there = asked(windows)
    expected = {}
    for key in {key for key, *_ in there}:
        mine = sorted((end, start) for k, start, end in there if k == key)
        near = {(e, s) for s, e in bounds_near(spec, mine[0][1], mine[-1][0]) if s < e}
        between = [(key, int(s), int(e)) for e, s in sorted(near) if mine[0] <= (e, s) <= mine[-1]]
        expected |= filled(there, between, rule)
    assert len(expected) > len(there)
    assert asked(windows, empty=rule) == expected


@pytest.mark.parametrize("about", ["sliding", "cumulative", "closed"])
def test_those_between_two_times_for_all_keys(spark, about):
    spec, rows = SPECS[about]
    windows = fl.over(frame(spark, rows), spec, time="ts", by="k")
    low, high = 3 * MINUTE, 30 * MINUTE
    ends = tuple(datetime.fromtimestamp(at / 1e6, UTC) for at in (low, high))
    more = spark.createDataFrame([("z",), ("b",)], "k string")
    bounds = sorted({(int(e), int(s)) for s, e in bounds_near(spec, low, high)})
    expected = {}
    for key in ("a", "b", None, "z"):
        mine = [(key, start, end) for end, start in bounds if low <= start and end <= high]
        there = {one: value for one, value in asked(windows).items() if one in mine}
        expected |= filled(there, mine, "last")
    assert asked(windows, empty="last", between=ends, keys=more) == expected


def test_without_keys_in_a_list_and_of_events_and_numbers(classic):
    df = frame(classic, ROWS)
    two = [fl.Sliding("4 minutes"), fl.Sliding("2 minutes")]
    for strategy in ("auto", "separate"):
        windows = fl.over(df, two, time="ts").using(strategy)
        rows = windows.agg(n=agg.count(), empty="zero").orderBy("query", "window").collect()
        assert [row.n for row in rows if row.query == 0] == [3, 1, 0, 0, 2, *[0] * 5, 1]
        assert [row.n for row in rows if row.query == 1] == [1, 2, 1, *[0] * 5, 1, 1, *[0] * 10, 1]
    events = df.selectExpr("ts as began", "ts + interval 1 minute as ended", "v")
    lasting = fl.over(events, fl.Sliding("8 minutes"), time=("began", "ended"))
    rows = lasting.agg(n=agg.count(), empty="zero").orderBy("window").collect()
    assert [row.n for row in rows] == [4, 0, 2, 0, 0, 1]
    whole = fl.over(df, fl.Sliding(10), time="i", by="k")
    rows = whole.agg(n=agg.count(), empty="zero", between=(0, 30)).orderBy("k", "window").collect()
    assert [row.n for row in rows] == [1, 0, 0, 2, 2, 0, 1, 0, 0]
    none = fl.over(df.where("false"), fl.Sliding(10), time="i").agg(
        n=agg.count(), empty="zero", between=(0, 30)
    )
    assert [row.n for row in none.collect()] == [0, 0, 0]


def test_they_are_asked_for_in_sql_too(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, fl.Sliding("4 minutes"), time="ts", by="k")
    ends = "1970-01-01T00:00:00Z", "1970-01-01T00:30:00Z"
    for text, more in (
        ("EMPTY ZERO", {"empty": "zero"}),
        (f"empty last between '{ends[0]}' and '{ends[1]}'", {"empty": "last", "between": ends}),
    ):
        found = fl.sql(
            f"SELECT k, window, count(*) AS n FROM t [WATTR ts RANGE 4 MINUTES {text}] GROUP BY k",
            t=df,
        )
        expected = windows.agg(n=agg.count(), **more)
        assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))
    with pytest.raises(
        fl.FanlightError, match="BETWEEN '2025-01-01' AND '2025-01-02' has no time zone"
    ):
        fl.sql(
            "SELECT count(*) FROM t [WATTR ts RANGE 1 HOUR EMPTY ZERO "
            "BETWEEN '2025-01-01' AND '2025-01-02']",
            t=df,
        )


def test_aggregates_may_be_called_as_the_arguments_are(classic):
    windows = fl.over(frame(classic, ROWS), fl.Sliding("4 minutes"), time="ts", by="k")
    made = windows.agg(empty=agg.count(), between=agg.max("v"), keys=agg.min("v"))
    assert made.columns == ["k", "window", "empty", "between", "keys"]


def test_a_silence_without_end_is_an_error_and_not_a_table(classic):
    rows = [("a", 0, 1.0), ("a", 100_000_000, 1.0)]
    windows = fl.over(frame(classic, rows), fl.Sliding("1 second"), time="ts")
    with pytest.raises(Exception, match="more than 10,000,000 empty windows"):
        windows.agg(n=agg.count(), empty="zero").count()


REFUSED = {
    "no rule": ({"empty": "none"}, "is not known; write empty='skip' or 'null'"),
    "no rule at all": ({"between": (0, 1)}, "write empty='null', 'zero' or 'last', too"),
    "no two": ({"empty": "zero", "between": 3}, "is not a start and an end"),
    "no times": ({"empty": "zero", "between": (0, 1)}, "has a int, which is not a time"),
    "no zone": ({"empty": "zero", "between": ("2025-01-01", "2025-01-02")}, "has no time zone"),
    "no dates": ({"empty": "zero", "between": ("today", "tomorrow")}, "which is not a time"),
    "backwards": (
        {"empty": "zero", "between": ("2025-01-02T00:00:00Z", "2025-01-01T00:00:00Z")},
        "ends before it starts",
    ),
    "keys alone": ({"empty": "zero", "keys": "all"}, "of which no first or last window is known"),
}


@pytest.mark.parametrize("about", REFUSED)
def test_what_is_refused(classic, about):
    more, said = REFUSED[about]
    windows = fl.over(frame(classic, ROWS), fl.Sliding("4 minutes"), time="ts", by="k")
    with pytest.raises(fl.FanlightError, match=said):
        windows.agg(n=agg.count(), **more)


def test_windows_that_are_refused(classic, tmp_path):
    df = frame(classic, ROWS)
    some = {"n": agg.count(), "empty": "zero"}
    times = ("1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z")
    with pytest.raises(fl.FanlightError, match="not for those that rows end"):
        fl.over(df, fl.Sliding(fl.rows(2)), time="ts").agg(**some)
    with pytest.raises(fl.FanlightError, match="goes with by="):
        fl.over(df, fl.Sliding("1 hour"), time="ts").agg(**some, between=times, keys=df)
    with pytest.raises(fl.FanlightError, match="has no column 'k'"):
        fl.over(df, fl.Sliding("1 hour"), time="ts", by="k").agg(
            **some, between=times, keys=df.select("v")
        )
    stream = source(classic, tmp_path, "1 minute")
    with pytest.raises(fl.FanlightError, match="would go on for ever"):
        fl.over(stream, fl.Sliding("1 hour"), time="ts").agg(**some)
