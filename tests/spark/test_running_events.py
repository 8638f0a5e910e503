"""Events that have no stop yet, and several rows of one event."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import fanlight as fl
from fanlight import agg

# id, key, start, stop: minutes; the first event is told twice, and so is the fourth.
ROWS = (
    (1, "a", 0, None), (1, "a", 0, 7), (2, "a", 3, None), (3, "b", 4, 5), (4, "b", 12, None),
    (4, "b", 11, None), (None, "b", 5, None), (None, "b", 5, None), (5, "a", 25, None),
)  # fmt: skip
NOW = 20
SPECS = (fl.Sliding("6 minutes", "3 minutes"), fl.Snapshot(),
         fl.MultiGranular(["3 minutes", "9 minutes"], ["3 minutes", "9 minutes"]))  # fmt: skip


@pytest.fixture
def df(spark):
    return spark.createDataFrame(ROWS, "`the id` int, k string, a int, b int").selectExpr(
        "`the id`", "k", "timestamp_seconds(a * 60) as start", "timestamp_seconds(b * 60) as stop"
    )


def of_each(rows):
    """One row an event: the one with the latest stop, and without one the latest start."""
    found = {}
    for number, row in enumerate(rows):
        event = ("alone", number) if row[0] is None else row[0]
        found.setdefault(event, []).append(row)
    return [
        max(one, key=lambda row: (row[3] is not None, row[3] or 0, row[2]))
        for one in found.values()
    ]


def ended(rows):
    """The same events, with the time at which they are still running for their stop."""
    return [
        (*row[:3], NOW if row[3] is None else row[3]) for row in rows
        if row[3] is not None or row[2] < NOW
    ]  # fmt: skip


def answers(df, spec, make=lambda windows: windows):
    windows = make(fl.over(df, spec, time=("start", "stop"), by="k"))
    return sorted(windows.agg(n=agg.count(), first=agg.min("start")).collect())


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("as_of", ["1970-01-01T00:20:00Z", datetime(1970, 1, 1, 0, 20, tzinfo=UTC)])
def test_what_has_not_ended_runs_until_then(spark, df, spec, as_of):
    whole = spark.createDataFrame(ended(of_each(ROWS)), "id int, k string, a int, b int")
    wanted = whole.selectExpr(
        "k", "timestamp_seconds(a * 60) as start", "timestamp_seconds(b * 60) as stop"
    )
    found = answers(df, spec, lambda windows: windows.running(as_of=as_of, id="the id"))
    assert found == answers(wanted, spec)
    assert len(found) > 4


def test_each_by_itself(df):
    windows = fl.over(df, SPECS[0], time=("start", "stop"), by="k")
    once = windows.running(id="the id")
    assert sum(row.n for row in once.agg(n=agg.count()).collect()) == 4 + 2
    late = windows.running(as_of="1970-01-01T00:20:00Z")
    of_texts = fl.over(
        df.withColumns({name: df[name].cast("string") for name in ("start", "stop")}),
        SPECS[0], time=("start", "stop"), by="k",
    ).running(as_of="1970-01-01T00:20:00Z")  # fmt: skip
    for asked in (late, of_texts):
        (told,) = asked.rejected().select("stop", "reason").collect()
        assert told == (None, "start is after as_of, and stop is null")
    assert windows.rejected().count() == 7
    # The column itself stays as it is.
    assert late.agg(n=agg.count("stop"), every=agg.count()).where("n < every").count()


def test_numbers_have_an_instant_of_their_own(spark):
    df = spark.sql("select * from values (0, 4), (3, null) as t(a, b)")
    windows = fl.over(df, fl.Sliding(5), time=("a", "b"))
    found = windows.running(as_of=12).agg(n=agg.count()).orderBy("window").collect()
    assert [row.n for row in found] == [2, 1, 1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("RUNNING AS OF ^'yesterday'^", "AS OF 'yesterday' has 'yesterday', which is not a time"),
        ("RUNNING ID ^nothing^", "ID nothing is not a column"),
        ("RUNNING AS OF '1970-01-01T00:20:00Z' ^MAX 1 HOUR^", "MAX 1 HOUR"),
    ],
)
def test_what_sql_says_wrong(df, text, told):
    query = f"SELECT count(*) AS n FROM df [SPAN start, stop RANGE 6 MINUTES {text}]"
    with pytest.raises(fl.FanlightError, match=told) as caught:
        fl.sql(query.replace("^", ""), df=df)
    assert not any(word in str(caught.value) for word in ("as_of", "running("))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "says neither when nor which; write for example as_of="),
        ({"as_of": "yesterday"}, "not a time"),
        ({"as_of": 5}, "has a int, which is not a time"),
        ({"as_of": "1970-01-01T00:20:00"}, "has no time zone"),
        ({"id": "nothing"}, "is not a column"),
        ({"id": 3}, "not text"),
    ],
)
def test_what_cannot_be_is_refused(df, given, told):
    windows = fl.over(df, SPECS[0], time=("start", "stop"))
    with pytest.raises(fl.FanlightError, match=told):
        windows.running(**given)
