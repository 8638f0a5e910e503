"""What levels and sets of queries refuse, and that the message helps."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, configured

LEVELS = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
AGED = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"], weights=[1, 0.5])
ROWS = fl.MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(1), fl.Rows(2)])


@pytest.fixture(scope="module")
def df(classic):
    return classic.sql(
        "SELECT timestamp_seconds(id) AS ts, id AS i, cast(id AS double) AS x, id % 2 AS k, "
        "'s' AS s, cast(id AS decimal(9,2)) AS d, 1 AS level, 2 AS query, 3 AS slope, "
        "map(1, 2) AS m FROM range(10)"
    )


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ([], ["lists no window"]),
        (
            [fl.Sliding("1 hour"), "1 hour"],
            ["query 1, '1 hour', is not a window that fanlight knows; list specs"],
        ),
        (
            [fl.Sliding("1 hour"), fl.Sliding(fl.Rows(4))],
            ["query 1, Sliding(Rows(4)), is not measured like query 0", "use an fl.over for each"],
        ),
        (
            [fl.Sliding("1 hour"), fl.Sliding("1 minute", fl.Rows(1))],
            ["query 1, Sliding('1 minute', Rows(1)), ends where rows"],
        ),
        (
            [fl.Sliding("1 hour"), fl.Sliding("60 minutes")],
            ["query 1, Sliding('60 minutes'), repeats query 0"],
        ),
        ([fl.Sliding(4)], ["range=4 is a number"]),
        ([fl.Sliding("2 weeks", "1 microsecond"), fl.Sliding("1 hour")], ["puts each row into"]),
        (fl.MultiGranular([1, 2], [1, 1]), ["range=1 is a number"]),
    ],
)
def test_queries(df, spec, said):
    refused(lambda: fl.over(df, spec, time="ts"), *said)


def test_keys_and_names(df):
    refused(lambda: fl.over(df, LEVELS, time="ts", by="level"), "by='level' clashes")
    refused(lambda: fl.over(df, [fl.Sliding("1 hour")], time="ts", by="query"), "by='query'")
    over = fl.over(df, LEVELS, time="ts", by="k")
    refused(lambda: over.agg(level=agg.count()), "'level' clashes with the output column 'level'")
    refused(lambda: over.agg(k=agg.count()), "'k' clashes with a key")
    refused(
        lambda: fl.over(df, LEVELS, time="ts", by="slope").fit("x"), "fit by 'slope' clashes with"
    )
    refused(
        lambda: fl.over(df, LEVELS, time="ts", by="s").recurring("s"),
        "recurring by 's' clashes with",
    )
    refused(lambda: over.recurring("level"), "recurring by 'level' clashes with")
    refused(lambda: fl.over(df, LEVELS, time=("ts", "ts")), "one column for both ends")


def test_strategies(df):
    over = fl.over(df, LEVELS, time="ts")
    refused(lambda: over.using("panes"), "use one of 'auto', 'granules', 'chain', 'separate'")
    refused(lambda: over.using(rate=0), "rate=0 is not a positive number")
    refused(lambda: over.using("chain").agg(agg.count()), "no state to keep")
    refused(lambda: fl.over(df, AGED, time="ts").using("separate").agg(agg.count()), "weights")


def test_weights(df):
    over = fl.over(df, AGED, time="ts")
    refused(lambda: over.agg(agg.max("x")), "max(x) with weights has no weighted form")
    refused(
        lambda: over.agg(agg.avg("d")),
        "avg(d) with weights is a mean of decimal(9,2), which would no longer be exact; "
        "cast the column to double",
    )
    refused(lambda: over.fit("x"), "fit with weights")
    refused(lambda: over.recurring("s"), "recurring with weights")


def test_trend_lines(df):
    refused(lambda: fl.over(df, LEVELS, time="ts").fit("s"), "needs a number")
    refused(lambda: fl.over(df, LEVELS, time="ts").fit("no"), "fit='no' is not a column")
    refused(
        lambda: fl.over(df, ROWS, time="ts").fit("x", filled=True), "rows are not evenly spaced"
    )
    refused(
        lambda: fl.over(df, fl.MultiGranular([1, 2], [1, 1]), time="x").fit("i", filled=True),
        "needs a timestamp or a whole number",
    )
    for instant in ("7 seconds", "2 minutes", 5, "0 seconds"):
        refused(
            lambda instant=instant: fl.over(df, LEVELS, time="ts").fit(
                "x", filled=True, instant=instant
            ),
            "instant=",
        )


def test_recurring_items(df):
    refused(lambda: fl.over(df, LEVELS, time="ts").recurring("m"), "recurring('m') is of type map<")
    refused(lambda: fl.over(df, ROWS, time="ts").recurring("s"), "levels counted in rows")


def test_a_stream_needs_a_watermark(classic):
    rows = classic.readStream.format("rate").load()
    for spec in (LEVELS, [fl.Sliding("1 hour")]):
        refused(lambda spec=spec: fl.over(rows, spec, time="timestamp"), "has no watermark")
    marked = rows.withWatermark("timestamp", "1 minute")
    changes = fl.MultiGranular(["1 minute", "2 minutes"], ["1 minute"] * 2, changes_only=True)
    refused(
        lambda: fl.over(marked, changes, time="timestamp").fit("value", filled=True), "changes_only"
    )


def test_the_chain_needs_rocksdb(classic):
    marked = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    with configured(classic, PROVIDER, DEFAULT):
        refused(
            lambda: fl.over(marked, LEVELS, time="timestamp").fit("value", filled=True), "RocksDB"
        )
        fl.over(marked, LEVELS, time="timestamp").agg(agg.count())  # native: any provider will do


def test_instants_that_are_no_seconds(df):
    spec = fl.MultiGranular(["300 milliseconds", "600 milliseconds"], ["300 milliseconds"] * 2)
    found = fl.over(df, spec, time="ts").fit("x", filled=True).where("slope is not null")
    levels = {row.level for row in found.select("level").collect()}
    assert levels == {1}  # an instant is then a granule: one point a window of level 0
