"""DataFrames of narwhals and ibis over Spark come in, and results come back as such."""

from __future__ import annotations

import contextlib
import inspect
import sqlite3

import ibis
import narwhals as nw
import narwhals.stable.v1 as stable
import pandas as pd
import polars as pl
import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of
from tests.helpers.streams import stream_of

MINUTE = fl.Sliding("1 minute")
LEVELS = fl.MultiGranular(["1 minute", "2 minutes"], ["1 minute", "2 minutes"])
TURNING = fl.MultiGranular(["20 seconds", "2 minutes"], ["20 seconds", "20 seconds"])
ROWS = """
    SELECT timestamp_seconds(1700000000 + id * 7) AS ts, id % 2 AS k, sin(id / 5) AS v,
           if(sin(id / 5) > 0, 'a', 'b') AS side, timestamp_seconds(1700000009 + id * 7) AS stop,
           timestamp_seconds(nullif(id, 3)) AS x
    FROM range(60)
"""


@pytest.fixture(params=["classic", pytest.param("connect", marks=pytest.mark.connect)])
def rows(request, sessions):
    return sessions[request.param].sql(ROWS)


@pytest.fixture
def con(classic):
    """ibis' backend over a session of its own: it sets the session's time zone."""
    return ibis.pyspark.connect(classic.newSession())


def ask(df, spec=MINUTE):
    return fl.over(df, spec, time="ts", by="k")


def frames(df):
    return ask(df, fl.ThresholdFrame("v > 0"))


