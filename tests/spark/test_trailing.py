"""Trailing windows: beside Spark's own, as of the rows of another table, and what is refused."""

from __future__ import annotations

import re

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.sql_text import quote
from tests.helpers.dataframes import all_of, collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.sparks import configured
from tests.helpers.streams import stream
from tests.law.data import minute

ROWS = [minute(at, n=at % 7, v=float(at % 5), seq=at % 3, s="ab"[at % 2], k="xy"[at % 3 == 0])
        for at in [*range(40), *range(60, 90, 2), *range(30, 36)]]  # fmt: skip
SQL = "over (partition by k order by unix_micros(ts) range between {} preceding and {} preceding)"
HOUR = 60 * MINUTE


def test_it_is_what_spark_finds_window_by_window(classic):
    """Where Spark's RANGE BETWEEN can say it."""
    df = frame(classic, ROWS).select("k", "ts", "n", "v")
    spans = {
        "right": (fl.Trailing("7 minutes"), (7 * MINUTE - 1, 0)),
        "left": (fl.Trailing("7 minutes", closed="left"), (7 * MINUTE, 1)),
        "both": (fl.Trailing("7 minutes", closed="both"), (7 * MINUTE, 0)),
        "neither": (fl.Trailing("7 minutes", closed="neither"), (7 * MINUTE - 1, 1)),
        "late": (fl.Trailing("7 minutes", delay="1 hour"), (HOUR + 7 * MINUTE - 1, HOUR)),
    }
    windows = fl.over(df, {label: spec for label, (spec, _) in spans.items()}, time="ts", by="k")
    found = windows.attach(c=agg.count(), s=agg.sum("n"), m=agg.max("v"), d=agg.avg("v"))
    asked = {"c": "count(1)", "s": "sum(n)", "m": "max(v)", "d": "avg(v)"}
    own = [
        f"{text} {SQL.format(*ends)} as {name}_{label}"
        for name, text in asked.items()
        for label, (_, ends) in spans.items()
    ]
    assert all_of(found) == all_of(df.selectExpr("*", *own))


@pytest.mark.parametrize("range_", ["1 month", "1 day", "2 weeks", "1 year"])
def test_the_last_month_is_what_spark_finds_in_a_session_of_that_zone(classic, range_):
    """RANGE BETWEEN an interval is by the clock of the session, ours by that of the zone.

    But for the hour that a clock skips or shows twice, of which no row is.
    """
    zone, session = "Europe/Berlin", "spark.sql.session.timeZone"
    df = (
        classic.range(3000)
        .selectExpr(
            "id % 3 as k",
            "timestamp'2024-01-20 04:00:00Z' + make_dt_interval(0, id * 7) as ts",
            "id",
        )
        .filter(f"unix_micros(from_utc_timestamp(ts, '{zone}')) div 3600000000 % 24 <> 2")
    )
    windows = fl.over(df, fl.Trailing(range_, closed="both", zone=zone), time="ts", by="k")
    found = all_of(windows.attach(n=agg.count(), s=agg.sum("id"), m=agg.min("id")))
    by_spark = "over (partition by k order by ts range between interval"
    by_spark += f" {range_} preceding and current row)"
    texts = {"n": "count(1)", "s": "sum(id)", "m": "min(id)"}
    asked = [f"{text} {by_spark} as {name}" for name, text in texts.items()]
    with configured(classic, session, zone):
        theirs = all_of(df.selectExpr("*", *asked))
    assert found == theirs


