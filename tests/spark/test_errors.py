"""Every mistake of a user is a FanlightError before Spark runs, and the message names it."""

from __future__ import annotations

import re
from copy import copy
from datetime import date
from importlib import import_module

import pandas as pd
import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg, algebra
from fanlight.engine.algebra.suggestions import OF_ROWS
from fanlight.engine.spark.fields import check_version
from fanlight.engine.spark.sql import expr, is_connect
from fanlight.engine.spec.errors import is_column
from tests.helpers.dataframes import frame
from tests.helpers.public import METHODS
from tests.helpers.refusals import refused
from tests.helpers.streams import source, write_files

ROW = {"case": 0, "k": "a", "ts": 0, "i": 0, "x": 0.0, "seq": 0, "v": 1.0, "n": 1, "s": "x"}
TIME = fl.Sliding("4 minutes", "1 minute")
NUMBER = fl.Sliding(4, 1)
ROWS = fl.Sliding(fl.Rows(4), fl.Rows(1))
BY_TUPLE = fl.Sliding("4 minutes", fl.Rows(1))


@pytest.fixture(scope="module")
def df(spark):
    return frame(spark, [ROW])


@pytest.fixture(scope="module")
def unmarked(spark, tmp_path_factory):
    """A stream without a watermark."""
    folder = write_files(tmp_path_factory.mktemp("in"), [ROW])
    return source(spark, folder, "1 minute"), spark.readStream.schema(
        "k string, ts timestamp, v double"
    ).parquet(str(folder))


def windows(df, spec=TIME, **more):
    return fl.over(df, spec, **{"time": "ts", "by": ["k"], **more})


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"time": "nowhere"}, ("nowhere", "time")),
        ({"by": ["nowhere"]}, ("nowhere", "by")),
        ({"by": "nowhere"}, ("nowhere", "by")),
        ({"by": ["k", "nowhere"]}, ("nowhere",)),
        ({"tiebreak": ["nowhere"]}, ("nowhere", "tiebreak")),
        ({"by": ["k", "k"]}, ("k", "by")),
        ({"time": None}, ("time",)),
        ({"time": 5}, ("time",)),
        ({"by": 5}, ("by",)),
        ({"time": ("ts", "i")}, ("time",)),
        ({"late": "dropped"}, ("late='dropped'", "'drop'", "'open'", "'collect'")),
        ({"late": None}, ("late=None",)),
        ({"time": "v"}, ("'v'", "double")),
        ({"time": "i"}, ("'i'", "bigint")),
    ],
    ids=str,
)
def test_columns_that_cannot_be(df, more, named):
    refused(lambda: windows(df, **more).agg(agg.count()), *named)


@pytest.mark.parametrize("kind", ["boolean", "binary", "array<timestamp>", "interval day"])
def test_types_that_are_no_time(spark, kind):
    wrong = spark.sql(f"select 'a' as k, cast(null as {kind}) as ts, 1 as v")
    refused(lambda: windows(wrong).agg(agg.count()), "ts", kind.split("<")[0])
    refused(lambda: windows(wrong, NUMBER).agg(agg.count()), "ts", kind.split("<")[0])


@pytest.mark.parametrize("kind", ["date", "string"])
def test_dates_and_texts_are_read_as_timestamps(spark, kind):
    read = spark.sql(f"select 'a' as k, cast(null as {kind}) as ts, 1 as v")
    assert windows(read).agg(agg.count()).columns == ["k", "window", "count(1)"]
    refused(lambda: windows(read, NUMBER).agg(agg.count()), "'ts'", "number", "duration")


def test_a_key_called_window(spark):
    clash = spark.sql("select current_timestamp() as ts, 'a' as window, 1 as v")
    refused(lambda: windows(clash, by="window").agg(agg.count()), "window")


@pytest.mark.parametrize("kind", ["map<string,int>"])
def test_keys_that_cannot_be_grouped(spark, kind):
    wrong = spark.sql(f"select current_timestamp() as ts, cast(null as {kind}) as k, 1 as v")
    refused(lambda: windows(wrong).agg(agg.count()), "k", "map")


@pytest.mark.parametrize(
    ("spec", "time"), [(NUMBER, "ts"), (TIME, "i"), (TIME, "x"), (BY_TUPLE, "i")], ids=str
)
def test_windows_and_times_of_different_kinds(df, spec, time):
    refused(lambda: windows(df, spec, time=time).agg(agg.count()), f"'{time}'")


@pytest.mark.parametrize("spec", ["4 minutes", None, 5, ("4 minutes", "1 minute")])
def test_what_is_no_spec(df, spec):
    refused(lambda: windows(df, spec), "Sliding")
    refused(lambda: fl.over(df, spec, time="ts").rejected(), "Sliding")


