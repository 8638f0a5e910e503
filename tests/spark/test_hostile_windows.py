"""Whatever ``over`` and its windows are given, they work or refuse in our own words."""

from __future__ import annotations

import inspect
from typing import ClassVar

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.sql import expr
from tests.helpers.dataframes import frame
from tests.helpers.events import MINUTE
from tests.helpers.hostile import VALUES, Good, wrong
from tests.helpers.public import METHODS

LEVELS = fl.MultiGranular(["1 minute", "10 minutes"], ["1 minute", "5 minutes"])
PLACE = {"time": "ts", "by": ["k"]}
AGGREGATES = {"aggregates": (agg.count(),), "named": {"high": agg.max("v")}}
LATE = {"late": "drop", "forget_after": "30 days"}
TURNS = 8  # each has every eighth value
HINTS = {"strategy": "auto", "rate": None, "groups": None, "partitions": None}


class Progress:
    """A micro-batch of a stream in which nothing was counted."""

    observedMetrics: ClassVar = {}  # noqa: N815 - Spark's
    stateOperators: ClassVar = []  # noqa: N815


def found(rows, windows):
    """Nothing: it stands for what the windows of a detector hold."""
    del rows, windows
    return []


def calls(df):
    """Every public function and method that needs Spark, with arguments that are right."""
    sliding = fl.over(df, fl.Sliding("1 minute"), **PLACE)
    levels = fl.over(df, LEVELS, **PLACE)
    events = fl.over(df, fl.Sliding("1 minute"), time=("began", "ts"))
    frames = fl.over(df, fl.ThresholdFrame("v > 1"), **PLACE)
    widening = fl.over(
        df, fl.ProgressiveWidening("1 second", max_duration="1 minute", max_rows=9), **PLACE
    )
    spec = fl.Sliding("1 minute")
    yield Good(fl.over, {"df": df, "spec": spec, **PLACE, "tiebreak": ["seq"], **LATE})
    yield Good(
        fl.over, {"df": df, "spec": spec, "time": ("began", "ts"), "by": (), "tiebreak": (), **LATE}
    )
    yield Good(
        fl.over,
        {
            "df": df,
            "spec": fl.ThresholdFrame("v > 1"),
            **PLACE,
            "tiebreak": (),
            **LATE,
            "late": "collect",
        },
    )
    yield Good(fl.over, {"df": df, "spec": widening._bound.spec, **PLACE, "tiebreak": (), **LATE})
    both = {"arrived": "seq", "value": "v", "frames": 3, "share": 0.1}
    yield Good(fl.suggest, {"df": df, **PLACE, **both})
    beats = {"delay": "1 minute", "every": "10 seconds", "lag": "1 minute"}
    stream = df.sparkSession.readStream.format("rate").load()
    yield Good(fl.heartbeat, {"df": stream, "time": "timestamp", **beats})
    hour = ("1970-01-01T00:00:00Z", "1970-01-01T01:00:00Z")
    filled = {"values": "last", "between": hour, "keys": df, "most": None}
    for windows in (sliding, events):
        yield Good(windows.with_empty, {**filled, "keys": df if windows is sliding else None})
        yield Good(windows.complete_only, {"since": hour[0], "side": "start"})
    yield Good(levels.with_empty, {**filled, "between": None, "keys": None, "most": 3})
    yield Good(levels.complete_only, {"since": None, "side": "both"})
    for windows in (sliding, levels, events, frames):
        yield Good(windows.agg, AGGREGATES)
        yield Good(windows.explain, {**AGGREGATES, "verbose": False})
    parts = {"aggregates": (agg.overlap(), agg.peak()), "named": {"mean": agg.mean_running()}}
    yield Good(events.agg, parts)
    yield Good(widening.explain, {"aggregates": (), "named": {}, "verbose": True})
    spans = df.selectExpr("*", "ts + make_dt_interval(0, 0, 1) as stop")
    pair = {**PLACE, "time": ("ts", "stop")}
    snapshots = fl.over(spans, fl.Snapshot(), **pair)
    yield Good(fl.over, {"df": spans, "spec": fl.Snapshot(), **pair, "tiebreak": (), **LATE})
    yield Good(snapshots.agg, AGGREGATES)
    yield Good(snapshots.explain, {**AGGREGATES, "verbose": False})
    for windows in (events, snapshots):
        still = {"as_of": "1970-01-01T00:20:00Z", "id": "k", "max_duration": None}
        yield Good(windows.running, still)
    trailing = fl.over(df, fl.Trailing("1 hour"), **PLACE)
    yield Good(fl.over, {"df": df, "spec": fl.Trailing(), **PLACE, "tiebreak": (), **LATE})
    yield Good(trailing.attach, AGGREGATES)
    yield Good(trailing.explain, {**AGGREGATES, "verbose": False})
    yield Good(trailing.at, {"spine": df, "time": "ts", "by": ["k"]})
    for windows in (sliding, levels):
        yield Good(windows.pieces, AGGREGATES)
    arriving = (
        df.sparkSession.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    )
    for windows in (fl.Sliding("1 minute"), LEVELS, fl.Session("1 minute")):
        opened = fl.over(arriving, windows, time="timestamp")
        yield Good(opened.early, {"every": "1 minute"})
        yield Good(opened.postpone, {"wait": "1 minute"})
    widened = fl.ProgressiveWidening("1 minute", max_duration="4 minutes", max_rows=9)
    for windows in (fl.Trailing("1 minute"), widened):
        opened = fl.over(arriving, windows, time="timestamp")
        yield Good(opened.postpone, {"wait": "1 minute"})
    lasting = arriving.withColumnRenamed("timestamp", "stop").selectExpr("*", "stop as start")
    opened = fl.over(lasting, fl.Snapshot(), time=("start", "stop"))
    yield Good(opened.postpone, {"wait": "1 minute"})
    opened = fl.over(lasting, fl.Sliding("1 minute"), time=("start", "stop"))
    yield Good(opened.postpone, {"wait": "1 minute"})
    yield Good(opened.early, {"every": "1 minute"})
    yield Good(opened.running, {"as_of": None, "id": "value", "max_duration": "6 hours"})
    pieces = sliding.pieces(agg.count())
    past, asks = fl.Trailing("1 hour"), {"spine": df, "time": "ts", "by": ["k"]}
    yield Good(fl.roll_up, {"pieces": pieces, "spec": past, **asks, "aggregates": ()})
    alone = dict.fromkeys(asks)
    yield Good(fl.roll_up, {"pieces": pieces, "spec": spec, **alone, "aggregates": []})
    yield Good(
        fl.roll_up_late,
        {"pieces": pieces, "late_pieces": pieces, "spec": spec, "results": None, "aggregates": []},
    )
    yield Good(fl.serve, {"pieces": pieces, "spec": past, "aggregates": ()})
    more = {"duration": "1 minute", "height": 3, "strategy": "se-ml-slicing"}
    yield Good(events.using, {**HINTS, **more})
    for windows in (sliding, levels, frames, widening, trailing, snapshots):
        yield Good(windows.using, HINTS)
    line = {"column": "v", "columns": ("seq",), "filled": True, "instant": "30 seconds",
            "ahead": "1 minute"}  # fmt: skip
    yield Good(levels.fit, line)
    listed = fl.over(df, [fl.Sliding("1 minute"), fl.Sliding("1 hour")], **PLACE)
    for windows in (levels, listed, fl.over(spans, LEVELS, **pair)):
        yield Good(windows.wide, AGGREGATES)
    burst = {"threshold": 2, "aggregates": (agg.count(),), "named": {}}
    yield Good(levels.bursts, burst)
    line = {name: line[name] for name in ("column", "filled", "instant")}
    yield Good(levels.reversals, line)
    yield Good(levels.recurring, {"column": "s", "counts": True})
    yield Good(frames.fill, {"other": df, "time": "ts", "by": ["k"], "max_duration": None,
                             "how": "left", "own": [agg.max("v")]})  # fmt: skip
    stored = frames.agg(*AGGREGATES["aggregates"], **AGGREGATES["named"])
    yield Good(frames.repair, {"late_rows": df, "results": stored, **AGGREGATES})
    for method in (frames.split, frames.accumulate):
        yield Good(method, {"every": "1 minute", **AGGREGATES})
    more = {
        "columns": None, "rows_as": "arrow", "span": None, "once": (), "context": False,
        "across_cuts": False, "on_error": "fail",
    }  # fmt: skip
    detector = {"function": found, "schema": "what bigint", "columns": ["v"]}
    episode = {"function": fl.Episode("a v=x; b v=x", event="s"), "schema": None}
    yield Good(widening.detect, {**more, **detector})
    yield Good(widening.detect, {**more, **episode})
    for function in (agg.max, agg.count, agg.count_distinct, agg.min_by, agg.listagg):
        yield Good(Aggregated(sliding, function), Aggregated(sliding, function).right)
    areas = (agg.integral, agg.time_weighted_avg)
    for windows, functions in ((sliding, (*areas, agg.rate)), (events, areas)):
        for function in functions:
            of = Aggregated(windows, function, "v")
            yield Good(of, of.right)


