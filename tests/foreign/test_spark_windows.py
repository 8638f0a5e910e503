"""What Spark can express, fanlight answers as Spark does: values, names and types."""

from __future__ import annotations

import math
from functools import cache

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers import events
from tests.helpers.dataframes import all_of, collected, frame, readable
from tests.helpers.events import AUTUMN, SPRING

# Aggregates of Spark that do not depend on the order of rows, as Spark calls them.
UNNAMED = {
    "count(1)": agg.count(),
    "count(v)": agg.count("v"),
    "sum(n)": agg.sum("n"),
    "sum(d)": agg.sum("d"),
    "avg(n)": agg.avg("n"),
    "avg(d)": agg.mean("d"),
    "min(s)": agg.min("s"),
    "max(v)": agg.max("v"),
    "var_samp(n)": agg.var_samp("n"),
    "var_pop(v)": agg.var_pop("v"),
    "stddev_samp(n)": agg.stddev_samp("n"),
    "stddev_pop(n)": agg.stddev_pop("n"),
    "count(DISTINCT v)": agg.count_distinct("v"),
    "count(DISTINCT s, n)": agg.count_distinct("s", "n"),
    "median(v)": agg.median("v"),
    "percentile(n, 0.9, 1)": agg.percentile("n", 0.9),
    "sum(v)": agg.sum("v"),
    "avg(v)": agg.avg("v"),
}
CALLED = {"avg(d)": "mean(d)", "percentile(n, 0.9, 1)": "percentile(n, 0.9)"}
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")


@cache
def small():
    """Rows whose doubles are finite, and not so large that the order of additions shows."""
    rows = events.packed(fl.Sliding("4 minutes", "1 minute"), 12)
    return [row for row in rows if row["v"] is None or abs(row["v"]) < 1e6]


def by_spark(spark, df, spec, words):
    """The same windows, by Spark's own window()."""
    extents = ", ".join(
        f"'{int(part.value)} microseconds'" for part in (spec.range, spec.slide, spec.offset)
    )
    df.createOrReplaceTempView("given")
    columns = ", ".join(f"{word} as `{name}`" for name, word in words.items())
    return spark.sql(
        f"select case, k, window, {columns} from given group by case, k, window(ts, {extents})"
    )


def indexed(df):
    rows = collected(df)
    found = {(r["case"], r["k"], r["window"]["start"], r["window"]["end"]): r for r in rows}
    assert len(found) == len(rows)
    return found


def close(one, two):
    if isinstance(one, float) and isinstance(two, float):
        return (
            one == two
            or math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-12)
            or (math.isnan(one) and math.isnan(two))
        )
    return one == two


def assert_equal(got, expected):
    assert got.columns == expected.columns
    assert got.dtypes == expected.dtypes
    ours, theirs = indexed(got), indexed(expected)
    assert ours.keys() == theirs.keys()
    wrong = [
        f"{name} at {place}: {row[name]!r}, Spark says {theirs[place][name]!r}"
        for place, row in ours.items()
        for name in row
        if not close(row[name], theirs[place][name])
    ]
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("spec", [*events.TIME_SPECS[:3], events.TIME_SPECS[5]], ids=repr)
def test_windows_are_spark_s(spark, spec):
    df = frame(spark, small())
    got = fl.over(df, spec, time="ts", by=["case", "k"]).agg(*UNNAMED.values())
    words = {name: CALLED.get(name, name) for name in UNNAMED}
    assert_equal(got, by_spark(spark, df, spec, words))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    "spec",
    [
        fl.Sliding("1 day", "6 hours"),
        fl.Sliding("1 week", offset="4 days"),
        fl.Sliding("90 minutes", "30 minutes", offset="-10 minutes"),
    ],
    ids=repr,
)
def test_days_when_clocks_change(classic, time_zone, spec, zone):
    time_zone(zone)
    hour = fl.Sliding("90 minutes", "30 minutes")
    rows = events.packed(hour, 8, origins=(SPRING, AUTUMN))
    df = frame(classic, rows)
    got = fl.over(df, spec, time="ts", by=["case", "k"]).agg(n=agg.count(), s=agg.sum("n"))
    assert_equal(got, by_spark(classic, df, spec, {"n": "count(1)", "s": "sum(n)"}))


def test_times_without_a_zone(spark):
    spec = fl.Sliding("1 day", "6 hours")
    df = frame(spark, events.packed(spec, 6, origins=(SPRING, AUTUMN, 0)))
    local = df.selectExpr("case", "k", "n", "cast(ts as timestamp_ntz) as ts")
    got = fl.over(local, spec, time="ts", by=["case", "k"]).agg(n=agg.count(), s=agg.sum("n"))
    assert_equal(got, by_spark(spark, local, spec, {"n": "count(1)", "s": "sum(n)"}))