@pytest.mark.parametrize("what", [None, 5, "table", [ROW]], ids=["None", "5", "text", "list"])
def test_what_is_no_dataframe(what):
    refused(lambda: fl.over(what, TIME, time="ts"), "DataFrame")


def test_dataframes_of_pandas_and_names_of_tables_have_to_be_read(spark):
    rows = pd.DataFrame({"ts": [pd.Timestamp("2024-01-01")]})
    refused(lambda: fl.over(rows, TIME, time="ts"), "pass spark.createDataFrame(df)")
    assert fl.over(spark.createDataFrame(rows), TIME, time="ts").agg(agg.count()).count() == 4
    refused(lambda: fl.over("calls", TIME, time="ts"), "pass spark.table('calls'), or ")


def known(df):
    """What a text of Python may name, of the kind of the session."""
    home = "pyspark.sql.connect" if is_connect(df) else "pyspark.sql"
    functions, window = (import_module(f"{home}.{name}") for name in ("functions", "window"))
    return {"fl": fl, "agg": agg, "df": df, "F": functions, "Window": window.Window}


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_is_of_rows_gives_the_values_of_spark(spark, name):
    """Values with nulls among them, at times of their own."""
    x = "if(id % 3 = 0, null, id * id % 7)"
    df = spark.sql(f"select timestamp_seconds(id * 60) ts, id % 2 key, {x} x from range(12)")
    written = eval(OF_ROWS[name].split(", wh")[0], known(df))  # noqa: S307 - as the message says
    if is_column(written):
        assert df.select(written).count() == 12
        return
    before = "x - lag(x) over w" if name == "diff" else "x / lag(x) over w - 1"
    same = {
        **dict.fromkeys(("diff", "pctchange"), before),
        **dict.fromkeys(("lag", "shift"), "lag(x) over w"),
        **dict.fromkeys(("rownumber", "cumcount"), "row_number() over w"),
        **{f"cum{one}": f"{one}(x) over w" for one in ("min", "max")},
        **dict.fromkeys(("cumsum", "cumulativesum", "runningsum"), "sum(x) over w"),
    }.get(name)
    if same is None:  # of levels
        assert written.count()
        return
    df.createOrReplaceTempView("rows_of_keys")
    asked = f"select ts, {same} from rows_of_keys window w as (partition by key order by ts)"
    found = written.select("ts", written.columns[-1])
    assert sorted(map(tuple, found.collect())) == sorted(map(tuple, spark.sql(asked).collect()))


def test_the_hour_around_each_row_is_what_is_said_of_center(spark):
    df = spark.sql("select timestamp_seconds(id * 1000) ts, id from range(9)")
    with pytest.raises(fl.FanlightError) as caught:
        fl.Sliding("1 hour", center=True)
    written = str(caught.value).partition("; write ")[2].partition(" for the hour")[0]
    written = written.replace("…", "time='ts'", 1).replace("…", "agg.collect_list('id')")
    found = eval(written, known(df))  # noqa: S307
    for row in found.collect():
        around = [n for n in range(9) if -1800 < (n - row.id) * 1000 <= 1800]
        assert sorted(row["collect_list(id)"]) == around


def test_no_aggregate(df):
    refused(lambda: windows(df).agg(), "agg")


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("v", ("'v'", "agg.")),
        ("max(v)", ("max(v)", "write agg.max('v') after")),
        (("v", "mean"), ("('v', 'mean')", "write agg.avg('v') after")),
        (("v", "quux"), ("one of fanlight.agg",)),
        (5, ("5",)),
        (None, ("None",)),
        (agg.sum, ("sum",)),
        (agg.sum("nowhere"), ("nowhere",)),
        (agg.min_by("v", "nowhere"), ("nowhere",)),
        (agg.count_distinct("v", "nowhere"), ("nowhere",)),
        (agg.sum("s"), ("sum(s)", "string")),
        (agg.avg("s"), ("avg(s)", "string")),
        (agg.stddev_pop("ts"), ("stddev_pop(ts)", "timestamp")),
        (agg.median("s"), ("median(s)", "string")),
        (agg.linear_fit("s"), ("linear_fit(s)", "string")),
        (agg.approx_percentile("s", 0.5), ("approx_percentile(s", "string")),
        (agg.listagg("v"), ("listagg(v)", "double")),
        (agg.sum(5), ("5",)),
        (agg.sum(None), ("None",)),
    ],
    ids=lambda made: getattr(made, "label", None),
)
def test_what_is_no_aggregate_of_these_columns(df, made, named):
    refused(lambda: windows(df).agg(made), *named)
    refused(lambda: windows(df).agg(result=made))


