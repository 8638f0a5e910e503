"""Which changes of a query its checkpoint allows, and which are refused."""

from __future__ import annotations

from threading import get_ident

import pytest
from pyspark.errors import PySparkException

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.ordered import processor
from fanlight.engine.spark.sql import expr
from tests.helpers.streams import finish, stored, stream_of
from tests.law.data import minute

TIMES = fl.Sliding("4 minutes", "1 minute")
ROWS = fl.Sliding(fl.Rows(4), fl.Rows(2))
LEVELS = fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute", "2 minutes"])
WIDENED = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=9)
DELTA = fl.DeltaFrame({"v": 1.5})
PAIR = ("began", "ts")
BY = ["k"]


def nothing(rows):
    del rows
    return []


def other(rows):
    return nothing(rows)


def opens(row, state):
    del row, state
    return True


def never(row, state):
    del row, state
    return False


def summed(
    spec, time="ts", by=BY, strategy="auto", aggregates=(("s", "sum", "v"),), where="", **more
):
    def query(df):
        keys = [expr(df, by)] if isinstance(by, str) else by  # a Column of the session's kind
        windowed = fl.over(df, spec, time=time, by=keys, **more).using(strategy)
        calls = {name: getattr(agg, function)(of) for name, function, of in aggregates}
        if where:
            calls = {name: call.where(where) for name, call in calls.items()}
        return windowed.agg(**calls)

    return query


def detected(function=nothing, spec=WIDENED, columns=("v", "n")):
    return lambda df: fl.over(df, spec, time="ts", by=BY).detect(
        function, "what int", columns=list(columns)
    )


def fitted(column="v", **more):
    return lambda df: fl.over(df, LEVELS, time="ts", by=BY).fit(column, filled=True, **more)


def framed(spec=DELTA, action="rows"):
    return lambda df: getattr(fl.over(df, spec, time="ts", by=BY), action)()


def postponed(by):
    return lambda df: fl.over(df, DELTA, time="ts", by=BY).postpone(by).rows()


def early(*every):
    return lambda df: fl.over(df, DELTA, time="ts", by=BY).early(*every).frames()


def hinted(df):
    return fl.over(df, ROWS, time="ts", by=BY).using(rate=10.0, groups=5).agg(s=agg.sum("v"))


def predicate(open_, **more):
    return fl.PredicateFrame(open=open_, close=opens, columns=["v"], **more)


def attached(other=None, by=None):
    """What rows are given, or another DataFrame whose rows ask."""

    def query(df):
        windows, calls = fl.over(df, fl.Trailing("1 hour"), time="ts", by=BY), {"seen": agg.count()}
        if other is None:
            return windows.attach(**calls)
        return windows.at(df.select("ts", *other), time="ts", by=by).attach(**calls)

    return query


