"""What was there before a window begins: the sentence, what it is of, and what is refused."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg

HOUR = fl.Sliding("1 hour")
MEAN = agg.time_weighted_avg("v", carry="1 hour")


@pytest.fixture(scope="module")
def readings(spark):
    return spark.sql(
        "select timestamp(ts) as ts, v, state from values "
        "('2025-03-01 11:40:00Z', 20.0D, 'on'), ('2025-03-01 12:30:00Z', 21.0D, 'off'), "
        "('2025-03-01 15:10:00Z', 5.0D, 'on') as t(ts, v, state)"
    )


def hours(df, **asked):
    found = fl.over(df, HOUR, time="ts").agg(**asked)
    found = found.selectExpr("unix_seconds(window.start) div 3600 % 24 as hour", *asked)
    return {row.hour: tuple(row[name] for name in asked) for row in found.collect()}


def test_an_hour_begins_with_the_value_that_was_there(readings):
    assert hours(readings, n=agg.count(), mean=MEAN) == {
        11: (1, 20.0), 12: (1, 20.5), 13: (0, 21.0), 15: (1, 5.0), 16: (0, 5.0)
    }  # fmt: skip


def test_time_in_a_state_is_of_windows_without_rows_too(readings):
    on = agg.duration(readings["state"] == "on", carry="1 hour")
    found = hours(readings, on=on, state=agg.first("state", carry="1 hour"))
    assert found == {11: (1200.0, "on"), 12: (1800.0, "on"), 13: (0.0, "off"), 15: (3000.0, "on"),
                     16: (600.0, "on")}  # fmt: skip


def test_increases_of_windows_add_up_to_the_whole(spark):
    counted = spark.sql(
        "select timestamp_seconds(id * 37) as ts, id * 5 % 1000 as v from range(400)"
    )
    windows = fl.over(counted, fl.Sliding("1 minute"), time="ts")
    found = windows.agg(all=agg.increase("v", carry="1 hour"), own=agg.increase("v"))
    sums = found.selectExpr("sum(all) as all", "sum(own) as own").first()
    assert sums.all == 2 * 995 > sums.own  # it begins anew once, at 0
    assert found.schema["all"].dataType.simpleString() == "bigint"


def test_readings_are_those_for_which_a_condition_holds(readings):
    of_some = MEAN.where("state = 'on'")
    assert hours(readings, mean=of_some)[12] == (20.0,)


def test_functions_and_ratios_of_what_is_carried(readings):
    ratio = agg.integral("v", carry="1 hour") / agg.duration(readings["v"] > 0, carry="2 hours")
    found = hours(readings, ratio=ratio, more=MEAN.transform(lambda mean: mean + 1))
    assert found[12] == (20.5, 21.5)
    assert found[16][1] == 6.0


@pytest.mark.parametrize("names", [("a.b", "Lane No", "end"), ("end", "a.b", "start")])
def test_any_column_may_be_called_so(spark, names):
    df = spark.sql("select * from values ('x', 0L, 2D), ('x', 4L, 6D), ('x', 12L, 1D)").toDF(*names)
    key, at, value = names
    asked = [agg.integral(value, carry=20), agg.first(value, carry=20)]
    found = fl.over(df, fl.Sliding(10), time=at, by=[key]).agg(*asked).orderBy("window").collect()
    assert [tuple(row)[2:] for row in found] == [(44.0, 2.0), (20.0, 6.0), (10.0, 1.0), (2.0, 1.0)]


def test_in_sql(readings):
    found = fl.sql(
        "SELECT time_weighted_avg(v, carry => '1 hour') AS mean, count(*) AS n "
        "FROM readings [RANGE 1 HOUR WATTR ts]", readings=readings,
    )  # fmt: skip
    assert sorted((row.mean, row.n) for row in found.collect()) == [
        (5.0, 0), (5.0, 1), (20.0, 1), (20.5, 1), (21.0, 0)
    ]  # fmt: skip


LEVELS = {"ranges": ["1 hour", "2 hours"], "slides": ["1 hour", "1 hour"]}
REFUSED = {
    "events": (HOUR, {"time": ("ts", "ts2")}, "agg", "events hold from start to stop"),
    "snapshots": (fl.Snapshot(), {"time": ("ts", "ts2")}, "agg", "events hold from start to stop"),
    "rows": (fl.Sliding(fl.Rows(2)), {}, "agg", "in windows that time alone places"),
    "ends at rows": (fl.Sliding("1 hour", fl.Rows(1)), {}, "agg", "windows that time alone places"),
    "frames": (fl.ThresholdFrame("v > 5"), {}, "agg", "windows that time alone places"),
    "sessions": (fl.Session("1 hour"), {}, "agg", "windows that time alone places"),
    "features": (fl.Trailing("1 hour"), {}, "attach", "windows that time alone places"),
    "weights": (fl.MultiGranular(**LEVELS, weights=[1, 0.5]), {}, "agg", "leave weights out"),
    "changes": (fl.MultiGranular(**LEVELS, changes_only=True), {}, "agg", "leave changes_only out"),
    "pieces": (HOUR, {}, "pieces", "leave carry out, or ask for it by agg"),
    "both ends": (fl.Sliding("1 hour", closed="both"), {}, "agg", "write closed='left' or"),
    "numbers": (fl.Sliding(10), {"time": "x"}, "agg", "is a duration, but time='x' is a number"),
    "open": (HOUR, {"late": "open"}, "agg", "leave late='open' out"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_nothing_before_it_is_refused(readings, name):
    spec, how, method, why = REFUSED[name]
    df = readings.selectExpr("*", "ts as ts2", "1L as x")
    windows = fl.over(df, spec, **{"time": "ts", **how})
    with pytest.raises(fl.FanlightError, match=why):
        getattr(windows, method)(MEAN)


@pytest.mark.parametrize(
    ("carry", "why"),
    [
        ("-1 hour", "must be positive"),
        (0, "must be positive"),
        (fl.Rows(3), "is not how long a reading may hold; write a duration such as '1 hour'"),
        ("soon", "is not a duration"),
        ("1 month", "write carry='30 days'"),
        ("90000000 days", "90000000 days"),
    ],
)
def test_what_is_not_a_time_is_refused(carry, why):
    with pytest.raises(fl.FanlightError, match=why):
        agg.integral("v", carry=carry)


def test_an_option_without_its_name_is_told(readings):
    with pytest.raises(fl.FanlightError, match=r"write agg\.integral\('v', carry='1 hour'\)"):
        agg.integral("v", "1 hour")
    with pytest.raises(fl.FanlightError, match="is of type map<string, int>"):
        fl.over(readings.selectExpr("*", "map('a', 1) as m"), HOUR, time="ts").agg(
            agg.first("m", carry="1 hour")
        )


def test_a_reading_in_more_windows_than_can_be_is_refused(readings):
    windows = fl.over(readings, fl.Sliding("1 second"), time="ts")
    with pytest.raises(fl.FanlightError, match="into 86,400,001 windows; write a"):
        windows.agg(agg.integral("v", carry="1000 days"))


def test_explain_says_what_is_carried(readings):
    page = fl.over(readings, HOUR, time="ts").explain(agg.count(), mean=MEAN)
    assert "carried     what holds when a window begins, from 1 hour before" in page
    assert "windows     1 hour long, one after the other" in page
    assert "computes    count(1), mean" in page