def test_a_column_is_no_aggregate(df):
    refused(lambda: windows(df).agg(df["v"]), "agg.")
    refused(lambda: windows(df).agg(total=df["v"]), "agg.")


def test_aggregates_of_maps(spark):
    maps = spark.sql("select 'a' as k, current_timestamp() as ts, map('a', 1) as m")
    for made in (agg.max("m"), agg.mode("m"), agg.collect_list("m"), agg.count_distinct("m")):
        refused(lambda made=made: windows(maps).agg(made), "m", "map")


@pytest.mark.parametrize(
    ("positional", "named", "clash"),
    [
        ([agg.sum("v"), agg.sum("v")], {}, "sum(v)"),
        ([agg.sum("v").alias("a")], {"a": agg.count()}, "a"),
        ([agg.sum("v").alias("a"), agg.max("v").alias("A")], {}, "a"),
        ([], {"k": agg.count()}, "write another name: k_2=…"),
        ([agg.count().alias("k")], {}, "rename it with .alias(…)"),
        ([], {"window": agg.count().alias("n")}, "write another name: window_2=…"),
        ([], {"n": agg.count(), "N": agg.count()}, "write another name: N_2=…"),
    ],
    ids=["twice", "alias", "case", "key", "alias of key", "window", "names"],
)
def test_names_that_clash(df, positional, named, clash):
    refused(lambda: windows(df).agg(*positional, **named), clash)
    refused(lambda: windows(df, fl.Trailing()).attach(x=agg.count()), "write another name: x_2=…")


LATEST = algebra.Aggregate("latest", {"p": algebra.Max("{time}")}, "{p}", arity=0)
SUM_OF_TIMES = algebra.Aggregate("times", {"p": algebra.Sum("{time}")}, "{p}", arity=0)
SINCE_START = algebra.Aggregate("since", {"p": algebra.Max()}, "{p} - {start}")


@pytest.mark.parametrize(
    "made",
    [agg.linear_fit("v"), agg.linear_fit("v").where("(v > 1)"), LATEST(), LATEST() / agg.count(),
     SUM_OF_TIMES(), SINCE_START("v")],
    ids=lambda made: made.label,
)  # fmt: skip
def test_snapshots_have_no_instants(spark, made):
    stays = spark.sql("select * from values (0L, 9L, 2.5D), (4L, 6L, 1D) as t(start, stop, v)")
    snapshots = fl.over(stays, fl.Snapshot(), time=("start", "stop"))
    refused(lambda: snapshots.agg(agg.sum("v"), made), made.label, "is of the instants of rows")


def test_a_field_of_snapshots_may_be_called_time(spark):
    stays = spark.sql("select * from values (0L, 9L, 2.5D), (4L, 6L, 1D) as t(start, stop, v)")
    snapshots = fl.over(stays, fl.Snapshot(), time=("start", "stop"))
    own = algebra.Aggregate("own", {"time": algebra.Sum("{x}")}, "{time}")
    found = snapshots.agg(total=own("v")).orderBy("window").collect()
    assert [row.total for row in found] == [2.5, 3.5, 2.5]


@pytest.mark.parametrize("spec", [TIME, ROWS, BY_TUPLE], ids=repr)
def test_a_stream_needs_a_watermark(unmarked, spec):
    refused(lambda: windows(unmarked[1], spec).agg(agg.count()), "ts", "withWatermark")


def test_a_stream_needs_a_timestamp(unmarked):
    for spec, time in ((NUMBER, "i"), (fl.Sliding(0.3), "x"), (ROWS, "i")):
        refused(
            lambda s=spec, t=time: windows(unmarked[0], s, time=t).agg(agg.count()), f"'{time}'"
        )


@pytest.mark.parametrize("kind", ["date", "string"])
@pytest.mark.parametrize("time", ["ts", ("began", "ts")], ids=str)
def test_a_stream_needs_more_than_a_date_or_a_text(unmarked, kind, time):
    names = {"k": "k", "ts": "ts", "v": "v", "began": "ts"}
    texts = [f"cast({of} as {kind}) as {n}" if of == "ts" else n for n, of in names.items()]
    read = unmarked[1].selectExpr(*texts)
    refused(lambda: windows(read, time=time).agg(agg.count()), kind, "timestamp", "withWatermark")


def test_a_time_within_a_struct_leaves_it_before_it_gets_a_watermark(unmarked):
    read = unmarked[1].selectExpr("k", "v", "named_struct('end', ts) as w")
    write = "df.withColumn('end', F.col('w.end')).withWatermark('end', '10 minutes')"
    refused(lambda: windows(read, time="w.end").agg(agg.count()), write, "time='end'")