SWAPPED = (("a", "sum", "v"), ("b", "sum", "n"), ("c", "max", "v"))
# Pairs of queries that keep the same state: the second goes on from the first one's checkpoint.
ALIKE = {
    "other units": (summed(fl.Session("60 seconds")), summed(fl.Session("1 minute"))),
    "other units of levels": (
        summed(LEVELS, strategy="chain"),
        summed(fl.MultiGranular(["120 seconds", "4 minutes"], ["1 minute", "120 seconds"]),
               strategy="chain"),
    ),
    "other names of results": (summed(DELTA), summed(DELTA, aggregates=[("t", "sum", "v")])),
    "another order": (
        summed(ROWS, aggregates=SWAPPED), summed(ROWS, aggregates=SWAPPED[::-1])
    ),
    "hints": (summed(ROWS), hinted),
    "another detector": (detected(), detected(other)),
    "a function": (framed(predicate(opens)), framed(predicate(opens))),
    "a condition as text": (summed(ROWS, where="s = 'k'"),) * 2,
    "lambdas": (summed(ROWS, by="transform(array(k), x -> upper(x)) as k"),) * 2,
    "a predicate as text": (framed(fl.ThresholdFrame("v > 1")),) * 2,
    "rows that ask": (attached(["k"]), attached(["k"], ["k"])),
}  # fmt: skip
# Pairs of queries whose state means different things, and what tells them apart.
DIFFERENT = {
    "aggregate": (summed(DELTA), summed(DELTA, aggregates=[("s", "max", "v")]), "aggregates"),
    "condition": (summed(ROWS), summed(ROWS, where="n > 1"), "aggregates"),
    "text or column": (
        summed(ROWS, where="s = 'k'"), summed(ROWS, where="s = k"), "aggregates"
    ),
    "argument": (summed(ROWS), summed(ROWS, aggregates=[("s", "sum", "w")]), "aggregates"),
    "order of columns, which decides ties": (
        summed(ROWS, aggregates=SWAPPED[:2]), summed(ROWS, aggregates=SWAPPED[1::-1]), "columns"
    ),
    "type": (summed(ROWS), summed(ROWS, aggregates=[("s", "sum", "n")]), "aggregates"),
    "key": (summed(DELTA), summed(DELTA, by=["n"]), "by"),
    "a Column as key": (summed(ROWS, by="k as key"), summed(ROWS, by="s as key"), "by"),
    "time": (
        summed(TIMES, PAIR, strategy="se-slicing"),
        summed(TIMES, ("least", "ts"), strategy="se-slicing"), "time",
    ),
    "tiebreak": (summed(ROWS), summed(ROWS, tiebreak="seq"), "tiebreak"),
    "forgetting": (summed(ROWS), summed(ROWS, forget_after="1 hour"), "forget_after"),
    "postponed": (framed(), postponed("1 hour"), "postponed"),
    "by how much": (postponed("2 hours"), postponed("1 hour"), "postponed"),
    "how long": (
        summed(ROWS, forget_after="2 hours"), summed(ROWS, forget_after="1 hour"), "forget_after"
    ),
    "range": (summed(ROWS), summed(fl.Sliding(fl.Rows(6), fl.Rows(2))), "spec"),
    "delta": (framed(), framed(fl.DeltaFrame({"v": 1.25})), "spec"),
    "option": (framed(), framed(fl.DeltaFrame({"v": 1.5}, include_crossing=True)), "spec"),
    "predicate": (
        framed(fl.ThresholdFrame("v > 1")), framed(fl.ThresholdFrame("v > 2")), "spec"
    ),
    "function": (framed(predicate(opens)), framed(predicate(never)), "spec"),
    "several at once": (
        framed(predicate(opens), "frames"), framed(predicate(opens, overlapping=True), "frames"),
        "spec",
    ),
    "frames while they are open": (framed(action="frames"), early(), "early"),
    "how often they are given": (early(), early("1 minute"), "early"),
    "frames and their rows": (framed(), framed(action="frames"), "windows"),
    "kind": (framed(fl.BoundaryFrame({"v": 1}), "frames"), summed(ROWS), "windows"),
    "technique": (
        summed(TIMES, PAIR, strategy="se-slicing"),
        summed(TIMES, PAIR, strategy="se-ml-slicing"), "windows",
    ),
    "levels": (
        summed(LEVELS, strategy="chain"),
        summed(fl.MultiGranular(["2 minutes", "8 minutes"], ["1 minute", "2 minutes"]),
               strategy="chain"), "spec",
    ),
    "who asks": (attached(), attached(["k"]), "windows"),
    "whose features": (attached(["k", "s"]), attached(["k", "s"], "s"), "spine's by"),
    "what is known of who asks": (attached(["k", "s"]), attached(["k", "w"]), "spine"),
    "what is fitted": (fitted(), fitted("w"), "aggregates"),
    "instant": (fitted(), fitted(instant="1 minute"), "instant"),
    "what a detector sees": (detected(), detected(columns=["v", "w"]), "columns"),
    "widest": (
        detected(),
        detected(spec=fl.ProgressiveWidening("1 minute", max_duration="8 minutes", max_rows=9)),
        "spec",
    ),
}  # fmt: skip


@pytest.fixture
def noted(monkeypatch):
    """The fingerprints of the queries that the test makes; the law makes others meanwhile."""
    found, mine = [], get_ident()

    class Noted(processor.GroupProcessor):
        def __init__(self, query, fingerprint, out, postponed):
            super().__init__(query, fingerprint, out, postponed)
            if get_ident() == mine:
                found.append(fingerprint)

    monkeypatch.setattr(processor, "GroupProcessor", Noted)
    return found


@pytest.fixture
def asked(spark, tmp_path, noted):
    """A function that gives the fingerprint of a query over a stream."""
    df = stream_of(spark, tmp_path, [[minute(0)]], "3 minutes").selectExpr("*", "began as least")

    def fingerprint(query):
        query(df)
        return noted.pop()

    return fingerprint


@pytest.mark.parametrize("change", ALIKE)
def test_queries_with_the_same_state_are_alike(asked, change):
    first, second = ALIKE[change]
    assert asked(first) == asked(second)


@pytest.mark.parametrize("change", DIFFERENT)
def test_queries_whose_state_differs_are_told_apart(asked, change):
    first, second, about = DIFFERENT[change]
    one, two = asked(first), asked(second)
    assert one.get(about) != two.get(about)
    assert "0x" not in str(one)


