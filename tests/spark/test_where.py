"""Aggregates of some rows: as Spark's FILTER, and what is no condition is refused."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.sql import expr
from tests.helpers.dataframes import all_of

ROWS = """
    SELECT timestamp_seconds(id) AS ts, id % 3 AS k, nullif(id * 7 % 11, 3) AS v,
           CASE WHEN id > 30 THEN elt(1 + id % 3, 'a', 'it\\'s', 'b') END AS kind,
           id % 4 = 1 AS `is ok`, nullif(id % 5, 0) > 2 AS `a.b`
    FROM range(90)
"""
WINDOWS = fl.Sliding("9 seconds", "3 seconds")
CONDITIONS = ("kind = 'a'", "kind = \"it's\"", "`is ok`", "`a.b` AND v > 4", "v IS NULL", "true",
              "kind > 'z' -- none")  # fmt: skip


@pytest.fixture
def df(spark):
    return spark.sql(ROWS)


def over(df, spec=WINDOWS, **more):
    return fl.over(df, spec, time="ts", by="k", **more)


def same(found, wanted):
    assert found.columns == wanted.columns
    assert all_of(found) == all_of(wanted) != []


@pytest.mark.parametrize("strategy", ["expand", "panes"])
def test_it_is_the_filter_of_spark_and_is_called_so(df, strategy):
    calls, theirs = [], []
    for text in CONDITIONS:
        calls += [one.where(text) for one in (agg.count(), agg.sum("v"), agg.count_distinct("v"))]
        theirs += [f"{one} FILTER (WHERE {text}\n)"
                   for one in ("count(*)", "sum(v)", "count(DISTINCT v)")]  # fmt: skip
    window = expr(df, "window(ts, '9 seconds', '3 seconds')")
    wanted = df.groupBy("k", window).agg(*[expr(df, text) for text in theirs])
    same(over(df).using(strategy).agg(*calls), wanted)


def test_first_and_last_do_not_see_the_other_rows(df):
    found = over(df, fl.Sliding("90 seconds")).agg(
        first=agg.first("v").where("v IS NULL OR v > 5"), last=agg.last("kind").where("v < 2"),
        least=agg.min_by("v", "ts").where("v IS NULL"),
    )  # fmt: skip
    rows = [row.asDict() for row in df.orderBy("ts").collect()]
    for row in found.collect():
        own = [one for one in rows if one["k"] == row.k]
        some = [one["v"] for one in own if one["v"] is None or one["v"] > 5]
        low = [one["kind"] for one in own if one["v"] is not None and one["v"] < 2]
        assert (row.first, row.last, row.least) == (some[0], low[-1], None)


def test_conditions_add_up_as_text_and_as_columns(df):
    once = over(df).agg(n=agg.count().where("`is ok` AND `a.b`"))
    both = agg.count().where("is ok").where(expr(df, "`a.b`"))
    same(over(df).agg(n=both), once)
    assert over(df).agg(both).columns[-1] == "count(1) FILTER (WHERE (is ok AND a.b))"
    named = agg.sum("v").alias("best").where("a.b")
    assert over(df).agg(named).columns[-1] == "best"
    assert agg.sum("v").where("a > 1").where("b").label == "sum(v) FILTER (WHERE a > 1 AND b)"


def test_weights_are_of_the_rows_that_are_left(df):
    spec = fl.MultiGranular(["4 seconds", "9 seconds"], ["1 second", "3 seconds"], weights=[1, 0.5])
    some = agg.sum("v").where("a.b"), agg.count().where("a.b")
    value, row = (expr(df, f"if(`a.b`, {one}, null)") for one in ("v", "1"))
    wanted = over(df, spec).agg(a=agg.sum(value), b=agg.count(row))
    same(over(df, spec).agg(a=some[0], b=some[1]), wanted)


def test_frames_are_filled_and_split_with_it(df):
    frames = over(df, fl.ThresholdFrame("v > 2"), tiebreak="kind")
    some, case = agg.count().where("a.b"), agg.count(expr(df, "if(`a.b`, 1, null)"))
    same(frames.fill(df, time="ts", own={"m": some}).agg(n=some),
         frames.fill(df, time="ts", own={"m": case}).agg(n=case))  # fmt: skip
    for split in (frames.split, frames.accumulate):
        same(split("2 seconds", n=some), split("2 seconds", n=case))


@pytest.mark.parametrize("spec", [WINDOWS, [WINDOWS], fl.ThresholdFrame("v > 1")], ids=repr)
def test_explain_names_it(df, spec):
    page = str(over(df, spec).explain(agg.sum("v").where("kind = 'a'")))
    assert "sum(v) FILTER (WHERE (kind = a))" in page


REFUSED = {
    "v": "FILTER_NOT_BOOLEAN",
    "null": "is not a condition",
    "nope > 1": "nope",
    "v >": "SYNTAX",
    "v > 1) OR (true": "SYNTAX",
    "max(v) > 1": "INVALID_WHERE_CONDITION",
    "max(v) OVER (PARTITION BY k) > 1": "WINDOW_FUNCTION",
    "explode(array(true))": "generator",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_condition_on_a_row_is_refused(df, text):
    for given in (text, expr(df, text)) if REFUSED[text] != "SYNTAX" else (text,):
        with pytest.raises(fl.FanlightError) as caught:
            over(df).agg(total=agg.sum("v").where("a.b").where(given))
        said = str(caught.value)
        assert said.startswith("total: where("), said
        assert "is not a condition on a row" in said
        assert "; write SQL that is true or false, over ts, k, v, kind, is ok, a.b" in said
        assert REFUSED[text] in said


@pytest.mark.parametrize(
    "text", ["rand() < 0.5", "v > 3 OR uuid() > '8'", "shuffle(array(k))[0] = 1"]
)
def test_what_varies_is_no_condition_unless_it_is_a_column(df, text):
    for condition in (text, expr(df, text)):
        with pytest.raises(fl.FanlightError, match=r"another each time.*before fl.over: df.withC"):
            over(df).agg(agg.count().where("k = 1").where(condition))
    chosen = df.withColumn("chosen", expr(df, text))
    assert over(chosen).agg(agg.count().where("chosen")).columns[-1].endswith("chosen)")


def test_what_is_the_same_within_a_query_is_a_condition(df):
    found = over(df).agg(n=agg.count().where("ts < current_timestamp()"))
    assert found.count() > 0


def test_an_aggregate_is_refused_over_rows_that_are_aggregates(df):
    most = df.groupBy("ts", "k").agg(expr(df, "max(v) as v"))
    with pytest.raises(fl.FanlightError, match="is not a condition on a row"):
        over(most).agg(agg.count().where("count(1) > 0"))


def test_a_limit_does_not_watch_some_rows():
    with pytest.raises(fl.FanlightError, match=r"watches some rows only.*withColumn"):
        fl.AggregateFrame(agg.sum("v").where("v > 1"), 10)


@pytest.mark.connect
@pytest.mark.parametrize("other", ["classic", "connect"])
def test_a_column_of_another_kind_of_session_is_refused(sessions, other):
    (own,) = set(sessions) - {other}
    df, foreign = sessions[own].sql(ROWS), expr(sessions[other].sql(ROWS), "v > 1")
    for ask in (
        lambda: over(df).agg(agg.count().where(foreign)),
        lambda: over(df).agg(agg.count(foreign)),
        lambda: over(df, fl.ThresholdFrame(foreign)),
    ):
        with pytest.raises(fl.FanlightError, match=r"Column<'v > 1'>.* is not "):
            ask()
