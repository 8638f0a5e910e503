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
from fanlight.engine.spark import translation
from tests.helpers.sparks import VERSION
from tests.helpers.streams import ended, stream_of
from tests.wheel import spark_windows

ADVISED = re.compile(r"; write (.*) after 'from fanlight import agg'$", re.DOTALL)
MINUTE = "1 minute"

# As one writes them in PySpark: those that are understood, and those that are not.
AGGREGATES = (
    "F.max('price')", "F.max('price').alias('top')", "F.max('`a.b`')", "F.max('Lane No')",
    "F.max('s.x')", "F.sum('price')", "F.sum('a, b')", "F.avg('price')", "F.count('phone')",
    "F.count('*')", "F.count(F.lit(1))", "F.count_distinct('phone')",
    "F.count_distinct('phone', 'seconds')", "F.expr('count(distinct phone)')",
    "F.stddev('price')", "F.variance('price')", "F.median('price')", "F.percentile('price', 0.9)",
    "F.percentile('price', [0.5, 0.9])", "F.max_by('phone', 'price')", "F.first('price')",
    "F.first_value('price')", "F.any_value('price')", "F.mode('same')", "F.collect_list('price')",
    "F.percentile_approx('price', 0.5)", "F.percentile_approx('price', 0.5, 20)",
    "F.percentile_approx('price', [0.5, 0.9])", "F.approx_count_distinct('phone')",
    "F.approx_count_distinct('phone', 0.1)", "F.sum(-F.col('price') % 3)",
    "F.count_if((F.col('price') > 3) & (F.col('seconds') <= 2) | ~F.col('flag'))",
    "F.sum(F.col('price').isin(1, 2).cast('int'))", "F.max(F.coalesce('price', F.lit(0)))",
    "F.sum(F.col('price') * 2)", "F.sum(F.col('price') * 2).alias('y')",
    "F.min(F.struct('price', 'seconds'))", "F.sum(F.col('price').cast('double'))",
    "F.max_by(F.upper('phone'), F.col('price') + F.col('seconds'))", "F.sum_distinct('price')",
    "F.avg(F.when(F.col('flag'), F.col('price')))", "F.first('price', ignorenulls=True)",
    "F.collect_set('price')", "F.count_if('flag')", "F.count_if(F.col('price') > 3)",
    "F.bool_and('flag')", "F.every('flag')", "F.some('flag')", "F.bit_xor('price')",
    "F.covar_pop('price', 'seconds')", "F.corr('price', 'seconds')",
    "F.regr_slope('price', 'seconds')", "F.skewness('price')", "F.kurtosis('price')",
    "F.try_sum('price')", "F.expr('sum(price) filter (where flag)')",
    "F.expr('count(*) filter (where price > 3 and flag)')",
    "F.sum('price') / F.count('phone')", "(F.sum('price') * 100) / F.count('*')",
    "F.sum('price') - F.min('price') + 1", "(F.avg('price') * 0.5).alias('half')",
    "F.sqrt(F.sum('price'))", "F.round(F.sum('price') / F.count('*'), 2)",
    "F.sum(F.col('Lane No') * 2)", "F.sum(F.col('`a, b`') * 2.5)", "F.expr('sum(price) + 1')",
    "F.concat(F.max('phone'), F.min('phone'))", "F.max('price').alias('top (x)')",
    "F.coalesce(F.sum(F.col('`a.b`') + 1), F.lit(0))", "F.struct(F.min('price'), F.max('same'))",
    "F.when(F.count('*') > 3, F.sum('price')).otherwise(0)", "F.sum('price').cast('string')",
    "F.struct(F.min('price').alias('lo'), F.max('same'))", "F.array_sort(F.collect_set('phone'))",
    "F.round(F.avg('price'), 1) * F.lit(2.5)",
    "F.expr('round(sum(price) filter (where `Lane No` > 1), 1)')", "F.max('price').isNull()",
    "F.struct(F.max('odd'))", "F.expr('max(price) /* sum(price) */')",
    "F.expr('sum(price) / (select max(x) from values (4), (5) as t(x)) + min(price)')",
    "F.expr(\"concat(max(phone), '\\\\\\'sum(price)', r'\\\\', \\\"' max(same)\\\")\")",
)  # fmt: skip
REFUSED = (
    "F.listagg('phone')", "F.mode('price', True)",
    "F.round(F.sum('price').over(Window.partitionBy('phone')))", "F.col('price') + F.sum('price')",
    "F.sum('price').over(Window.partitionBy('phone'))", "F.col('price')", "'price'",
    "F.col('price') + 1", "F.lit(1)",
    "F.bitmap_construct_agg('price')",
)  # fmt: skip
# Aggregates beside one of Spark alone, or with more than ours take.
LEFT_TO_SPARK = (
    "F.max('price') + F.expr('cardinality(histogram_numeric(price, 3))')",
    "F.expr('first(price) ignore nulls')", "F.expr('percentile(price, 0.5, 2)')",
)  # fmt: skip
# Aggregates that fanlight has not on purpose, the reason, and what to write instead.
OTHERWISE = {
    "F.histogram_numeric('price', F.lit(3))":
        ("order of rows", "agg.approx_percentile(…, [0.25, 0.5, 0.75])"),
    "F.count_min_sketch('price', F.lit(0.1), F.lit(0.9), F.lit(1))":
        ("cannot unite", "agg.top_k(…, 10)"),
    "F.expr('percentile_cont(0.5) within group (order by price)')": ("", "agg.percentile(…, 0.5)"),
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
            "id as `Lane No`, id as `a, b`, named_struct('x', id) as s, "
            "named_struct('{x}', id) as odd from range(60)"
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


def is_open(text):
    """Whether Spark may give one value or another: by a sketch, or in whatever order rows are."""
    return any(word in text for word in ("approx", "first", "any_value", "max_by(F.upper"))


def unordered(value):
    return sorted(value) if isinstance(value, list) else plain(value)


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_an_aggregate_of_spark_is_taken(calls, kind):
    """All at once by name, which takes one job, and each under the name that Spark has for it."""
    df = calls[kind].orderBy("ts").coalesce(1)
    window = made(f"F.window('ts', '{MINUTE}')", kind)
    theirs = df.groupBy(window).agg(*(made(text, kind).alias(text) for text in AGGREGATES))
    own = fl.over(df, window)
    asked = {text: made(text, kind) for text in AGGREGATES}
    assert "no such aggregate" not in own.explain(**asked)  # else Spark would compute all
    ours = own.agg(**asked)
    found, wanted = (
        sorted(one.collect(), key=lambda row: row["window"]["start"]) for one in (ours, theirs)
    )
    assert len(found) == len(wanted) > 2
    for one, other in zip(found, wanted, strict=True):
        for text in AGGREGATES:
            if is_open(text):
                assert one[text] is not None
            else:
                assert unordered(one[text]) == unordered(other[text]), text
    kinds = [dict(one.dtypes) for one in (ours, theirs)]
    assert [kinds[0][text] for text in AGGREGATES] == [kinds[1][text] for text in AGGREGATES]


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", AGGREGATES[::5])
def test_its_result_has_the_name_that_spark_has_for_it(calls, kind, text):
    df, column = calls[kind], made(text, kind)
    found = fl.over(df, fl.Sliding(MINUTE), time="ts").agg(column)
    assert found.columns == ["window", *df.select(column).columns]


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_what_is_not_certain_is_left_to_spark(calls, kind):
    df, window = calls[kind].orderBy("ts").coalesce(1), made(f"F.window('ts', '{MINUTE}')", kind)
    asked = {text: made(text, kind) for text in LEFT_TO_SPARK}
    for text, column in asked.items():
        assert "no such aggregate" in fl.over(df, window).explain(x=column), text
    theirs = df.groupBy(window).agg(*(one.alias(text) for text, one in asked.items()))
    ours = fl.over(df, window).agg(**asked)
    assert sorted(map(repr, ours.collect())) == sorted(map(repr, theirs.collect()))


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_aggregate_of_ours_is_refused(calls, kind, text):
    windows = fl.over(calls[kind], fl.Sliding(fl.Rows(5)), time="ts")
    with pytest.raises(fl.FanlightError) as caught:
        windows.agg(made(text, kind))
    told = ADVISED.search(str(caught.value))[1]
    assert told.startswith(("one of fanlight.agg, such as agg.max(…)", "agg."))


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", OTHERWISE)
def test_why_an_aggregate_of_spark_is_not_ours(calls, kind, text):
    windows = fl.over(calls[kind], fl.Sliding(fl.Rows(5)), time="ts")
    with pytest.raises(fl.FanlightError) as caught:
        windows.agg(made(text, kind))
    why, write = OTHERWISE[text]
    assert why in str(caught.value)
    assert ADVISED.search(str(caught.value))[1] == write
    windows.agg(x=eval(write.replace("…", "'price'"), {"agg": agg}))  # noqa: S307


@pytest.mark.skipif(VERSION < (4, 0), reason="Spark 3.5 shows some under the usual name")
@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_results_have_the_name_by_which_spark_shows_an_aggregate(calls, kind):
    windows, called = fl.over(calls[kind], fl.Sliding(MINUTE), time="ts"), {}
    for other, name in registry.AGGREGATES.others.items():
        entry = registry.AGGREGATES[name]
        column = {"string": "phone", "boolean": "flag"}.get(entry.samples[0].types[0], "price")
        share = ", 0.5" if entry.after_share else ""
        theirs = calls[kind].select(made(f"F.{other}('{column}'{share})", kind)).columns[0]
        ours = windows.agg(eval(f"agg.{other}('{column}'{share})")).columns[1]  # noqa: S307
        called[other] = (ours.partition("(")[0], theirs.partition("(")[0])
    assert all(ours == theirs for ours, theirs in called.values()), called
    assert called["std"][0] == "std"


def test_no_function_of_spark_is_taken_for_a_misspelt_aggregate():
    ours = {name.replace("_", ""): name for name in registry.AGGREGATES}
    ours |= registry.AGGREGATES.names
    for name, function in vars(F).items():
        if inspect.isfunction(function) and not name.startswith("_"):
            found = suggestions.suggest_aggregate(name, agg.__all__)
            assert found in (None, name, ours.get(name.casefold())), name


@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("text", WINDOWS)
def test_windows_of_spark_become_ours(calls, kind, text):
    df, column = calls[kind], made(text, kind)
    with pytest.raises(fl.FanlightError) as caught:
        fl.over(df, fl.Sliding(MINUTE), time="ts", by=column)
    told = str(caught.value).split("; write ")[1]
    if WINDOWS[text] is None:
        assert "fl.Session(gap)" in told
        with pytest.raises(fl.FanlightError, match=r"fl\.Session\(gap\)"):
            fl.over(df, column)
        return
    assert told == WINDOWS[text]
    theirs = df.groupBy(column).agg(made("F.count('*')", kind).alias("n"))
    for own in (eval(told, {"fl": fl, "df": df}), fl.over(df, column)):  # noqa: S307
        found = own.agg(n=agg.count()).select("window", "n")
        assert answers(found) == answers(theirs.withColumnRenamed("session_window", "window"))


@pytest.mark.parametrize("kind", ["classic", "connect"])
def test_windows_of_spark_are_read_in_each_form(sessions, kind):
    """`make wheels` compares their answers, on the oldest and on the newest Spark."""
    functions = spark_windows.functions_of(sessions[kind])
    df = spark_windows.rows_of(sessions[kind])
    for form, time in spark_windows.forms_and_times():
        column = spark_windows.FORMS[form](functions, spark_windows.TIMES[time])
        assert fl.over(df, column, by=spark_windows.KEY).agg(agg.count()).columns[-1] == "count(1)"


@pytest.mark.parametrize(
    ("shown", "length"),
    [
        ("3600000000", "1 hour"), ("-60000000", "-1 minute"), ("'1 hour'", "1 hour"),
        ("1 hours 30 minutes", "1 hours 30 minutes"), ("a", None), ("CASE WHEN 1 minute", None),
    ],
)  # fmt: skip
def test_a_length_is_read_as_each_spark_shows_it(shown, length):
    assert translation._length(shown) == length


def test_windows_of_spark_say_their_time(calls):
    df, window = calls["classic"], F.window("ts", MINUTE)
    assert fl.over(df, window, time="ts").agg(agg.count()).columns == ["window", "count(1)"]
    with pytest.raises(fl.FanlightError, match="are windows over 'ts'; leave time out"):
        fl.over(df, window, time="price")
    with pytest.raises(fl.FanlightError, match="is not a window that fanlight knows"):
        fl.over(df, F.col("ts"))


# By `window_time` a minute ends just before the next one, by its end with it.
TWOS = [(0, 12), (2, 12)]


def test_windows_after_windows_of_spark_take_the_watermark_along(minutes, tmp_path):
    """The advice about a window's end, followed over a stream, gives all windows of windows."""
    theirs = minutes.groupBy(F.window("ts", "1 minute")).agg(F.count("*").alias("n"))
    with pytest.raises(fl.FanlightError) as caught:
        fl.over(theirs, fl.Sliding("2 minutes"), time="window.end")
    advice = str(caught.value).split("; write ")[1].split(", and time=")[0]
    assert advice == "df.withColumn('time', F.window_time('window'))"
    assert in_twos(eval(advice, {"df": theirs, "F": F}), "time", tmp_path) == TWOS  # noqa: S307


@pytest.mark.parametrize(
    ("time", "wanted"), [("time", TWOS), ("window.end", [(0, 6), (2, 12), (4, 6)])]
)
def test_windows_after_windows_take_the_watermark_along(minutes, tmp_path, time, wanted):
    ours = fl.over(minutes, fl.Sliding("1 minute"), time="ts").agg(n=agg.count())
    assert in_twos(ours.withColumn("time", F.window_time("window")), time, tmp_path) == wanted


def in_twos(df, time, folder):
    """Start and sum of each window of two minutes over a stream of windows of one."""
    found = fl.over(df, fl.Sliding("2 minutes"), time=time).agg(n=agg.sum("n"))
    rows = ended(found, folder).collect()
    return sorted((row["window"]["start"].minute, row["n"]) for row in rows)


@pytest.fixture
def minutes(classic, tmp_path):
    """A stream of four minutes, with a row every ten seconds, and one row of ten hours later."""
    at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp()
    rows = f"timestamp_seconds({at} + id * 10) as ts"
    last = classic.range(1).selectExpr(f"timestamp_seconds({at} + 36000) as ts")
    batches = [classic.range(24).selectExpr(rows), last]
    return stream_of(classic, tmp_path, batches, "1 second")