def test_a_fingerprint_can_be_read_and_is_the_same_on_both_sessions(sessions, tmp_path, noted):
    for session in sessions.values():
        df = stream_of(session, tmp_path, [[minute(0)]], "1 minute")
        summed(fl.ThresholdFrame("v > 1", min_rows=2))(df)
    wanted = {
        "windows": "frames",
        "spec": "ThresholdFrame(predicate=v > 1, least=Least(rows=2))",
        "time": "ts",
        "by": "k",
        "aggregates": "Sum() of v",
        "columns": "k string, ts bigint, v > 1 boolean, v double, input0 boolean",
    }
    assert noted == [wanted, wanted]


def test_a_stream_goes_on_or_is_refused(classic, tmp_path, time_zone):

    def run(query, *batches):
        df = stream_of(classic, tmp_path, batches, "3 minutes")
        return stored(query(df).selectExpr("window", "s"), tmp_path)

    for number, query in enumerate([summed(ROWS), hinted]):
        run(query, [minute(4 * number + at, v=1.0) for at in range(4)])
        time_zone("Asia/Kolkata")
    least = summed(ROWS, aggregates=[("s", "min", "v")])
    with pytest.raises(
        PySparkException,
        match=r"FanlightError: a query with aggregates: Min.* of v "
        r"cannot go on from this checkpoint, .* with aggregates: Sum.* of v;",
    ):
        run(least, [minute(30, v=1.0)])
    ends = run(summed(ROWS)).select("s").collect()
    assert sorted(row.s for row in ends) == [2.0, 4.0, 4.0, 4.0]


LIST = [fl.Sliding("4 minutes", "1 minute"), fl.Sliding("2 minutes")]
TUMBLING = fl.Sliding("2 minutes")
MAX = [("s", "max", "v")]
# Of windows that Spark aggregates by itself: a query, one that is written otherwise and goes on
# from its checkpoint, and one that must not.
NATIVE = {
    "range": (summed(TIMES), summed(fl.Sliding("240 seconds", "60 seconds")),
              summed(fl.Sliding("6 minutes", "1 minute"))),
    "aggregate": (summed(TIMES), summed(TIMES, aggregates=[("t", "sum", "v")]),
                  summed(TIMES, aggregates=MAX)),
    "argument": (summed(TIMES), summed(TIMES), summed(TIMES, aggregates=[("s", "sum", "w")])),
    "key": (summed(TIMES), summed(TIMES), summed(TIMES, by="s as key")),
    "no key": (summed(TIMES, by=[]), summed(TIMES, by=[]), summed(TIMES, by=[], aggregates=MAX)),
    "tumbling": (summed(TUMBLING), summed(TUMBLING, aggregates=[("t", "sum", "v")]),
                 summed(TUMBLING, aggregates=MAX)),
    "late": (summed(TIMES, late="open"), summed(TIMES, late="open", strategy="expand"),
             summed(TIMES, late="open", aggregates=MAX)),
    "levels": (summed(LEVELS), summed(LEVELS), summed(LEVELS, aggregates=MAX)),
    "list": (summed(LIST), summed(LIST), summed([*LIST[:1], fl.Sliding("3 minutes")])),
    "separate": (summed(LIST, strategy="separate"), summed(LIST, strategy="separate"),
                 summed(LIST, strategy="separate", aggregates=MAX)),
    "events": (summed(TIMES, time=PAIR), summed(TIMES, time=PAIR),
               summed(TIMES, time=PAIR, aggregates=MAX)),
    "buckets": (summed(TIMES, time=PAIR, late="open"), summed(TIMES, time=PAIR, late="open"),
                summed(fl.Sliding("4 minutes", "2 minutes"), time=PAIR, late="open")),
    "recurring": (lambda df: fl.over(df, LEVELS, time="ts", by=BY).recurring("n"),) * 2 + (
        lambda df: fl.over(df, LEVELS, time="ts", by=BY).recurring("seq"),),
}  # fmt: skip


@pytest.mark.streaming
@pytest.mark.parametrize("change", NATIVE)
def test_native_state_goes_on_or_is_refused(spark, tmp_path, change):
    first, same, changed = NATIVE[change]

    def run(query, begin):
        rows = [minute(at, v=1.0) for at in range(begin, begin + 4)]
        result = query(stream_of(spark, tmp_path, [rows], "3 minutes"))
        finish(result, tmp_path)
        return result.columns

    assert not [name for name in run(first, 0) if "fanlight" in name]
    run(same, 4)
    with pytest.raises(PySparkException, match="another query needs another checkpointLocation"):
        run(changed, 8)
