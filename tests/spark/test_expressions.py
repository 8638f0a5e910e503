"""Arithmetic of aggregates: what Spark makes of the same, whatever the windows."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import Window
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.aggregates import call, compared_samples, of_rows
from tests.helpers.dataframes import all_of, frame
from tests.law.data import TODAY, points

NUMERIC = ("double", "bigint", "int", "float", "decimal(12,2)", "decimal(22,2)")
HOUR = fl.Sliding("10 minutes", "5 minutes")
# As one writes them here, and in Spark.
ASKED = {
    "rate": (agg.sum("n") / agg.count(), lambda: F.sum("n") / F.count("*")),
    "share": (100 * agg.count_if("ok") / agg.count(),
              lambda: 100 * F.count_if("ok") / F.count("*")),
    "money": (agg.sum("d") / agg.count("d"), lambda: F.sum("d") / F.count("d")),
    "range": (agg.max("v") - agg.min("v"), lambda: F.max("v") - F.min("v")),
    "scaled": (agg.avg("v") * 0.5 + 1, lambda: F.avg("v") * 0.5 + 1),
    "exact": (agg.sum("d") * Decimal("1.10"), lambda: F.sum("d") * F.lit(Decimal("1.10"))),
    "other way": (1 / agg.count(), lambda: 1 / F.count("*")),
    "median": (agg.median("v") - agg.avg("v"), lambda: F.median("v") - F.avg("v")),
    "same": (agg.sum("n") - agg.sum("n"), lambda: F.sum("n") - F.sum("n")),
    "null": (agg.sum("none") / agg.count(), lambda: F.sum("none") / F.count("*")),
    "text": (agg.count_distinct("a b") / agg.count("a b"),
             lambda: F.expr("count(distinct `a b`) / count(`a b`)")),
    "some": (agg.sum("n").where("ok") / agg.count().where("n > 3"),
             lambda: F.expr("sum(n) filter (where ok) / nullif(count(*) filter (where n > 3), 0)")),
    "both": ((agg.sum("n") / agg.count("v")).where("ok"),
             lambda: F.expr("sum(n) filter (where ok) / nullif(count(v) filter (where ok), 0)")),
}  # fmt: skip


@pytest.fixture(scope="module")
def df(classic):
    return classic.sql(
        "select timestamp_seconds(id * 37) as ts, id % 7 as n, cast(id % 5 as decimal(12,2)) as d, "
        "double(id % 11) as v, id % 3 = 0 as ok, cast(null as int) as none, "
        "concat('{x}', id % 4) as `a b`, id % 2 as k from range(200)"
    )


def numbers(lasting):
    """Every aggregate of the library that gives a number, by name."""
    found = {}
    for one in compared_samples():
        own = of_rows(one) if not lasting else True
        if own and one.sample.gives in NUMERIC and ("distinct", True) not in one.sample.options:
            found.setdefault(one.entry.name, call(one.request))
    return found


def test_events_of_an_empty_batch_are_planned(classic):
    none = classic.sql(
        "select timestamp_seconds(id) as a, timestamp_seconds(id) as b from range(0)"
    )
    windows = fl.over(none.where("false"), HOUR, time=("a", "b"))
    assert windows.agg(n=agg.count(), most=agg.peak(), time=agg.overlap()).collect() == []


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("lasting", [False, True])
def test_any_aggregate_divides(classic, lasting):
    """What it is computed of stays together, whatever stands before it."""
    rows = frame(classic, points(HOUR, 4, (TODAY,)).rows)
    rows = rows.selectExpr("*", "ts + interval 90 seconds as stop").where("ts is not null")
    asked, windows = {}, fl.over(rows, HOUR, time=("ts", "stop") if lasting else "ts")
    for name, one in numbers(lasting).items():
        try:
            windows.explain(one)
        except fl.FanlightError:
            continue  # not of events, or not of rows
        asked |= {name: one, f"1 / {name}": 1 / one, f"{name} - {name}": 7 - one}
    assert len(asked) > 60
    found = windows.agg(**asked).collect()
    assert found
    for row in found:
        for name in asked:
            value = row[name]
            if name.startswith("1 / ") or " - " in name or value is None:
                continue
            value = float(value)
            if not value:
                assert row[f"1 / {name}"] is None, name
                continue
            assert row[f"1 / {name}"] == pytest.approx(1 / value, nan_ok=True), name
            assert float(row[f"{name} - {name}"]) == pytest.approx(7 - value, nan_ok=True), name


@pytest.fixture
def lenient(classic):
    """Without ANSI a division by zero is null, as one asks for of some rows."""
    classic.conf.set("spark.sql.ansi.enabled", "false")
    yield
    classic.conf.unset("spark.sql.ansi.enabled")


def rounded(rows):
    return sorted(
        tuple(round(one, 9) if isinstance(one, float) else one for one in row) for row in rows
    )


@pytest.mark.parametrize("strategy", ["auto", "panes", "expand"])
def test_arithmetic_is_that_of_spark(df, lenient, strategy):
    del lenient
    ours = fl.over(df, HOUR, time="ts", by="k").using(strategy)
    found = ours.agg(**{name: one for name, (one, _) in ASKED.items()})
    theirs = df.groupBy("k", F.window("ts", "10 minutes", "5 minutes")).agg(
        *(one().alias(name) for name, (_, one) in ASKED.items())
    )
    assert found.dtypes == theirs.dtypes
    assert rounded(found.collect()) == rounded(theirs.collect())


def test_whatever_windows_there_are_it_is_computed_with_them(df):
    rate = agg.sum("n") / agg.count()
    parts = {"total": agg.sum("n"), "number": agg.count()}
    for spec in (
        fl.MultiGranular(["5 minutes", "20 minutes"], ["5 minutes", "10 minutes"]),
        [fl.Sliding("5 minutes"), fl.Sliding("7 minutes")],
        fl.ThresholdFrame("n > 2"),
        fl.Session("2 minutes"),
        fl.Sliding(fl.Rows(7), fl.Rows(3)),
        fl.Calendar("1 hour", zone="Europe/Berlin"),
    ):
        windows = fl.over(df, spec, time="ts", by="k")
        found = windows.agg(rate=rate, **parts).collect()
        assert len(found) > 1
        assert all(row.rate == row.total / row.number for row in found)
    trailing = fl.over(df, fl.Trailing("10 minutes"), time="ts", by="k").attach(rate=rate, **parts)
    assert all(row.rate == row.total / row.number for row in trailing.collect())
    spans = df.selectExpr("*", "ts + make_dt_interval(0, 0, 3) as stop")
    lasting = fl.over(spans, HOUR, time=("ts", "stop"), by="k").agg(rate=rate, **parts)
    assert all(row.rate == row.total / row.number for row in lasting.collect())


def test_a_division_by_zero_is_an_error_of_spark(df):
    windows = fl.over(df, HOUR, time="ts", by="k")
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        windows.agg(rate=agg.sum("n") / (agg.count() - agg.count())).collect()


def test_it_has_the_name_that_spark_has_for_it(df):
    windows = fl.over(df, HOUR, time="ts")
    found = windows.agg(
        agg.sum("n") / agg.count(), (agg.sum("n") / 2).where("ok"), agg.avg(df["v"] * 2) - 1
    )
    assert found.columns[1:] == [
        "(sum(n) / count(1))", "(sum(n) FILTER (WHERE ok) / 2)", "(avg((v * 2)) - 1)",
    ]  # fmt: skip
    assert windows.agg((agg.sum("n") / 2).alias("half")).columns[1:] == ["half"]


def test_pieces_keep_its_aggregates_and_not_it(df):
    windows = fl.over(df, fl.Sliding("5 minutes"), time="ts", by="k")
    with pytest.raises(fl.FanlightError, match="ask for each, and compute it from"):
        windows.pieces(rate=agg.sum("n") / agg.count())


def test_in_sql_it_is_written_as_ever(df):
    found = fl.sql(
        "SELECT k, window, sum(n) / count(*) AS rate, sum(DISTINCT n) AS once, "
        "bool_or(ok) FILTER (WHERE n > 3) AS any_high, corr(v, n) AS c "
        "FROM readings [WATTR ts RANGE 10 MINUTES SLIDE 5 MINUTES] GROUP BY k",
        readings=df,
    )
    wanted = fl.over(df, HOUR, time="ts", by="k").agg(
        rate=agg.sum("n") / agg.count(), once=agg.sum("n", distinct=True),
        any_high=agg.bool_or("ok").where("n > 3"), c=agg.corr("v", "n"),
    )  # fmt: skip
    assert rounded(found.collect()) == rounded(wanted.collect())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: agg.sum("a") / "b", "neither an aggregate nor a number of SQL"),
        (lambda: "b" / agg.sum("a"), "neither an aggregate nor a number of SQL"),
        (lambda: agg.sum("a") / True, "neither an aggregate nor a number of SQL"),
        (lambda: agg.sum("a") / float("nan"), "neither an aggregate nor a number of SQL"),
        (lambda: agg.sum("a") / None, "neither an aggregate nor a number of SQL"),
        (lambda: (agg.sum("a") / 2).alias(""), "is not a column name"),
        (lambda: (agg.sum("a") / 2).where(3), "is neither SQL text nor a Column"),
        (lambda: fl.AggregateFrame(agg.sum("a") / 2, 3), "AggregateFrame"),
    ],
)
def test_what_cannot_be_computed_is_refused(make, told):
    with pytest.raises(fl.FanlightError, match=told):
        make()


def test_a_function_of_a_result_is_that_of_spark(df):
    windows, half = fl.over(df, HOUR, time="ts", by="k"), lambda x: F.when(x > 1.5, x / 2)
    asked = [
        (agg.avg("v").transform(lambda x: F.round(x, 1)), F.round(F.avg("v"), 1)),
        (agg.sum("n").transform(half), half(F.sum("n"))),
        (agg.count_if("ok").transform(F.sqrt) * 0.5 + 1, F.sqrt(F.count_if("ok")) * 0.5 + 1),
        (agg.max("v").transform(lambda x: F.struct(x.alias("most"), x)),
         F.struct(F.max("v").alias("most"), F.max("v").alias("col2"))),
    ]  # fmt: skip
    ours = windows.agg(**{f"a{at}": one for at, (one, _) in enumerate(asked)})
    theirs = df.groupBy("k", F.window("ts", "10 minutes", "5 minutes")).agg(
        *(one.alias(f"a{at}") for at, (_, one) in enumerate(asked))
    )
    assert rounded(ours.collect()) == rounded(theirs.collect())
    assert windows.agg(asked[0][0]).columns[2:] == ["round(avg(v), 1)"]
    assert "round(avg(v), 1)" in str(windows.explain(asked[0][0]))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (3, "is not a function of an aggregate; write for example"),
        (lambda _: 5, "gives a int, not a Column"),
        (F.sum, "cannot be computed of one result.*compute it from the result"),
        (lambda x: x + F.col("v"), "cannot be computed of one result.*compute it from the result"),
        (F.explode, "cannot be computed of one result"),
        (lambda x: F.sum(x).over(Window.partitionBy(x)), "cannot be computed of one result"),
        (F.udf(lambda x: x), "cannot be read as SQL of the result.*compute it from the result"),
        (lambda _: F.lit(3), "cannot be read as SQL of the result"),
    ],
)
def test_a_function_that_cannot_be_computed_of_a_result_is_refused(df, function, told):
    windows = fl.over(df, HOUR, time="ts", by="k")
    with pytest.raises(fl.FanlightError, match=told):
        windows.agg(agg.sum("n").transform(function))


def test_weighted_levels_are_refused(df):
    spec = fl.MultiGranular(
        ["5 minutes", "20 minutes"], ["5 minutes", "10 minutes"], weights=[1, 0.5]
    )
    windows = fl.over(df, spec, time="ts", by="k")
    with pytest.raises(fl.FanlightError, match=r"weights of its own; ask for each of them"):
        windows.agg(agg.sum("v") / agg.count())


def test_more_than_twelve_columns_are_refused(df):
    wide = df.selectExpr("ts", *(f"n + {at} as c{at}" for at in range(13)))
    total = agg.sum("c0")
    for at in range(1, 13):
        total = total + agg.sum(f"c{at}")
    with pytest.raises(fl.FanlightError, match="of 13 columns and conditions, of at most 12"):
        fl.over(wide, HOUR, time="ts").agg(total)


# Each form of an aggregate, and the same over a column of the DataFrame.
FORMS = {
    "a Column": (lambda f: agg.sum(f.col("i") * 2), agg.sum("twice")),
    "a condition": (lambda f: agg.count_if(f.col("even")), agg.count_if("even")),
    "a struct": (lambda f: agg.max(f.struct("i", "v")), agg.max("both")),
    "SQL": (lambda f: agg.sum(f.expr("i * 2")), agg.sum("twice")),
    "where": (lambda _: agg.sum("i").where("even"), agg.sum("of_even")),
    "where, a Column": (lambda f: agg.sum("i").where(f.col("even")), agg.sum("of_even")),
    "distinct": (lambda f: agg.sum(f.col("i") * 2, distinct=True), agg.sum("twice", distinct=True)),
    "a ratio": (lambda f: agg.sum(f.col("i") * 2) / agg.count(), agg.sum("twice") / agg.count()),
    "a ratio, where": (
        lambda _: agg.sum("i").where("even") / agg.count(), agg.sum("of_even") / agg.count(),
    ),
    "a function": (lambda _: agg.sum("i").transform(lambda x: x * 2), agg.sum("twice")),
    "a function, where": (
        lambda _: agg.sum("i").transform(lambda x: x + 0).where("even"), agg.sum("of_even"),
    ),
    "a function, a ratio": (
        lambda _: agg.sum("i").transform(lambda x: x * 2) / agg.count(),
        agg.sum("twice") / agg.count(),
    ),
    "a function of a ratio": (
        lambda _: (agg.sum("i") / agg.count()).transform(lambda x: x * 2),
        agg.sum("twice") / agg.count(),
    ),
    "a function of a function": (
        lambda f: agg.sum("i").transform(lambda x: -x).transform(f.negate), agg.sum("i"),
    ),
    "a function of a struct": (
        lambda f: agg.max(f.struct("i", "v")).transform(lambda x: x["i"]), agg.max("i"),
    ),
    "a function of an array": (
        lambda f: agg.collect_list("i").transform(f.size), agg.count("i"),
    ),
    "Spark's": (lambda f: f.sum(f.col("i") * 2), agg.sum("twice")),
    "Spark's, FILTER": (lambda f: f.expr("sum(i) filter (where even)"), agg.sum("of_even")),
}  # fmt: skip
TIMES = {"time": "ts", "by": "k"}
TERMINALS = {
    "sliding": lambda d: fl.over(d, fl.Sliding("1 hour", "20 minutes"), **TIMES).agg,
    "rows": lambda d: fl.over(d, fl.Sliding(fl.Rows(3)), **TIMES).agg,
    "every row": lambda d: fl.over(d, fl.Sliding("1 hour", fl.Rows(1)), **TIMES).agg,
    "levels": lambda d: fl.over(d, LEVELS, **TIMES).agg,
    "levels side by side": lambda d: fl.over(d, LEVELS, **TIMES).wide,
    "events": lambda d: fl.over(d, fl.Sliding("1 hour"), time=("ts", "stop"), by="k").agg,
    "snapshots": lambda d: fl.over(d, fl.Snapshot(), time=("ts", "stop"), by="k").agg,
    "frames": lambda d: fl.over(d, fl.ThresholdFrame("i % 5 > 1"), **TIMES).agg,
    "frames filled": lambda d: (
        fl.over(d, fl.ThresholdFrame("i % 5 > 1"), **TIMES).fill(d, time="ts").agg
    ),
    "frames split": lambda d: partial(
        fl.over(d, fl.ThresholdFrame("i % 5 > 1"), **TIMES).split, "7 minutes"
    ),
    "sessions": lambda d: fl.over(d, fl.Session("15 minutes"), **TIMES).agg,
    "trailing": lambda d: fl.over(d, fl.Trailing("1 hour"), **TIMES).attach,
    "trailing, another table": lambda d: (
        fl.over(d, fl.Trailing("1 hour"), **TIMES).at(d.select("ts", "k"), time="ts").attach
    ),
}
LEVELS = fl.MultiGranular(["1 hour", "2 hours"], ["1 hour", "1 hour"])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["classic", "connect"])
@pytest.mark.parametrize("terminal", TERMINALS)
def test_every_form_of_an_aggregate_is_taken_everywhere(sessions, kind, terminal):
    session = sessions[kind]
    if kind == "connect":
        from pyspark.sql.connect import functions
    else:
        from pyspark.sql import functions
    df = session.sql(
        "select *, i * 2 as twice, if(even, i, null) as of_even, struct(i, v) as both from "
        "(select timestamp_seconds(id * 600) as ts, timestamp_seconds(id * 600 + 900) as stop, "
        "id as i, id % 2 as k, id % 3 = 0 as even, double(id % 7) as v from range(24))"
    )
    ask = TERMINALS[terminal](df)
    found = ask(**{f"a{n}": one(functions) for n, (one, _) in enumerate(FORMS.values())})
    wanted = ask(**{f"a{n}": one for n, (_, one) in enumerate(FORMS.values())})
    assert all_of(found) == all_of(wanted) != []


@pytest.mark.parametrize(
    "asked",
    [
        lambda one: -one, lambda one: one % 2, lambda one: one**2, lambda one: one // 2,
        lambda one: one > 3, lambda one: ~one,
    ],
    ids=["neg", "mod", "pow", "floordiv", "gt", "invert"],
)  # fmt: skip
def test_what_is_said_of_an_operator_runs(spark, asked):
    with pytest.raises(fl.FanlightError) as caught:
        asked(agg.max("price"))
    advice = str(caught.value).rpartition("compute it from the result: ")[2]
    rows = spark.sql("select timestamp_seconds(id) as ts, id as price from range(9)")
    windows = fl.over(rows, fl.Sliding("3 seconds"), time="ts")
    assert eval(f"windows.{advice}", {"windows": windows, "agg": agg}).collect()  # noqa: S307
