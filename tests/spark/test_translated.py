"""What is advised to those who write Spark's own aggregates and windows, followed to the letter."""

from __future__ import annotations

import datetime as dt
import inspect
import math
import re

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra import registry, suggestions

ADVISED = re.compile(r"; write (.*) after 'from fanlight import agg'$", re.DOTALL)
MINUTE = "1 minute"

# As one writes them in PySpark, and what is to be written instead; None: there is no such here.
AGGREGATES = {
    "F.max('price')": "agg.max('price')",
    "F.max('price').alias('top')": "agg.max('price').alias('top')",
    "F.max('`a.b`')": "agg.max('a.b')",
    "F.max('Lane No')": "agg.max('Lane No')",
    "F.max('s.x')": "agg.max('s.x')",
    "F.sum('price')": "agg.sum('price')",
    "F.sum('a, b')": "agg.sum('a, b')",
    "F.avg('price')": "agg.avg('price')",
    "F.count('phone')": "agg.count('phone')",
    "F.count('*')": "agg.count()",
    "F.count(F.lit(1))": "agg.count()",
    "F.count_distinct('phone')": "agg.count_distinct('phone')",
    "F.count_distinct('phone', 'seconds')": "agg.count_distinct('phone', 'seconds')",
    "F.expr('count(distinct phone)')": "agg.count_distinct('phone')",
    "F.stddev('price')": "agg.stddev_samp('price')",
    "F.variance('price')": "agg.var_samp('price')",
    "F.median('price')": "agg.median('price')",
    "F.percentile('price', 0.9)": "agg.percentile('price', 0.9)",
    "F.max_by('phone', 'price')": "agg.max_by('phone', 'price')",
    "F.first('price')": "agg.first('price')",
    "F.first_value('price')": "agg.first('price')",
    "F.any_value('price')": "agg.first('price')",
    "F.mode('same')": "agg.mode('same')",
    "F.collect_list('price')": "agg.collect_list('price')",
    "F.percentile_approx('price', 0.5)": "agg.approx_percentile('price', 0.5)",
    "F.approx_count_distinct('phone')": "agg.approx_count_distinct('phone')",
    "F.sum(F.col('price') * 2)": "agg.sum(…) of the same Column",
    "F.min(F.struct('price', 'seconds'))": "agg.min(…) of the same Column",
    "F.sum(F.col('price').cast('double'))": "agg.sum(…) of the same Column",
    "F.sum_distinct('price')": None,
    "F.first('price', ignorenulls=True)": None,
    "F.percentile_approx('price', 0.5, 20)": None,
    "F.percentile_approx('price', [0.5, 0.9])": None,
    "F.approx_count_distinct('phone', 0.1)": None,
    "F.collect_set('price')": None,
    "F.count_if('flag')": None,
    "F.covar_pop('price', 'seconds')": None,
    "F.corr('price', 'seconds')": None,
    "F.listagg('phone')": None,
    "F.regr_slope('price', 'seconds')": None,
    "F.mode('price', True)": None,
    "F.expr('sum(price) filter (where flag)')": None,
    "F.sum('price').over(Window.partitionBy('phone'))": None,
    "F.sum('price') + 1": None,
    "F.col('price')": None,
    "'price'": None,
}  # fmt: skip
WINDOWS = {
    "F.window('ts', '1 hour')": "fl.over(df, fl.Sliding('1 hour'), time='ts')",
    "F.window('ts', '1 hour', '5 minutes', '1 minute')":
        "fl.over(df, fl.Sliding('1 hour', '5 minutes', offset='1 minute'), time='ts')",
    "F.session_window('ts', '5 minutes')": "fl.over(df, fl.Session('5 minutes'), time='ts')",
    "F.session_window('ts', F.expr(\"case when price > 1 then '1 minute' else '2 minutes' end\"))":
        None,
}  # fmt: skip


@pytest.fixture(scope="module")
def calls(sessions):
    return {
        name: session.sql(
            "select timestamp_seconds(id * 7) as ts, id % 11 as price, id % 3 as seconds, "
            "5 as same, concat('p', id % 4) as phone, id % 2 = 0 as flag, id as `a.b`, "
            "id as `Lane No`, id as `a, b`, named_struct('x', id) as s from range(60)"
        )
        for name, session in sessions.items()
    }


def made(text, kind):
    """A Column as a user of a kind of session makes it."""
    if kind == "connect":
        from pyspark.sql.connect import functions
        from pyspark.sql.connect.window import Window as Windows

        return eval(text, {"F": functions, "Window": Windows})  # noqa: S307 - the texts above
    return eval(text, {"F": F, "Window": Window})  # noqa: S307


def answers(df):
    return sorted((row["window"]["start"], plain(row[1])) for row in df.collect())