@pytest.mark.parametrize("strategy", ["fastest", "Panes", "", None, 5])
def test_unknown_strategies(df, strategy):
    refused(lambda: windows(df).using(strategy), repr(strategy), "panes")


@pytest.mark.parametrize(
    "made", [agg.max("v"), agg.min_by("s", "v"), agg.collect_list("v"), agg.sum("v"), agg.avg("v"),
             agg.nth_smallest("v", 2), agg.max_count("v"), agg.var_pop("v")], ids=lambda c: c.label
)  # fmt: skip
def test_what_cannot_be_taken_back(df, made):
    """Li et al., 3.2.2: max is not differential; sums of doubles are not exactly so."""
    act = windows(df).using("differential")
    refused(lambda: act.agg(made), "differential", made.label)
    refused(lambda: act.agg(agg.count(), made), "differential", made.label)


@pytest.mark.parametrize("strategy", ["panes", "pairs"])
def test_no_grid_to_cut_where_windows_end_at_every_row(df, strategy):
    refused(lambda: windows(df, BY_TUPLE).using(strategy).agg(agg.count()), strategy)


def test_the_message_says_what_to_write_instead(df):
    with pytest.raises(fl.FanlightError) as caught:
        windows(df).using("differential").agg(agg.max("v"))
    assert any(word in str(caught.value) for word in ("panes", "auto"))


def test_a_name_of_two_columns(df):
    both = df.join(df.selectExpr("ts as at", "k"), df["ts"] == expr(df, "at"))
    refused(lambda: windows(both).agg(agg.count()), "by='k'", "the name of 2 columns", "rename")
    refused(lambda: windows(both, by="nowhere").agg(agg.count()), "k, i")


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("show", "windows.agg(agg.count()).show"),
        ("groupBy", "by='key'"),
        ("select", "fl.over(df.select(…), …)"),
        ("write", "agg(agg.count()).write"),
        ("explian", "'explain'"),
        (
            "frames",
            "; these have agg, complete_only, early, explain, pieces, postpone, rejected, using",
        ),
        (
            "nothing",
            "choose one of agg, complete_only, early, explain, pieces, postpone, rejected, using",
        ),
    ],
)
def test_what_windows_are_not(df, name, write):
    made = windows(df)
    refused(lambda: getattr(made, name), f"SlidingWindows has no {name!r}", write)
    assert not hasattr(made, name)
    assert name not in dir(made)


@pytest.mark.parametrize("name", sorted(set().union(*METHODS.values())))
def test_methods_of_other_windows(df, name):
    trailing = fl.over(df, fl.Trailing("1 hour"), time="ts", by="k")
    if name in METHODS[fl.TrailingWindows]:
        assert getattr(trailing, name)
        return
    with pytest.raises(fl.FanlightError, match=f"TrailingWindows has no '{name}'") as caught:
        getattr(trailing, name)
    written = re.search(rf"fl\.over\(df, fl\.(\w+)\(.*\.{name}\(…\)", str(caught.value))
    (spec,) = re.findall(r"over\(df, (fl\.\w+)", written[0])
    made = {
        "fl.Sliding": fl.Sliding("1 hour"),
        "fl.MultiGranular": fl.MultiGranular(["1 minute", "1 hour"], ["1 minute", "1 minute"]),
        "fl.ThresholdFrame": fl.ThresholdFrame("v > 1"),
        "fl.ProgressiveWidening": fl.ProgressiveWidening(
            "1 minute", max_duration="4 minutes", max_rows=9
        ),
    }[spec]
    events = df.selectExpr("*", "ts as stop")
    time = ("ts", "stop") if "time=(" in written[0] else "ts"
    assert name in dir(fl.over(events, made, time=time, by="k"))


def test_aggregates_of_trailing_windows_are_attached(df):
    trailing = fl.over(df, fl.Trailing("1 hour"), time="ts", by="k")
    refused(lambda: trailing.agg, "write windows.attach(agg.count()), or fl.over(")


def test_windows_can_be_copied_and_looked_at(df):
    made = windows(df)
    assert repr(copy(made)) == repr(made)
    assert not hasattr(made, "_repr_latex_")
    with pytest.raises(AttributeError):
        made.count = 1