def test_few_rows_are_spark_s_own(classic):
    """Which starts no Python workers; the law says that the answer is the same."""
    windows = fl.over(frame(classic, ROWS), fl.Trailing("1 hour"), time="ts", by="k")
    assert "native, the cheapest of 3" in windows.explain(agg.count())
    assert "arrow" in windows.explain(agg.median("v"))
    many = fl.over(classic.range(10**9).selectExpr("id as ts"), fl.Trailing(9), time="ts")
    assert "arrow, the cheapest of 3" in many.explain(agg.count())
    assert "native, the cheapest of 3" in many.using(rate=1).explain(agg.count())
    assert "arrow, the cheapest of 3" in many.using(rate=1_000).explain(agg.count())
    keyed = fl.over(
        classic.range(10**9).selectExpr("id as ts", "id % 10 as k"), fl.Trailing(9), time="ts",
        by="k",
    )  # fmt: skip
    assert "arrow, the cheapest of 3" in keyed.using(rate=1_000).explain(agg.count())
    assert "native, the cheapest of 3" in keyed.using(rate=1_000, groups=1_000).explain(agg.count())


def test_other_rows_ask(spark):
    """By a join that says it in SQL: nothing from after the asking row counts."""
    df = frame(spark, ROWS).select("k", "ts", "n", "v")
    asks = frame(
        spark,
        [minute(at, k=k, n=at) for at in (0, 5, 35, 61, 62, 200) for k in ("x", "y", "none")],
    ).selectExpr("k as who", "ts + interval 30 seconds as at", "n as number")
    asks = asks.union(asks.limit(1).selectExpr("who", "cast(null as timestamp)", "-1"))
    windows = fl.over(
        df, {"7m": fl.Trailing("7 minutes", delay="1 minute"), "ever": fl.Trailing()},
        time="ts", by="k",
    )  # fmt: skip
    found = windows.at(asks, time="at", by="who").attach(c=agg.count(), s=agg.sum("n"))
    df.createOrReplaceTempView("rows_of_test")
    asks.createOrReplaceTempView("asks_of_test")
    wanted = spark.sql("""
        SELECT who, at, number,
               if(at IS NULL, NULL, count_if(t > a - 480000000 AND t <= a - 60000000)) AS c_7m,
               if(at IS NULL, NULL, count(n) FILTER (WHERE t <= a)) AS c_ever,
               sum(n) FILTER (WHERE t > a - 480000000 AND t <= a - 60000000) AS s_7m,
               sum(n) FILTER (WHERE t <= a) AS s_ever
        FROM (SELECT *, unix_micros(at) AS a FROM asks_of_test)
        LEFT JOIN (SELECT k, n, unix_micros(ts) AS t FROM rows_of_test) ON who = k
        GROUP BY who, at, number
    """)
    assert all_of(found) == all_of(wanted)


@pytest.mark.streaming
def test_a_stream_keeps_rows_without_a_time_and_carries_its_watermark_on(classic, tmp_path):
    rows = [*ROWS[:30], {**ROWS[0], "ts": None}]

    def query(df):
        found = fl.over(df, fl.Trailing("5 minutes"), time="ts", by=["case", "k"]).attach(
            seen=agg.count()
        )
        return found.select("case", "k", "ts", "n", "seen")

    got = stream(classic, tmp_path, [rows[:15], rows[15:]], query, delay="40 minutes")
    batch = collected(query(frame(classic, rows)))
    assert all_of(got) == all_of(batch)
    assert sum(row["seen"] is None for row in batch) == 1

    def counted(df):
        return fl.over(query(df), fl.Sliding("10 minutes"), time="ts", by="case").agg(
            most=agg.max("seen")
        )

    got = stream(classic, tmp_path, [rows[:15], rows[15:30]], counted, delay="40 minutes")
    assert all_of(got) == all_of(collected(counted(frame(classic, rows))))


def test_it_is_asked_in_sql(classic):
    df = frame(classic, ROWS).select("k", "ts", "n", "v")
    text = """
        SELECT upper(k) AS key, n, sum(n) AS s, count(*) AS c
        FROM df [WATTR ts TRAILING 7 MINUTES DELAY 1 MINUTE] GROUP BY upper(k) HAVING count(*) > 1
    """
    windows = fl.over(df, fl.Trailing("7 minutes", delay="1 minute"), time="ts", by="k")
    wanted = windows.attach(s=agg.sum("n"), c=agg.count()).where("c > 1")
    wanted = wanted.selectExpr("upper(k) as key", "n", "s", "c")
    assert all_of(fl.sql(text, df=df)) == all_of(wanted)