def plain(value):
    return round(value, 9) if isinstance(value, float) and math.isfinite(value) else value


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", AGGREGATES)
def test_an_aggregate_of_spark_becomes_one_that_means_the_same(calls, kind, text):
    df, column = calls[kind], made(text, kind)
    windows = fl.over(df, fl.Sliding(MINUTE), time="ts")
    with pytest.raises(fl.FanlightError) as caught:
        windows.agg(column)
    told = ADVISED.search(str(caught.value))[1]
    if AGGREGATES[text] is None:
        assert told.startswith("one of fanlight.agg, such as agg.max(…)")
        return
    assert told == AGGREGATES[text]
    if "…" in told:
        inner = text[text.index("(") + 1 : -1]
        own = getattr(agg, told[4 : told.index("(")])(made(inner, kind))
    else:
        own = eval(told, {"agg": agg})  # noqa: S307
    window = made(f"F.window('ts', '{MINUTE}')", kind)
    theirs = df.orderBy("ts").coalesce(1).groupBy(window).agg(column)
    assert answers(windows.agg(own)) == answers(theirs)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("collect_set", "array_distinct(collect_list)"),
        ("count_if", "count"),
        ("sum_distinct", "aggregate(array_distinct(collect_list), 0L, (a, b) -> a + b)"),
        ("bool_and", "min"),
        ("every", "min"),
        ("bool_or", "max"),
        ("some", "max"),
    ],
)
def test_what_there_is_not_can_be_had_nevertheless(calls, name, own):
    """As the error says that ``agg.NAME`` raises."""
    with pytest.raises(AttributeError) as caught:
        getattr(agg, name)
    told = str(caught.value).split("; write ")[1]
    used = re.findall(r"\w+", own)[-1 if "list" not in own else 1]
    df, ours = calls["classic"], "collect_list" if "list" in own else used
    assert told.startswith(f"agg.{ours}(")
    flags = name in ("count_if", "bool_and", "every", "bool_or", "some")
    given = F.when(F.col("flag"), 1) if name == "count_if" else "flag" if flags else "price"
    found = fl.over(df, fl.Sliding(MINUTE), time="ts").agg(found=getattr(agg, ours)(given))
    if "list" in own:
        found = found.selectExpr("window", own.replace("collect_list", "found"))
    theirs = df.groupBy(F.window("ts", MINUTE)).agg(getattr(F, name)("flag" if flags else "price"))
    sets = name == "collect_set"
    one, other = (
        [(at, sorted(value) if sets else value) for at, value in answers(asked)]
        for asked in (found, theirs)
    )
    assert one == other


def test_no_function_of_spark_is_taken_for_a_misspelt_aggregate():
    ours = {name.replace("_", ""): name for name in registry.AGGREGATES}
    ours |= registry.AGGREGATES.names | registry.AGGREGATES.instead_of
    for name, function in vars(F).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            found = suggestions.suggest_aggregate(name, agg.__all__)
            assert found in (None, name, ours.get(name.casefold())), name


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", WINDOWS)
def test_windows_of_spark_become_ours(calls, kind, text):
    df, column = calls[kind], made(text, kind)
    for ask in (lambda: fl.over(df, column, time="ts"),
                lambda: fl.over(df, fl.Sliding(MINUTE), time="ts", by=column)):  # fmt: skip
        with pytest.raises(fl.FanlightError) as caught:
            ask()
        told = str(caught.value).split("; write ")[1]
        if WINDOWS[text] is None:
            assert "fl.Session(gap)" in told
            continue
        assert told == WINDOWS[text]
        own = eval(told, {"fl": fl, "df": df})  # noqa: S307
        theirs = df.groupBy(column).agg(made("F.count('*')", kind).alias("n"))
        found = own.agg(n=agg.count()).select("window", "n")
        assert answers(found) == answers(theirs.withColumnRenamed("session_window", "window"))


def test_windows_after_windows_take_the_watermark_along(unmarked_windows, tmp_path):
    """The advice about a window's end, followed over a stream, gives all windows of windows."""
    first = unmarked_windows
    with pytest.raises(fl.FanlightError) as caught:
        fl.over(first, fl.Sliding("2 minutes"), time="window.end")
    advice = str(caught.value).split("; write ")[1].split(", and time=")[0]
    assert advice == "df.withColumn('time', F.window_time('window'))"
    df = eval(advice, {"df": first, "F": F})  # noqa: S307
    found = fl.over(df, fl.Sliding("2 minutes"), time="time").agg(n=agg.sum("n"))
    query = (
        found.writeStream.format("memory").queryName("windows_of_windows")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    rows = first.sparkSession.table("windows_of_windows").collect()
    assert sorted((row["window"]["start"].minute, row["n"]) for row in rows) == [(0, 12), (2, 12)]


@pytest.fixture
def unmarked_windows(classic, tmp_path):
    """Windows of a minute over a stream of four."""
    at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp()
    rows = f"timestamp_seconds({at} + id * 10) as ts"
    folder = str(tmp_path / "rows")
    classic.range(24).selectExpr(rows).write.parquet(folder)
    last = classic.range(1).selectExpr(f"timestamp_seconds({at} + 36000) as ts")
    last.write.mode("append").parquet(folder)
    read = classic.readStream.schema("ts timestamp").option("maxFilesPerTrigger", 1).parquet(folder)
    marked = read.withWatermark("ts", "1 second")
    return fl.over(marked, fl.Sliding("1 minute"), time="ts").agg(n=agg.count())