def test_widened_windows_are_detected(df):
    spec = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=9)
    refused(lambda: windows(df, spec).agg, "write windows.detect(…), or fl.over(")


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("window(ts, '1 hour')", "fl.over(df, fl.Sliding('1 hour'), time='ts')"),
        (
            "window(ts, '1 hour', '5 minutes', '1 minute')",
            "fl.over(df, fl.Sliding('1 hour', '5 minutes', offset='1 minute'), time='ts')",
        ),
        ("session_window(ts, '5 minutes')", "fl.over(df, fl.Session('5 minutes'), time='ts')"),
    ],
)
def test_windows_of_spark_are_no_keys(df, text, write):
    refused(lambda: windows(df, by=expr(df, text)), write, "not a key")


def test_the_reason_of_spark_is_told(df):
    refused(lambda: windows(df, fl.ThresholdFrame("v >")), "v >", "Syntax error")
    frames = windows(df, fl.ThresholdFrame("v > 1"))
    other = df.selectExpr("ts", "k", "v as other_v")
    refused(
        lambda: frames.fill(other, time="nowhere").rows(),
        "fill(other",
        "other DataFrame",
        "other_v",
    )
    refused(
        lambda: frames.fill(other, time="ts").agg(agg.max("v")), "'v'", "other DataFrame", "other_v"
    )


def test_rejected_asks_for_the_same(df):
    refused(lambda: fl.over(df, TIME, time="nowhere").rejected(), "nowhere")
    refused(lambda: fl.over(df, NUMBER, time="ts").rejected(), "'ts'")
    refused(lambda: fl.over(df, TIME, time="ts", by=["nowhere"]).rejected(), "nowhere")
    clash = df.selectExpr("*", "'why' as reason")
    refused(lambda: fl.over(clash, TIME, time="ts").rejected(), "reason")


def test_errors_come_before_spark_runs(spark):
    """A DataFrame that fails when it is run must not be run to find a mistake."""
    bad = spark.sql(
        "select timestamp_micros(id) as ts, 'a' as k, raise_error('ran') as v from range(3)"
    )
    refused(lambda: fl.over(bad, TIME, time="nowhere"), "nowhere")
    assert windows(bad).agg(agg.count("k")).columns == ["k", "window", "count(k)"]


def test_an_aggregate_that_an_older_spark_cannot_lift_is_refused():
    (monoid,) = agg.nth_smallest("v", 2).aggregate.partials(("double",)).fields.values()
    check_version("4.2.0", monoid, "nth_smallest(v, 2)")
    with pytest.raises(
        fl.FanlightError, match=r"nth_smallest\(v, 2\).*Spark 4\.2 or newer.*4\.1\.4"
    ):
        check_version("4.1.4", monoid, "nth_smallest(v, 2)")


@pytest.mark.parametrize(
    "spec",
    [
        ROWS,
        BY_TUPLE,
        fl.MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(1), fl.Rows(2)]),
        fl.Session("5 minutes"),
        fl.DeltaFrame({"v": 1}),
        fl.ProgressiveWidening("1 second", max_duration="20 seconds", max_rows=3),
    ],
    ids=repr,
)
def test_late_rows_are_not_put_into_windows_that_rows_cut(df, spec):
    refused(lambda: windows(df, spec, late="open"), "late='open'", "rows in order", "watermark")
    assert windows(df, spec, late="drop")


def test_late_rows_are_not_put_into_levels_that_belong_together(unmarked):
    """Each level would have to be taken by itself."""
    stream, _ = unmarked
    spec = fl.MultiGranular(
        ["2 minutes", "4 minutes"], ["1 minute", "2 minutes"], changes_only=True
    )
    opened = windows(stream, spec, late="open")
    refused(lambda: opened.agg(agg.count()), "late='open'", "together")
    plain = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
    opened = windows(stream, plain, late="open")
    refused(lambda: opened.fit("v", filled=True), "late='open'", "together")
    refused(lambda: opened.recurring("s"), "late='open'", "together")
    refused(lambda: opened.using("granules").agg(agg.count()), "'granules'", "open")
    assert "separate" in opened.explain()


def test_a_stream_copies_rows_only_if_asked_for_open_windows(unmarked):
    stream, _ = unmarked
    copies = windows(stream).using("expand")
    refused(lambda: copies.agg(agg.count()), "'expand'", "late='open'")
    assert windows(stream, late="open").using("expand").agg(agg.count()).isStreaming


LONG = [f"0 AS column_{number}" for number in range(20)]