LABELS = ("1h", "a.b", "x`y", "ä'\"", "{}", "as")


def test_several_are_asked_in_sql_by_their_labels(spark):
    """An aggregate is a column for each, whatever the labels are; also in what is around it."""
    df = frame(spark, ROWS).select("k", "ts", "n", "v")
    spec = {label: fl.Trailing(f"{7 + n} minutes") for n, label in enumerate(LABELS)}
    clause = fl.clause(spec, time="ts", by="k")
    wanted = fl.over(df, spec, time="ts", by="k").attach(s=agg.sum("n"), most=agg.max("v"))
    plus = [wanted[quote(f"most_{label}")] + 1 for label in LABELS]
    wanted = wanted.select("*", *plus).drop(*(f"most_{label}" for label in LABELS))
    found = fl.sql(f"SELECT *, sum(n) AS s, max(v) + 1 FROM df {clause} HAVING n < 5", df=df)
    assert found.columns == [
        *("k", "ts", "n", "v"),
        *(f"{name}_{label}" for name in ("s", "max(v) + 1") for label in LABELS),
    ]
    rows = wanted.where("n < 5").toDF(*found.columns)
    assert all_of(found) == all_of(rows) != []
    around = f"SELECT * FROM (SELECT *, sum(n) AS s FROM df {clause} ORDER BY s_1h) WHERE s_1h > 9"
    assert fl.sql(around, df=df).count() == wanted.where("s_1h > 9").count() > 0


def test_several_over_what_several_gave(classic):
    df = frame(classic, ROWS).select("k", "ts", "n")
    once = "SELECT *, sum(n) FROM {} [WATTR ts TRAILING 1 HOUR AS h, TRAILING ALL AS a]"
    twice = fl.sql(once.format(f"({once.format('df')})"), df=df)
    assert twice.columns == ["k", "ts", "n", *("sum(n)_h", "sum(n)_a") * 2]
    assert all(row[3:5] == row[5:] for row in twice.collect())


@pytest.mark.parametrize("part", ["HAVING ^sum(n)^ > 3", "ORDER BY ^sum(n)^"])
def test_an_aggregate_of_several_stands_among_what_is_selected(classic, part):
    text = f"SELECT n, sum(n) FROM df [WATTR ts TRAILING 1 HOUR AS h, TRAILING ALL AS a] {part}"
    with pytest.raises(fl.FanlightError, match=r"a column for each.*use x_h in a query") as raised:
        fl.sql(text.replace("^", ""), df=frame(classic, ROWS))
    assert str(raised.value).startswith(f"line 1, column {text.index('^') + 1}: sum(n) ")


def test_rows_to_come_are_asked_as_the_refusal_of_a_negative_delay_says(classic):
    with pytest.raises(fl.FanlightError) as caught:
        fl.Trailing("1 hour", delay="-1 hour")
    asked = re.search(r"at\(df.*\)", str(caught.value))[0].replace("…", "n=agg.count()")
    df = frame(classic, [minute(at, n=at) for at in (0, 30, 60, 61, 200)]).select("ts", "n")
    windows = fl.over(df.withColumnRenamed("n", "m"), fl.Trailing("1 hour"), time="ts")
    known = {"windows": windows, "df": df.drop("n"), "F": F, "agg": agg}
    found = eval(f"windows.{asked}", known)  # noqa: S307 - what the message says
    assert sorted(row.n for row in found.collect()) == [0, 0, 1, 2, 2]