class Aggregated:
    """An aggregate asked of windows, by the arguments of its function."""

    def __init__(self, windows, function, column="s"):
        self.windows, self.function = windows, function
        self.__signature__ = inspect.signature(function)
        self.__qualname__ = function.__name__
        self.right = {
            name: column if one.default is one.empty else one.default
            for name, one in self.__signature__.parameters.items()
        }

    def __call__(self, *given, **named):
        return self.windows.agg(self.function(*given, **named))


@pytest.mark.sampled(TURNS)
@pytest.mark.parametrize("turn", range(TURNS))
def test_whatever_an_argument_is_it_works_or_is_refused_in_our_words(classic, turn):
    df = frame(classic, [{"k": "a", "ts": MINUTE, "began": 0, "v": 2.0, "s": "x", "seq": 0}])
    tried, said = set(), []
    like = [one for one in VALUES if "Column<" not in repr(one)]
    values = (expr(df, "v"), expr(df, "sum(v)"), [expr(df, "v > 1")], *like)
    for good in calls(df):
        good.call()
        said += wrong(good, fl.FanlightError, values[turn::TURNS])
        home = type(getattr(good.function, "__self__", None))
        tried.add((home, getattr(good.function, "__name__", "")))
    assert said == []
    asked = {
        (kind, name) for kind, names in METHODS.items() for name in names
        if len(inspect.signature(getattr(kind, name)).parameters) > 1
    }  # fmt: skip
    assert asked <= tried