def test_what_a_newcomer_asks_leads_to_what_was_meant(df):
    """What each message says to write is written in the next line."""
    seen = windows(df)
    refused(lambda: fl.over(TIME, df, time="ts"), "in the place of the DataFrame", "fl.over(df, ")
    refused(lambda: windows(df, time=expr(df, "ts")), "not the name of a column", "write time='ts'")
    made = expr(df, "timestamp_seconds(unix_timestamp(ts))")
    refused(lambda: windows(df, time=made), "not the name", "df.withColumn('time', …), and write")
    assert windows(df.withColumn("time", made), time="time").agg(agg.count()).count()
    refused(
        lambda: windows(df, time="ts + interval 1 day"), "is not a column",
        "df.withColumn('ts', F.expr('ts + interval 1 day')), and time='ts'",
    )  # fmt: skip
    refused(lambda: seen.agg(agg.sum("v * 2")), "'v * 2' is not a column", "F.expr('v * 2')")
    assert seen.agg(agg.sum(expr(df, "v * 2"))).count()
    for kind, name in ((fl.BoundaryFrame, "cells"), (fl.DeltaFrame, "deltas")):
        write = f"df.withColumn('computed', F.expr('v * 2')), and {name}={{'computed': …}}"
        refused(lambda kind=kind: windows(df, kind({"v * 2": 3})), write)
        there = df.withColumn("computed", expr(df, "v * 2"))
        assert windows(there, kind({"computed": 3})).agg(agg.count()).columns
    refused(lambda: windows(df, fl.Trailing(10)), "is a number", "or fl.Rows(10) to count rows")
    refused(lambda: windows(df, NUMBER), "is a number", "or fl.Rows(4) to count rows")
    refused(lambda: seen.agg(agg.sum("v * nope")), "is not a column", "choose one of ")
    refused(lambda: seen.agg("count"), "is a str", "write agg.count() after")
    refused(lambda: seen.agg({"v": "mean", "*": "count"}), "a dict", "agg.avg('v'), agg.count() ")
    refused(lambda: seen.agg({"v": "quux"}), "a dict", "one of fanlight.agg")
    refused(lambda: seen.count, "aggregates are arguments", "windows.agg(agg.count()), or")
    refused(lambda: seen.sum, "aggregates are arguments", "windows.agg(agg.sum(…))")
    trailing = fl.over(df, fl.Trailing("1 hour"), time="ts")
    refused(lambda: trailing.max, "aggregates are arguments", "windows.attach(agg.max(…))")
    hours = seen.agg(n=agg.count())
    refused(
        lambda: windows(hours, time="window"), "is a window, not a time",
        "df.withColumn('time', F.window_time('window')), and time='time'",
    )  # fmt: skip
    again = windows(hours.withColumn("time", expr(df, "window_time(window)")), time="time")
    assert again.agg(agg.sum("n")).count()


def test_a_list_of_columns_is_short_and_begins_with_a_guess(df):
    many = df.selectExpr("*", *(f"v as column_{place}" for place in range(300)))
    wide = fl.ProgressiveWidening("1 second", max_duration="1 minute", max_rows=9)
    level = windows(many)
    for ask in (
        lambda: windows(many, by="sqe"),
        lambda: windows(many, time="sqe"),
        lambda: level.agg(agg.max("sqe")),
        lambda: windows(many, wide).detect(fl.Episode("a sqe=1; b", event="s")),
    ):
        with pytest.raises(fl.FanlightError, match=r"mean .seq.\? If not, .* and 307 more") as said:
            ask()
        assert len(str(said.value)) < 400
    where = agg.count().where("sqe > 1")
    refused(lambda: level.agg(where), "seq", "and 307 more")
    refused(lambda: windows(many, fl.ThresholdFrame("sqe > 1")), "and 307 more")
    refused(lambda: windows(df, wide).detect(fl.Episode("a; b")), "choose one of ts, began, case")
    none = df.drop(*df.columns)
    refused(lambda: windows(none), "the DataFrame has no columns")


def test_none_is_no_key_and_no_tiebreak(df):
    assert windows(df, by=None, tiebreak=None).agg(agg.count()).columns == ["window", "count(1)"]
    clauses = [
        fl.clause(TIME, time="ts", by=none, tiebreak=none) for none in (None, (), [])
    ]  # fmt: skip
    assert len({*clauses}) == 1


@pytest.mark.sampled(1)
def test_a_sort_order_is_no_column(df):
    """Spark would end the query with an internal error, or sort as if nothing were said."""
    column = expr(df, "n")
    down, up = column.desc(), column.asc_nulls_last()
    for ask in (
        lambda: windows(df, ROWS, tiebreak=down),
        lambda: windows(df, ROWS, tiebreak=["seq", up]),
        lambda: windows(df, by=[down]),
        lambda: windows(df).agg(agg.max(down)),
        lambda: windows(df, fl.StateFrame(down)),
    ):
        refused(ask, "n ", "sort order, not a column", "F.col('n')", "-F.col('n')")
    assert windows(df, ROWS, tiebreak=-column).agg(agg.count()).columns
    named = df.withColumnRenamed("n", "n DESC NULLS LAST")
    assert windows(named, by=[expr(named, "`n DESC NULLS LAST`")]).agg(agg.count()).columns


