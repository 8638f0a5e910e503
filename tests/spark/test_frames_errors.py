"""What cannot be framed is refused when it is asked for, with what to write instead."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.sparks import DEFAULT, PROVIDER, configured

SPEC = fl.DeltaFrame({"v": 1})


@pytest.fixture(scope="module")
def df(classic):
    return classic.sql(
        "select timestamp_seconds(id) as ts, id % 3 as k, id / 2D as v, cast(id as string) as s, "
        "id > 3 as b, date'2024-05-01' as d from range(10)"
    )


BAD = {
    "does not parse": (fl.ThresholdFrame("v >"), "not a condition on a row"),
    "is not boolean": (fl.ThresholdFrame("v + 1"), "not a condition"),
    "names an unknown column": (fl.ThresholdFrame("w > 1"), "not a condition on a row"),
    "is an aggregate": (fl.ThresholdFrame("max(v) > 1"), "not a condition on a row"),
    "leaves by an unknown column": (
        fl.ThresholdFrame("v > 1", leave="w > 1"), "leave='w > 1' is not a condition on a row"
    ),
    "leaves by a number": (fl.ThresholdFrame("v > 1", leave="v"), "not a condition"),
    "enters by a number": (fl.ThresholdFrame("v > 1", enter_for=3), "is a number, but the time"),
    "an empty state": (fl.StateFrame(" "), "not a value of a row"),
    "a state of an unknown column": (fl.StateFrame("w"), "not a value of a row"),
    "a state that is an aggregate": (fl.StateFrame("max(v)"), "not a value of a row"),
    "a state called as an output": (fl.StateFrame("k as rows"), "clashes with the output"),
    "a state that is a key": (fl.StateFrame("k"), "is a key"),
    "opens on an unknown column": (fl.PredicateFrame("w > 1", "v < 1"), "not a condition on"),
    "cells of an unknown column": (fl.BoundaryFrame({"w": 1}), "is not a column"),
    "cells of text": (fl.BoundaryFrame({"s": 1}), "cut by numbers"),
    "deltas of a boolean": (fl.DeltaFrame({"b": 1}), "cut by numbers"),
    "a limit on text": (fl.AggregateFrame(agg.sum("s"), 1), "needs a number"),
    "a limit on an unknown column": (fl.AggregateFrame(agg.sum("w"), 1), "is not a column"),
    "a limit that does not parse": (fl.AggregateFrame(agg.sum("v"), "v >"), "not a limit of a row"),
    "a limit that is an aggregate": (
        fl.AggregateFrame(agg.sum("v"), "max(v)"), "not a limit of a row"
    ),
    "a limit that is a text": (fl.AggregateFrame(agg.sum("v"), "s"), "but a limit is a number"),
    "a limit by means and a text": (
        fl.AggregateFrame(agg.sum("v"), "mean_rows(3) * s"), "limit='s' is of type string"
    ),
    "functions of an unknown column": (
        fl.PredicateFrame(lambda *_: True, lambda *_: True, columns=["w"]), "is not a column"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "says"), BAD.values(), ids=BAD.keys())
def test_bad_columns(df, spec, says):
    with pytest.raises(fl.FanlightError, match=says):
        fl.over(df, spec, time="ts", by="k")


def test_bad_requests(df):
    windowed = fl.over(df, SPEC, time="ts", by="k")
    by_two = fl.over(df, SPEC, time="ts", by=["k", "s"])
    for ask, says in (
        (lambda: fl.over(df, SPEC, time=("ts", "ts")), "is a pair"),
        (lambda: fl.over(df, SPEC, time="b"), "does not order"),
        (lambda: fl.over(df, SPEC, time="v"), "does not order"),
        (lambda: fl.over(df.withColumnRenamed("k", "rows"), SPEC, time="ts", by="rows"), "rows"),
        (lambda: windowed.agg(rows=agg.count()), "'rows'"),
        (lambda: windowed.agg(frame_id=agg.count()), "'frame_id'"),
        (windowed.agg, "names no aggregate"),
        (lambda: windowed.agg(agg.sum("s")), "needs a number"),
        (lambda: windowed.using("panes"), "not a strategy of frames"),
        (lambda: windowed.split("fast"), "not a duration"),
        (lambda: windowed.split(3), "every=3 is a number, but time='ts' is a timestamp"),
        (lambda: windowed.using("native").accumulate("1 second"), "use 'auto'"),
        (lambda: windowed.fill(df, time="w").rows(), "is not a column"),
        (lambda: windowed.fill(df, time="v").rows(), "cut over timestamp"),
        (lambda: windowed.fill(df, time=("ts", "ts")).rows(), "not the name of a column"),
        (
            lambda: windowed.fill(df, time="ts", max_duration=3).rows(),
            "max_duration=3 is a number, but",
        ),
        (lambda: windowed.fill(df, time="ts", by=["k", "s"]).rows(), "pair up"),
        (
            lambda: windowed.fill(df, time="ts", by=()).rows(),
            r"gives rows of all 'k', .* rename one",
        ),
        (
            lambda: by_two.fill(df, time="ts", by="v").rows(),
            r"some of them by their names, or by=\(\)",
        ),
        (lambda: windowed.fill(df, time="ts", how="outer").rows(), "how='outer'"),
        (lambda: windowed.fill(df.selectExpr("*", "1 as frame_id"), time="ts").rows(), "frame_id"),
        (
            lambda: windowed.fill(df, time="ts", own="max").rows(),
            r"fill\(own=…\): agg\('max'\) is a str",
        ),
        (
            lambda: windowed.fill(df, time="ts", own={}).rows(),
            r"fill\(own=…\): agg\(\) names no agg",
        ),
        (
            lambda: windowed.fill(df, time="ts", own={"V": agg.max("v")}).rows(),
            "column 'v' clashes",
        ),
        (
            lambda: windowed.fill(df, time="ts", own=agg.max("v")).agg(agg.max("v")),
            "with the output",
        ),
        (
            lambda: windowed.fill(df, time="ts", own={"k": agg.max("v")}).rows(),
            "a key of the same name",
        ),
        (lambda: windowed.fill(df, time="ts", own=agg.max("w")).rows(), r"fill\(own=…\): .*'w'"),
    ):
        with pytest.raises(fl.FanlightError, match=says):
            ask()
    twice = fl.BoundaryFrame({"v": 1}, overlapping=True)
    dwelling = fl.ThresholdFrame("v > 1", enter_for="1 minute")
    for spec, says in ((twice, "later rows"), (dwelling, "later rows"),
                       (fl.DeltaFrame({"v": 1}, min_rows=2), "may yet be left out"),
                       (fl.DeltaFrame({"v": 1}, min_duration="1 minute"), "left out")):  # fmt: skip
        with pytest.raises(fl.FanlightError, match=says):
            fl.over(df, spec, time="ts").accumulate("1 second")
    with pytest.raises(fl.FanlightError, match="two numbers"):
        fl.over(df, twice, time="ts").rows()
    with pytest.raises(fl.FanlightError, match="frame_id"):
        fl.over(df.selectExpr("*", "1 as frame_id"), SPEC, time="ts").rows()


@pytest.fixture
def stream(classic):
    return classic.readStream.format("rate").load().selectExpr("timestamp as ts", "value as v")


def test_streams(classic, df, stream):
    with pytest.raises(fl.FanlightError, match="no watermark"):
        fl.over(stream, SPEC, time="ts")
    marked = stream.withWatermark("ts", "1 minute")
    windowed = fl.over(marked, SPEC, time="ts")
    with pytest.raises(fl.FanlightError, match="in a stream"):
        windowed.split("1 second")
    with pytest.raises(fl.FanlightError, match="write accumulate"):
        windowed.split("1 second", agg.count())
    with pytest.raises(fl.FanlightError, match="max_gap= or max_duration="):
        windowed.accumulate("1 second")
    forgetting = fl.over(marked, SPEC, time="ts", forget_after="1 hour")
    assert forgetting.accumulate("1 second").isStreaming
    adapting = fl.AggregateFrame(agg.sum("v"), "mean_rows(3) * mean_value(5000)")
    kept = "up to 5,003 numbers for the means in its limits"
    assert kept in fl.over(marked, adapting, time="ts").explain()
    with pytest.raises(fl.FanlightError, match="max_duration='1 hour'"):
        windowed.fill(marked, time="ts").rows()
    with pytest.raises(fl.FanlightError, match="a stream and a batch"):
        windowed.fill(df, time="ts").rows()
    with (
        configured(classic, PROVIDER, DEFAULT),
        pytest.raises(fl.FanlightError, match="RocksDB"),
    ):
        windowed.frames()


def test_rejected_rows(classic):
    df = classic.sql("select timestamp_seconds(nullif(id, 3)) as ts, id as v from range(5)")
    assert [row.reason for row in fl.over(df, SPEC, time="ts").rejected().collect()] == [
        "ts is null"
    ]
    assert sum(row.rows for row in fl.over(df, SPEC, time="ts").frames().collect()) == 4


def test_predicates_as_columns(spark):
    """A Column does as well as text, also where both kinds of sessions are there."""
    own = spark.sql("select timestamp_seconds(id) as ts, id % 3 as k, id / 2D as v from range(10)")
    found = [
        fl.over(own, spec, time="ts", by="k").frames().orderBy("k", "frame_id").collect()
        for spec in (fl.ThresholdFrame("v > 1"), fl.ThresholdFrame(own["v"] > 1))
    ]
    assert found[0] == found[1]
    assert found[0]


def test_explain_says_what_is_guaranteed(df):
    told = fl.over(df, SPEC, time="ts", by="k").explain(verbose=True)
    assert "partitions" in told
    assert "once a value has changed" in told
    assert "then Spark groups the rows of each frame" in fl.over(df, SPEC, time="ts").explain(
        agg.median("v")
    )
