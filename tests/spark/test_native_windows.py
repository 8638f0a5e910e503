"""Where Spark's own windows can say what is asked, ``expand`` is Spark's plan to the letter."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg

SHARES = "array(0.25D, 0.9D)"


def approx(column, shares, accuracy=10_000):
    return F.expr(f"percentile_approx(if(isnan({column}), null, {column}), {shares}, {accuracy})")


EVERY = {
    "rows": (agg.count(), lambda: F.count("*")),
    "values": (agg.count("v"), lambda: F.count("v")),
    "total": (agg.sum("v"), lambda: F.sum("v")),
    "mean": (agg.avg("v"), lambda: F.avg("v")),
    "least": (agg.min("v"), lambda: F.min("v")),
    "most": (agg.max("v"), lambda: F.max("v")),
    "spread": (agg.stddev_samp("v"), lambda: F.stddev_samp("v")),
    "all": (agg.var_pop("v"), lambda: F.var_pop("v")),
    "different": (agg.count_distinct("v", "w"), lambda: F.count_distinct("v", "w")),
    "commonest": (agg.mode("w"), lambda: F.expr("mode(w, true)")),
    "middle": (agg.median("v"), lambda: F.expr("percentile(v, 0.5D)")),
    "about": (agg.approx_percentile("v", 0.5), lambda: approx("v", "0.5D")),
    "abouts": (agg.approx_percentile("v", [0.25, 0.9], 99), lambda: approx("v", SHARES, 99)),
    "shares": (
        agg.percentile("v", [0.25, 0.9]),
        lambda: F.expr(f"percentile(v, {SHARES})"),
    ),
}
LENGTHS = [("6 minutes", "2 minutes", "0 minutes"), ("7 minutes", "3 minutes", "1 minute")]


@pytest.fixture(scope="module")
def df(classic, tmp_path_factory):
    """Rows with a key that has a dot, a time without value, and a column called as a result."""
    path = str(tmp_path_factory.mktemp("native") / "rows")
    classic.sql(
        "select if(id = 7, null, timestamp_seconds(1700000000 + id * 37)) as ts, id % 3 as `a.b`, "
        "double(id % 11) as v, id % 2 as w, id as window from range(200)"
    ).write.parquet(path)
    return classic.read.parquet(path)


def placed(df):
    """What Spark does not ask of its own windows: whether a time is one that fanlight can place."""
    number = F.expr("unix_micros(ts)")
    near = (number < F.lit(2**62)) & (number > F.lit(-(2**62)))
    return df.where(F.col("ts").isNotNull() & near)


def both(df, lengths, names):
    length, slide, offset = lengths
    spec = fl.Sliding(length, slide, offset=offset)
    ours = fl.over(df, spec, time="ts", by="`a.b`").using("expand")
    ours = ours.agg(**{name: EVERY[name][0] for name in names})
    window = F.window("ts", length, slide, offset)
    theirs = [EVERY[name][1]().alias(name) for name in names]
    return ours, placed(df).groupBy("`a.b`", window).agg(*theirs)


def plan(df, capsys):
    """The physical plan without the numbers that Spark gives to columns and plans."""
    capsys.readouterr()
    df.explain()
    return re.sub(r"#\d+L?|plan_id=\d+|\[id=#\d+\]", "", capsys.readouterr().out)


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: lengths[0])
@pytest.mark.parametrize("names", [("total",), tuple(EVERY)], ids=["one", "all"])
def test_the_plan_is_spark_s(df, capsys, lengths, names):
    ours, theirs = both(df, lengths, names)
    assert plan(ours, capsys) == plan(theirs, capsys)
    assert ours.schema == theirs.schema


def test_the_answer_is_spark_s(df):
    ours, theirs = both(df, LENGTHS[1], EVERY)
    found = sorted(ours.collect(), key=repr)
    assert len(found) > 100
    assert found == sorted(theirs.collect(), key=repr)


def test_columns_that_are_computed(df):
    spec = fl.Sliding("6 minutes", "2 minutes")
    key = (F.col("`a.b`") + 1).alias("next")
    asked = fl.over(df, spec, time="ts", by=[key]).using("expand")
    found = asked.agg(total=agg.sum(F.col("v") * 2)).collect()
    window = F.window("ts", "6 minutes", "2 minutes")
    wanted = df.groupBy(key, window).agg(F.sum(F.col("v") * 2).alias("total")).collect()
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


OTHERS = {
    "earliest": agg.first("v"),
    "latest": agg.last("w"),
    "at the least": agg.min_by("w", "v"),
    "at the most": agg.max_by("v", "w"),
    "about how many": agg.approx_count_distinct("v"),
    "third": agg.nth_smallest("v", 3),
    "in order": agg.collect_list("v"),
    "joined": agg.listagg("name"),
    "line": agg.linear_fit("v"),
    "about whole": agg.approx_percentile("big", [0.0, 0.3, 1.0]),
    "total": agg.sum("big"),
}


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: lengths[0])
def test_other_aggregates_are_made_of_spark_s_in_its_windows(df, capsys, lengths):
    length, slide, offset = lengths
    rows = df.selectExpr("*", "string(v) as name", "9007199254740990 + bigint(v) as big")
    windows = fl.over(rows, fl.Sliding(length, slide, offset=offset), time="ts", by="`a.b`")
    ours = windows.using("expand").agg(**OTHERS, commonest=agg.mode("w"))
    assert "Generate" not in plan(ours, capsys)
    assert plan(ours, capsys).count("Expand") == 1
    found = sorted(ours.drop("line").collect(), key=repr)
    panes = windows.using("panes").agg(**OTHERS, commonest=agg.mode("w"))
    assert found == sorted(panes.drop("line").collect(), key=repr)
    lines = zip(*(one.orderBy("window", "`a.b`").collect() for one in (ours, panes)), strict=True)
    for one, other in lines:
        assert one.line == pytest.approx(other.line, abs=1e-6)


def test_what_spark_cannot_say_is_copied(df, capsys):
    asked = fl.over(df, fl.Sliding("6 minutes", "2 minutes"), time="ts").using("expand")
    assert "Generate explode" in plan(asked.agg(agg.heavy_hitters("v", 0.3)), capsys)