@pytest.mark.sampled(1)
def test_a_generator_has_no_place_among_columns(df):
    """A generator would copy each row, also for the aggregates beside it."""
    several = expr(df, "explode(array(n, n, n))")
    for ask in (
        lambda: windows(df).agg(agg.count(), agg.sum(several)),
        lambda: windows(df, by=several),
        lambda: windows(df, fl.Session("1 minute"), tiebreak=[several]),
        lambda: windows(df, fl.StateFrame(several)).agg(agg.count()),
    ):
        refused(ask, "explode(array(n, n, n))", "several rows of one", "before fl.over")
    before = df.select("*", several.alias("each"))
    assert windows(before).agg(agg.sum("each")).columns


@pytest.mark.sampled(1)
def test_of_two_watermarks_the_last_one_counts(unmarked):
    stream, _ = unmarked
    moved = stream.withColumn("later", expr(stream, "ts + interval 1 day"))
    moved = moved.withWatermark("later", "1 hour")
    refused(lambda: windows(moved), "the stream's last withWatermark is on 'later'", "in its place")


@pytest.mark.sampled(1)
def test_two_columns_of_one_name_are_in_no_result_of_rows(df):
    twice = df.selectExpr("*", "1 as x")
    assert windows(twice).agg(agg.count()).columns
    for ask in (
        lambda one: windows(one, fl.Session("1 minute")).rows(),
        lambda one: windows(one, fl.Trailing("1 minute")).attach(calls=agg.count()),
    ):
        refused(lambda ask=ask: ask(twice), "two columns 'x'", "df.drop('x')")
        assert ask(twice.drop("x")).columns


def test_columns_of_spark_have_no_place_in_a_limit(df):
    total = expr(df, "sum(v)")
    refused(lambda: fl.AggregateFrame(total, 100), "AggregateFrame(sum(v), 100)", "agg.sum")
    refused(lambda: fl.AggregateFrame([agg.sum("v"), total], [1, 2]), "sum(v)", "agg.sum")
    refused(lambda: fl.AggregateFrame(agg.sum("v"), agg.max("v")), "limit=max(v)")
    refused(lambda: windows(df).agg([agg.max("v")]), "write agg(*[max(v)])")
    refused(lambda: windows(df).agg(agg.max), "write agg.max(…)")
    refused(lambda: windows(df).agg(max), "write agg.max(…)")


@pytest.mark.parametrize(
    ("call", "why", "write"),
    [
        (lambda df: fl.over(df, TIME, "ts"), "too many positional", "time='ts'"),
        (lambda df: fl.over(df, TIME), "missing a required argument: 'time'", "time='ts'"),
        (fl.over, "missing a required argument: 'spec'", "fl.over(df, fl.Sliding("),
        (lambda df: fl.over(df, TIME, tiem="ts"), "'tiem'", "time=… instead of tiem=…"),
        (lambda df: fl.over(df, TIME, time="ts", key="k"), "'key'", "by='key'"),
        (lambda df: fl.over(df.selectExpr("*", *LONG), TIME, "ts"), "…, Sliding(", "time='ts'"),
    ],
)
def test_a_call_that_cannot_be_says_how_to_write_it(df, call, why, write):
    refused(lambda: call(df), why, write)
    with pytest.raises(TypeError):
        call(df)


