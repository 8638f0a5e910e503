"""A time that is a text or a date is read as Spark's own window() reads it, for every kind."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of
from tests.helpers.sparks import configured

TIMES = fl.Sliding("36 hours", "12 hours")
LEVELS = fl.MultiGranular(["1 day", "2 days"], ["1 day", "1 day"])
WIDENED = fl.ProgressiveWidening("1 day", max_duration="4 days", max_rows=99)
# Days around the start of summer time in New York, each twice; one time is null.
ROWS = """
    select cast({at} as {kind}) as ts, cast({at} + make_dt_interval(1) as {kind}) as stop,
        id % 2 as k, 'a' as host, cast(id as double) as v
    from (select *, timestamp'2024-03-08' + make_dt_interval(id div 2) as day from range(9))
"""


KINDS = {
    "sliding": lambda df: over(df, TIMES).agg(agg.sum("v"), agg.first("v")),
    "rows": lambda df: over(df, fl.Sliding(fl.Rows(3), fl.Rows(2))).agg(agg.sum("v")),
    "every row": lambda df: over(df, fl.Sliding("2 days", fl.Rows(1))).agg(agg.sum("v")),
    "list": lambda df: over(df, [TIMES, fl.Sliding("1 day")]).agg(agg.sum("v")),
    "levels": lambda df: over(df, LEVELS).agg(agg.sum("v")),
    "fit": lambda df: over(df, LEVELS).fit("v", filled=True),
    "recurring": lambda df: over(df, LEVELS).recurring("host"),
    "events": lambda df: over(df, TIMES, ("ts", "stop")).agg(agg.sum("v")),
    "event levels": lambda df: over(df, LEVELS, ("ts", "stop")).agg(agg.sum("v")),
    "frames": lambda df: over(df, fl.DeltaFrame({"v": 3})).agg(agg.sum("v")),
    "session": lambda df: over(df, fl.Session("1 day")).agg(agg.sum("v")),
    "own gaps": lambda df: over(df, fl.Session("int(v) % 3 + 1 || ' days'")).frames(),
    "fill": lambda df: over(df, fl.DeltaFrame({"v": 3})).fill(df, time="ts").agg(agg.sum("v")),
    "detect": lambda df: over(df, WIDENED).detect(
        lambda rows: [{"n": rows.num_rows, "last": rows["v"][-1].as_py()}], "n int, last double"
    ),
    "rejected": lambda df: over(df, TIMES).rejected().drop("ts", "stop"),
}


def over(df, spec, time="ts"):
    return fl.over(df, spec, time=time, by="k")


def rows(spark, kind):
    at = "if(id = 8, null, day)"
    return spark.sql(ROWS.format(at=at, kind=kind))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", KINDS)
def test_it_is_what_a_timestamp_gives(spark, name):
    of_times, of_dates, of_texts = (
        all_of(KINDS[name](rows(spark, kind))) for kind in ("timestamp", "date", "string")
    )
    assert of_times == of_dates == of_texts
    assert of_times


@pytest.mark.parametrize("kind", ["date", "string"])
def test_it_is_what_spark_gives(classic, kind):
    df = rows(classic, kind)
    own = df.where("ts is not null").groupBy("k", F.window("ts", "36 hours", "12 hours"))
    ours = over(df, TIMES).agg(agg.count(), agg.sum("v"))
    wanted = own.agg(F.count("*").alias("count(1)"), F.sum("v"))
    assert all_of(ours) == all_of(wanted)


@pytest.mark.parametrize("time", ["ts", ("ts", "stop")])
def test_texts_that_are_no_times_are_found(ansi, time):
    df = ansi.sql(
        "select * from values ('2024-01-01', '2024-01-02'), ('nonsense', '2024-01-01'), "
        "('2024-01-01', '31.12.2024'), (null, '2024-01-01') as t(ts, stop)"
    )
    found = fl.over(df, fl.Sliding("1 day"), time=time).rejected().collect()
    wanted = {"nonsense": "ts is not a timestamp", None: "ts is null"}
    if time != "ts":
        wanted["2024-01-01"] = "stop is not a timestamp"
    assert {row.ts: row.reason for row in found} == wanted


@pytest.fixture
def ansi(classic):
    with configured(classic, "spark.sql.ansi.enabled", "true"):
        yield classic
