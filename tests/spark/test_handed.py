"""Aggregates that only Spark has: it gets the rows of each window, and none else."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of
from tests.helpers.sparks import VERSION
from tests.helpers.streams import ended, stream_of

EVENTS = ("ts", "stop")
# Windows, and the time that they are of.
WINDOWS = {
    "tumbling": (fl.Sliding("1 minute"), "ts"),
    "sliding": (fl.Sliding("2 minutes", "45 seconds"), "ts"),
    "gaps": (fl.Sliding("20 seconds", "1 minute"), "ts"),
    "closed": (fl.Sliding("1 minute", closed="both"), "ts"),
    "numbers": (fl.Sliding(20, 10), "price"),
    "calendar": (fl.Calendar("1 hour", zone="Asia/Kolkata"), "ts"),
    "levels": (fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "2 minutes"]), "ts"),
    "list": ([fl.Sliding("1 minute"), fl.Sliding("5 minutes", "1 minute")], "ts"),
    "events": (fl.Sliding("2 minutes", "1 minute"), EVENTS),
    "events, levels": (
        fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute", "4 minutes"]),
        EVENTS,
    ),
    "session": (fl.Session("40 seconds"), "ts"),
    "threshold": (fl.ThresholdFrame("price > 3", min_rows=2), "ts"),
    "delta": (fl.DeltaFrame({"price": 4}), "ts"),
}
SPARKS = {"tumbling": ["1 minute"], "sliding": ["2 minutes", "45 seconds"]}
FOREIGN = ("F.histogram_numeric('price', F.lit(3))", "F.bitmap_construct_agg('row')",
           "F.mode('price', True)")  # fmt: skip


@pytest.fixture(scope="module")
def calls(sessions):
    """Rows with names that a plan of ours may have, too."""
    return {
        name: session.sql(
            "select timestamp_seconds(id * 7 + if(id > 30, 300, 0)) as ts, "
            "timestamp_seconds(id * 7 + 330 + id % 5 * 20) as stop, id % 11 as price, "
            "id as row, id % 2 as start, id % 3 as query, id as k0, id as t, id as r0, "
            "if(id % 4 = 0, null, id % 4) as `Lane No` from range(60)"
        )
        for name, session in sessions.items()
    }


def functions_of(kind):
    if kind == "connect":
        from pyspark.sql.connect import functions

        return functions
    return F


@pytest.mark.parametrize("name", WINDOWS)
def test_what_fanlight_has_is_not_handed_over(calls, name):
    spec, time = WINDOWS[name]
    windows = fl.over(calls["classic"], spec, time=time, by="start")
    found = windows.agg(F.max("price"), F.round(F.avg("price"), 1).alias("a"), n=agg.count())
    assert found.columns[-3:] == ["max(price)", "a", "n"]
    own = windows.agg(agg.max("price"), a=agg.avg("price"), n=agg.count())
    assert all_of(found) == all_of(own.withColumn("a", F.round("a", 1)).select(found.columns))
    assert "no such aggregate" not in windows.explain(F.max("price"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("by", [(), ("Lane No", "start")])
@pytest.mark.parametrize("name", WINDOWS)
def test_spark_gets_the_rows_of_each_window(calls, kind, by, name):
    spec, time = WINDOWS[name]
    functions = functions_of(kind)
    windows = fl.over(calls[kind], spec, time=time, by=[*by])
    found = windows.agg(
        functions.bitmap_construct_agg("row"),
        functions.sum("k0").alias("s"),
        n=functions.count("*"),
        least=functions.min(functions.col("t") + functions.col("r0") + functions.col("query")),
    )
    assert "bitmap_construct_agg(row)" in found.columns
    own = windows.agg(
        s=agg.sum("k0"), n=agg.count(), least=agg.min(functions.expr("t + r0 + query"))
    )
    assert all_of(found.drop("bitmap_construct_agg(row)")) == all_of(own)
    assert found.drop("bitmap_construct_agg(row)").dtypes == own.dtypes


@pytest.mark.parametrize("name", SPARKS)
def test_the_result_is_that_of_sparks_windows(calls, name):
    spec, lengths = WINDOWS[name][0], SPARKS[name]
    df = calls["classic"].orderBy("ts").coalesce(1)
    columns = [eval(text) for text in FOREIGN]  # noqa: S307 - the texts above
    window = F.window("ts", *lengths)
    found = fl.over(df, spec, time="ts", by="Lane No").agg(*columns)
    theirs = df.groupBy("Lane No", window).agg(*columns)
    assert all_of(found) == all_of(theirs)
    assert found.columns == theirs.columns


def test_a_stream(calls, tmp_path):
    df = calls["classic"]
    source = stream_of(df.sparkSession, tmp_path, [df], "0 seconds")
    counts = F.bitmap_construct_agg("row")
    tumbling = fl.Sliding("1 minute")
    found = ended(fl.over(source, tumbling, time="ts", by="start").agg(counts), tmp_path)
    batch = fl.over(df, tumbling, time="ts", by="start").agg(counts)
    last = df.agg(F.max("ts")).first()[0]
    assert all_of(found) == all_of(batch.where(F.col("window.end") <= F.lit(last))) != []
    for spec in (fl.Sliding("20 seconds", "1 minute"), fl.Session("1 minute")):
        with pytest.raises(fl.FanlightError, match="not an aggregate of fanlight"):
            fl.over(source, spec, time="ts", by="start").agg(counts)


def test_an_aggregate_in_pandas(calls):
    def middle(values):
        return float(values.median())

    middle.__annotations__ = {"values": pd.Series, "return": float}
    middle = F.pandas_udf(middle, "double")
    df = calls["classic"]
    found = fl.over(df, fl.Sliding("1 minute"), time="ts").agg(m=middle("price"))
    own = fl.over(df, fl.Sliding("1 minute"), time="ts").agg(m=agg.median("price"))
    assert all_of(found) == all_of(own)
    for name in ("sliding", "events", "session"):
        windows = fl.over(df, WINDOWS[name][0], time=WINDOWS[name][1])
        assert windows.agg(a=middle("price"), b=middle("row")).columns[-2:] == ["a", "b"]
        with pytest.raises(fl.FanlightError, match=r"agg\(.*, middle\(.*\) .* of its own$"):
            windows.agg(middle("price"), agg.count())
        # docs/replace.md says so: Spark computes it with no other kind.
        for beside in (F.count("*"), F.bitmap_construct_agg("row")):
            with pytest.raises(AnalysisException, match="PANDAS_UDF_PLACEMENT"):
                windows.agg(middle("price"), beside).collect()


@pytest.mark.parametrize("name", ["sliding", "levels", "events", "threshold"])
def test_explain_says_who_computes_it(calls, name):
    spec, time = WINDOWS[name]
    page = fl.over(calls["classic"], spec, time=time).explain(F.mode("price", deterministic=True))
    assert "fanlight has no such aggregate" in page
    assert "mode() WITHIN GROUP" in page or "mode(price" in page


def test_what_cannot_be_handed_over(calls):
    df, foreign = calls["classic"], F.bitmap_construct_agg("row")
    windows = fl.over(df, fl.Sliding("1 minute"), time="ts", by="start")
    with pytest.raises(fl.FanlightError, match="of fanlight and of Spark alone"):
        windows.agg(foreign, agg.sum("price"))
    with pytest.raises(fl.FanlightError, match="clashes with a key"):
        windows.agg(start=foreign)
    with pytest.raises(fl.FanlightError, match="is asked for twice"):
        windows.agg(foreign, foreign)
    for refused in (
        lambda: windows.with_empty("zero").agg(foreign),
        lambda: windows.using("panes").agg(foreign),
        lambda: fl.over(df, fl.Sliding(fl.Rows(3)), time="ts").agg(foreign),
        lambda: fl.over(df.withColumn("frame_id", F.lit(1)), fl.Session("1 minute"), time="ts").agg(
            foreign
        ),
        lambda: windows.agg(F.bitmap_construct_agg("nope")),
        lambda: windows.agg(F.bitmap_construct_agg("row") + F.col("price")),
    ):
        with pytest.raises(fl.FanlightError, match="not an aggregate of fanlight"):
            refused()


# What Spark's aggregates take and those of fanlight do not.
OTHER_TYPES = {
    "days": "make_dt_interval(0, 0, id)", "months": "make_ym_interval(id, 1)",
    "map": "map('a', id)", "struct": "struct(id as q, map('b', id) as m)",
    "variant": "parse_json(concat('{\"a\":', id, '}'))",
}  # fmt: skip
OF_THEM = ("sum", "avg", "min", "max", "first", "last", "collect_list", "collect_set",
           "count_distinct", "any_value", "max_by")  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("column", OTHER_TYPES)
def test_what_spark_takes_and_fanlight_does_not_is_handed_over(sessions, kind, column):
    if column == "variant" and VERSION < (4, 0):
        pytest.skip("a type of Spark 4")
    session, functions = sessions[kind], functions_of(kind)
    value = OTHER_TYPES[column].replace("id", "int(id)")
    df = session.sql(
        f"select timestamp_seconds(id * 600) as ts, {value} as v from range(0, 20, 1, 1)"
    )
    window, given = functions.window("ts", "1 hour"), []
    for name in OF_THEM:
        one = getattr(functions, name)
        one = (one("v", "ts") if name == "max_by" else one("v")).alias(name)
        try:
            df.groupBy(window).agg(one).schema  # noqa: B018 - Connect finds out here
        except PySparkException:
            continue  # Spark cannot take it either
        given.append(one)
    assert len(given) >= 4
    wanted = df.groupBy(window).agg(*given)
    for windows in (fl.over(df, window), fl.over(df, fl.Sliding("1 hour"), time="ts")):
        found = windows.agg(*given)
        assert found.columns == wanted.columns
        assert shown(found) == shown(wanted)
    session_of_all = fl.over(df, fl.Session("1 hour"), time="ts").agg(*given)
    names = [name for name in wanted.columns if name != "window"]
    assert shown(session_of_all.select(*names)) == shown(df.groupBy().agg(*given))


def shown(df):
    """Rows as texts; lists are sorted."""
    texts = []
    for name in df.columns:
        text = f"sort_array(transform({name}, x -> to_json(struct(x))))"
        text = text if name.startswith("collect") else name
        texts.append(f"to_json(named_struct('x', {text}))")
    return sorted(map(tuple, df.selectExpr(*texts).collect()))