# Every method of windows that returns a DataFrame, and every function that takes one.
CALLS = {
    "agg": lambda df: ask(df).agg(n=agg.count()),
    "agg, empty": lambda df: ask(df, fl.Sliding("5 seconds")).with_empty("zero").agg(agg.count()),
    "agg, parts": lambda df: ask(df).complete_only(side="start").agg(agg.count(), agg.median("v")),
    "hints": lambda df: ask(df).using("panes").agg(agg.count()),
    "lives": lambda df: fl.over(df, MINUTE, time="ts", forget_after="1 day").agg(agg.count()),
    "keys": lambda df: (
        ask(df)
        .with_empty("zero", keys=df, between=("2023-11-14T22:00:00Z", "2023-11-14T23:00:00Z"))
        .agg(agg.count())
    ),
    "pieces": lambda df: ask(df).pieces(n=agg.count()),
    "list": lambda df: ask(df, [MINUTE, fl.Sliding("2 minutes")]).agg(agg.count()),
    "fit": lambda df: ask(df, LEVELS).fit("v", filled=True),
    "recurring": lambda df: ask(df, LEVELS).recurring("side"),
    "wide": lambda df: ask(df, LEVELS).wide(n=agg.count()),
    "bursts": lambda df: ask(df, LEVELS).bursts(1.5, n=agg.count()),
    "reversals": lambda df: ask(df, TURNING).reversals("v"),
    "events": lambda df: fl.over(df, MINUTE, time=("ts", "stop")).agg(agg.count()),
    "frames": lambda df: ask(df, fl.DeltaFrame({"v": 0.5})).frames(),
    "frames, agg": lambda df: ask(df, fl.Session("1 minute")).agg(agg.count()),
    "frames, rows": lambda df: ask(df, fl.DeltaFrame({"v": 0.5})).rows(),
    "frames, fill": lambda df: ask(df, fl.DeltaFrame({"v": 0.5})).fill(df, time="ts").rows(),
    "frames, split": lambda df: ask(df, fl.DeltaFrame({"v": 0.5})).split("10 seconds", agg.count()),
    "frames, repair": lambda df: frames(df).repair(df, frames(df).frames()),
    "attach": lambda df: ask(df, fl.Trailing("1 minute")).attach(agg.count()),
    "at": lambda df: ask(df, fl.Trailing("1 minute")).at(df, time="ts").attach(agg.count()),
    "detect": lambda df: ask(
        df, fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=8)
    ).detect(fl.Episode("a; b", event="side")),
    "rejected": lambda df: fl.over(df, MINUTE, time="x").rejected(),
    "rejected of windows": lambda df: fl.over(df, MINUTE, time="x").rejected(),
    "roll_up": lambda df: fl.roll_up(ask(df).pieces(agg.count()), fl.Sliding("2 minutes")),
    "repair": lambda df: fl.roll_up_late(
        *2 * [ask(df).pieces(agg.count())], fl.Sliding("2 minutes")
    ),
    "sql": lambda df: fl.sql(
        "SELECT k, count(*) AS n FROM bids [WATTR ts RANGE 1 MINUTE] GROUP BY k", bids=df
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_of_narwhals(classic, call):
    rows = classic.sql(ROWS)
    found = call(nw.from_native(rows))
    assert isinstance(found, nw.LazyFrame)
    assert all_of(found.to_native()) == all_of(call(rows)) != []


@pytest.mark.parametrize("api", [nw, stable], ids=["narwhals", "narwhals.stable.v1"])
def test_of_each_session_and_api(rows, api):
    found = CALLS["agg"](api.from_native(rows))
    assert isinstance(found, api.LazyFrame)
    assert type(found.to_native()) is type(rows)
    assert all_of(found.to_native()) == all_of(CALLS["agg"](rows)) != []


@pytest.mark.parametrize("name", ["agg", "hints", "keys", "frames, fill", "at", "sql"])
def test_of_ibis(con, name):
    rows = con.raw_sql(ROWS)
    rows.createOrReplaceTempView("bids")
    bids = con.table("bids")
    found = CALLS[name](bids.filter(bids.k == 1))
    assert isinstance(found, ibis.expr.types.Table)
    expected = CALLS[name](rows.where("k = 1"))
    assert all_of(con.raw_sql(con.compile(found))) == all_of(expected) != []
    assert found.count().to_pyarrow().as_py() == expected.count()


def test_what_is_given_beside_the_rows(rows):
    """Windows over rows of Spark take those of narwhals, and the reverse; narwhals' are given."""
    asks = nw.from_native(rows)
    for df, other in ((rows, asks), (asks, rows)):
        windows = ask(df, fl.Trailing("1 minute"))
        assert isinstance(windows.at(other, time="ts").attach(agg.count()), nw.LazyFrame)
    assert isinstance(ask(rows).agg(agg.count()), type(rows))


def test_a_stream(classic, tmp_path):
    rows = stream_of(classic, tmp_path, [classic.sql(ROWS)], delay=None)
    beating = fl.heartbeat(nw.from_native(rows), "ts", delay="1 minute")
    found = ask(beating).agg(agg.count())
    assert isinstance(found, nw.LazyFrame)
    assert found.to_native().isStreaming


def test_results_are_written(rows, tmp_path):
    file = tmp_path / "found.db"
    found = ask(nw.from_native(rows)).agg(n=agg.count())
    fl.upsert(f"sqlite:///{file}", table="found", key=["k", "window"])(found)
    with contextlib.closing(sqlite3.connect(file)) as base:
        assert base.execute("SELECT sum(n) FROM found").fetchall() == [(60,)]


@pytest.mark.parametrize(
    "df",
    [
        nw.from_native(pd.DataFrame({"ts": [1]})),
        nw.from_native(pl.LazyFrame({"ts": [1]})),
        ibis.memtable({"ts": [1]}),
        ibis.table({"ts": "int"}),
    ],
    ids=["pandas", "polars", "memory", "no backend"],
)
def test_of_other_backends(df):
    with pytest.raises(fl.FanlightError, match=r"is not a Spark DataFrame.*narwhals or ibis over"):
        ask(df)


def test_whatever_gives_a_dataframe_gives_others():
    public = [getattr(fl, name) for name in fl.__all__]
    classes = [one for one in public if inspect.isclass(one)]
    methods = [
        value
        for one in classes
        if not inspect.isabstract(one)
        for name, value in inspect.getmembers(one, inspect.isfunction)
        if not name.startswith("_")
    ]
    functions = [one for one in public if inspect.isfunction(one)]
    gives = [
        one for one in (*methods, *functions) if one.__annotations__.get("return") == "DataFrame"
    ]
    assert len({one.__qualname__ for one in gives}) > 15
    plain = {one.__qualname__ for one in gives if "in_kind" not in str(inner(one))}
    assert plain == {"replay"}  # from files


def inner(function):
    """The wrappers of a function, by their names."""
    found = []
    while hasattr(function, "__wrapped__"):
        found.append(function.__code__.co_qualname)
        function = function.__wrapped__
    return found