@pytest.mark.parametrize("spec", events.TUPLE_SPECS, ids=repr)
def test_windows_at_every_row_are_over_range(spark, spec):
    df = frame(spark, events.packed(spec, 8))
    df.createOrReplaceTempView("given")
    expected = spark.sql(
        f"""select distinct case, k, unix_micros(ts) + 1 as stop, count(1) over here as c,
            sum(n) over here as s, max(s) over here as m from given where ts is not null
            window here as (partition by case, k order by unix_micros(ts)
            range between {int(spec.range.value) - 1} preceding and current row)"""
    )
    got = fl.over(df, spec, time="ts", by=["case", "k"]).agg(
        c=agg.count(), s=agg.sum("n"), m=agg.max("s")
    )
    stop = "window.end as stop"
    ours = [
        (r["case"], r["k"], r["stop"], r["c"], r["s"], r["m"])
        for r in readable(got).selectExpr("*", stop).toArrow().to_pylist()
    ]
    theirs = [tuple(r.values()) for r in expected.toArrow().to_pylist()]
    assert len(ours) == len(theirs)
    assert set(ours) == set(theirs)


@pytest.mark.parametrize("size", [1, 3])
def test_windows_over_rows_are_over_rows(spark, size):
    rows = [{**row, "seq": at} for at, row in enumerate(small())]
    df = frame(spark, rows)
    df.createOrReplaceTempView("given")
    expected = spark.sql(
        f"""select case, k, row_number() over (partition by case, k order by ts, seq) as stop,
            sum(n) over (partition by case, k order by ts, seq
            rows between {size - 1} preceding and current row) as s
            from given where ts is not null"""
    )
    spec = fl.Sliding(fl.Rows(size), fl.Rows(1))
    got = fl.over(df, spec, time="ts", by=["case", "k"], tiebreak=["seq"]).agg(s=agg.sum("n"))
    ours = {(r["case"], r["k"], r["window"]["end"]): r["s"] for r in collected(got)}
    theirs = {(r["case"], r["k"], r["stop"]): r["s"] for r in expected.toArrow().to_pylist()}
    assert {place: s for place, s in ours.items() if place in theirs} == theirs
    lasts = {}
    for case, k, stop in theirs:
        lasts[case, k] = max(stop, lasts.get((case, k), 0))
    assert all(stop > lasts[case, k] for case, k, stop in ours.keys() - theirs.keys())


def test_unnamed_and_named_columns_stand_in_order(spark):
    df = frame(spark, small())
    got = fl.over(df, fl.Sliding("1 hour"), time="ts", by="k").agg(
        agg.max("v"), agg.count(), agg.min("s").alias("least"), total=agg.sum("n")
    )
    assert got.columns == ["k", "window", "max(v)", "count(1)", "least", "total"]
    assert dict(got.dtypes)["window"] == "struct<start:timestamp,end:timestamp>"


@pytest.mark.parametrize(
    ("time", "spec", "kind"),
    [
        ("i", fl.Sliding(4, 1), "bigint"),
        ("x", fl.Sliding(0.3, 0.1), "double"),
        ("ts", fl.Sliding(fl.Rows(3)), "bigint"),
        ("ts", fl.Sliding("1 hour", fl.Rows(1)), "timestamp"),
    ],
)
def test_windows_have_the_type_of_their_axis(spark, time, spec, kind):
    df = frame(spark, small())
    got = fl.over(df, spec, time=time, by="k").agg(agg.count())
    assert dict(got.dtypes)["window"] == f"struct<start:{kind},end:{kind}>"


def test_it_reads_well_under_transform(spark):
    df = frame(spark, small())
    spec = fl.Sliding("1 hour", "30 minutes")
    got = df.transform(lambda given: fl.over(given, spec, time="ts").agg(n=agg.count()))
    again = fl.over(df, spec, time="ts").agg(n=agg.count())
    assert all_of(collected(got)) == all_of(collected(again))


def test_nothing_of_the_session_is_changed(spark):
    before = {row["key"]: row["value"] for row in spark.sql("set").collect()}
    df = frame(spark, small()[:20])
    fl.over(df, fl.Sliding("1 hour", "30 minutes"), time="ts").agg(n=agg.count()).collect()
    assert {row["key"]: row["value"] for row in spark.sql("set").collect()} == before