CLAUSE = "FROM advised [WATTR ts RANGE 4 SECONDS"
TWO = (
    "SELECT * FROM advised [WATTR ts RANGES 2 SECONDS, 4 SECONDS SLIDES 2 SECONDS, 2 SECONDS FIT v"
)
OF_RESULTS = f"(SELECT k, window, count(*) AS n {CLAUSE}] GROUP BY k)"
# What is refused, what the error says, and what it says to write.
ADVISED = (
    ("arriving.early(0)", "every='1 minute'", "arriving.early(every='1 minute')"),
    ("levels.bursts(2, expected=n)", "write another name: expected_2=…",
     "levels.bursts(2, expected_2=n)"),
    ("levels.bursts(2, n.alias('ratio'))", "rename it with .alias(…)",
     "levels.bursts(2, n.alias('ratio_2'))"),
    ("windows.agg(F.sum('a.b'))", "write agg.sum('a.b')", "windows.agg(agg.sum('a.b'))"),
    ("windows.agg(agg.max('v').transform(lambda one: F.round(one).alias('y')))",
     "transform(…).alias('y')",
     "windows.agg(agg.max('v').transform(lambda one: F.round(one)).alias('y'))"),
    ("windows.agg(agg.max('d').transform(lambda one: one > date(2025, 3, 1)))",
     "F.expr(\"date'2025-03-01'\")",
     "windows.agg(agg.max('d').transform(lambda one: one > F.expr(\"date'2025-03-01'\")))"),
    ("trailing.attach()", "attach() names no aggregate; write", "trailing.attach(agg.count())"),
    ("trailing.at(pandas, time='ts')", "pass spark.createDataFrame(spine)",
     "trailing.at(spark.createDataFrame(pandas[['ts', 'k']]), time='ts')"),
    ("frames.fill(pandas, time='ts')", "pass spark.createDataFrame(other)",
     "frames.fill(spark.createDataFrame(pandas[['ts', 'k']]), time='ts')"),
    ("frames.split(every='1 second', n=n)", "write windows.split('1 second', …)",
     "frames.split('1 second', n=n)"),
    ("levels.bursts(threshold=2, n=n)", "write windows.bursts(2, …)", "levels.bursts(2, n=n)"),
)  # fmt: skip
ADVISED_IN_SQL = (
    (f"{TWO} AHEAD 1 SECOND FILLED]", "its place is in FIT price FILLED INSTANT",
     f"{TWO} FILLED INSTANT 1 SECOND AHEAD 1 SECOND]"),
    ("SELECT count(*) FROM advised [WATTR ts EVERY 2 SECONDS RANGE 4 SECONDS]",
     "write SLIDE 5 MINUTES, after RANGE and its length",
     f"SELECT count(*) {CLAUSE} SLIDE 2 SECONDS]"),
    ("SELECT count(*) FROM advised [WATTR ts SLIDE 2 SECONDS RANGE 4 SECONDS]",
     "write it after RANGE and its length", f"SELECT count(*) {CLAUSE} SLIDE 2 SECONDS]"),
    (f"SELECT max(window) {CLAUSE}]", "SELECT max(window) FROM (SELECT window, count(*) FROM",
     f"SELECT max(window) FROM (SELECT window, count(*) {CLAUSE}])"),
    (f"SELECT max(window.end) {CLAUSE}]", "window is of the results",
     f"SELECT max(window.end) FROM (SELECT window, count(*) {CLAUSE}])"),
    *((f"SELECT k, count(*) {CLAUSE}] GROUP BY {sets}", "GROUP BY k) GROUP BY ROLLUP(k)",
       f"SELECT k, sum(n) FROM {OF_RESULTS} GROUP BY ROLLUP(k)")
      for sets in ("ROLLUP(k)", "CUBE (k)", "k WITH ROLLUP", "GROUPING SETS ((k), ())")),
    ("SELECT count(*) FROM hidden [WATTR ts RANGE 4 SECONDS]", "fl.sql(text, hidden=df)",
     "SELECT count(*) FROM hidden [WATTR ts RANGE 4 SECONDS]"),
)  # fmt: skip


def test_what_is_advised_works_as_it_is_written(classic):
    df = classic.sql(
        "select timestamp_seconds(id) as ts, id % 2 as k, double(id) as v, date'2025-01-01' as d, "
        "1 as `a.b` from range(9)"
    )
    levels = fl.MultiGranular(["2 seconds", "4 seconds"], ["2 seconds", "2 seconds"])
    levels = fl.over(df, levels, time="ts", by="k")
    windows = fl.over(df, fl.Sliding("2 seconds"), time="ts", by="k")
    frames = fl.over(df, fl.ThresholdFrame("v > 2"), time="ts", by="k")
    trailing = fl.over(df, fl.Trailing("1 minute"), time="ts", by="k")
    arriving = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    arriving = fl.over(arriving, fl.Sliding("1 minute"), time="timestamp")
    names = {
        "windows": windows, "levels": levels, "frames": frames, "trailing": trailing, "df": df,
        "arriving": arriving, "agg": agg, "F": F, "fl": fl, "date": date, "n": agg.count(),
        "pandas": df.limit(3).toPandas(), "spark": classic,
    }  # fmt: skip
    for wrong, said, right in ADVISED:
        refused(lambda wrong=wrong: eval(wrong, names), said)  # noqa: S307
        eval(right, names)  # noqa: S307
    df.createOrReplaceTempView("advised")
    for wrong, said, right in ADVISED_IN_SQL:
        refused(lambda wrong=wrong: fl.sql(wrong), said)
        assert fl.sql(right, hidden=df).columns