def test_what_cannot_be_asked(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, {"1h": fl.Trailing("1 hour")}, time="ts", by="k")
    for ask, says in (
        (lambda: fl.over(df, {}, time="ts"), "names no window"),
        (lambda: fl.over(df, {"a": fl.Sliding("1 hour")}, time="ts"), "is not a Trailing"),
        (lambda: fl.over(df, {"": fl.Trailing("1 hour")}, time="ts"), "label of a window"),
        (lambda: fl.over(df, {1: fl.Trailing("1 hour")}, time="ts"), "label of a window"),
        (lambda: fl.over(df, fl.Trailing(3), time="ts"), "range=3 is a number"),
        (lambda: fl.over(df, fl.Trailing("1 hour"), time="v"), "look back exactly"),
        (lambda: fl.over(df, fl.Trailing("1 hour"), time=("ts", "ts")), "is a pair"),
        (lambda: fl.over(df, fl.Trailing("1 hour"), time="ts", late="open"), "late="),
        (lambda: windows.agg(agg.count()), "attach"),
        (windows.attach, "names no aggregate"),
        (lambda: windows.attach(n=agg.sum("s")), "needs a number"),
        (lambda: windows.attach(agg.count().alias("a"), a=agg.sum("n")), "'a'"),
        (lambda: fl.over(df, fl.Trailing("1 hour"), time="ts").attach(v=agg.count()), "'v'"),
        (lambda: fl.over(df, fl.Trailing(), time="ts").attach(agg.linear_fit("v")), "beginning of"),
        (lambda: windows.using("panes"), "not a strategy of trailing windows"),
        (lambda: windows.using("native").attach(agg.median("n")), "all values of each window"),
        (lambda: windows.using("native").attach(agg.var_pop("n")), "no window of Spark's combines"),
        (
            lambda: (
                fl.over(df, fl.Trailing(fl.Rows(3)), time="ts").using("native").attach(agg.count())
            ),
            "rows share the time",
        ),
        (
            lambda: (
                fl.over(df, fl.Trailing(3600, include_self=False), time="n")
                .using("native")
                .attach(agg.count())
            ),
            "leave out its own row",
        ),
        (
            lambda: (
                fl.over(df, fl.Trailing("1 hour"), time="ts", forget_after="1 day")
                .using("native")
                .attach(agg.count())
            ),
            "do not end at a silence",
        ),
        (lambda: fl.over(df, fl.Trailing("1 month"), time="ts"), "name the zone"),
        (lambda: fl.over(df, fl.Trailing("1 month"), time="n"), "is for timestamps"),
        (lambda: fl.Trailing("36 hours", zone="UTC"), "as long by every clock"),
        (lambda: fl.Trailing(zone="UTC"), "as long by every clock"),
        (lambda: fl.Trailing(fl.Rows(3), zone="UTC"), "as long by every clock"),
        (lambda: fl.Trailing("1 month 2 days", zone="UTC"), "mixes months"),
        (lambda: fl.Trailing("1 month", zone="Europe/Berln"), "is not a time zone"),
        (lambda: fl.Trailing("1 month", delay=3, zone="UTC"), "mixes a duration"),
        (
            lambda: (
                fl.over(df, fl.Trailing("1 month", zone="UTC"), time="ts")
                .using("native")
                .attach(agg.count())
            ),
            "that of a calendar",
        ),
        (lambda: windows.at(df, time="nope").attach(agg.count()), "at\\(spine"),
        (lambda: windows.at(df, time="ts", by=["k", "s"]).attach(agg.count()), "pair up"),
        (lambda: windows.at(df, time="ts", by="n").attach(agg.count()), "is of type bigint"),
        (lambda: windows.at(df, time="n").attach(agg.count()), "is of type bigint"),
    ):
        with pytest.raises(fl.FanlightError, match=says):
            ask()
    with pytest.raises(fl.FanlightError, match="not known then"):
        fl.Trailing("1 hour", delay=-1)
    for bad in (
        {"range": 0}, {"delay": fl.Rows(3)}, {"range": 3, "delay": "1 hour"}, {"closed": "up"},
        {"range": fl.Rows(3), "closed": "left"}, {"include_self": 1},
    ):  # fmt: skip
        with pytest.raises(fl.FanlightError):
            fl.Trailing(**bad)
