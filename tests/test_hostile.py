"""Whatever a public callable is given, it works or refuses in our own words."""

from __future__ import annotations

import inspect

import pytest

import fanlight as fl
from fanlight import agg, algebra
from tests.helpers.aggregates import REGISTRY
from tests.helpers.hostile import Good, LikeColumn, wrong

ON_SPARK = {
    "doctor",
    "heartbeat",
    "over",
    "progress",
    "replay",
    "roll_up",
    "roll_up_late",
    "serve",
    "sql",
    "suggest",
}  # and what `over` returns: asked in tests/spark
MINUTES = {"ranges": ["1 minute", "10 minutes"], "slides": ["1 minute", "5 minutes"]}
MADE_BY_OVER = {name for name in fl.__all__ if name.endswith("Windows")} | {"Windowed"}
# Made by others; tests/watching.
OTHERS = {"FanlightError", "Server", "Upsert", "agg", "algebra", "types", "watch"}


def _of_registry():
    for name in agg.__all__:
        entry = REGISTRY[REGISTRY.others.get(name, name)]
        for one in entry.samples:
            call = inspect.signature(entry.function).bind(
                *"xyz"[: len(one.types)], **dict(one.options)
            )
            call.apply_defaults()
            yield name, Good(getattr(agg, name), dict(call.arguments))


SIZES = {
    "min_rows": 1, "min_duration": "1 second", "max_rows": 9, "max_duration": "1 hour",
    "max_gap": "1 minute",
}  # fmt: skip


def _written(spec, method, **arguments):
    """``fl.clause`` of a method, with the method's arguments as its own."""

    def write(**given):
        return fl.clause(spec, time="ts", method=method, arguments=given)

    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in arguments]
    write.__signature__ = inspect.Signature(named)
    return "clause", Good(write, arguments)


GOOD = [
    *_of_registry(),
    ("Aggregate", Good(algebra.Aggregate, {
        "name": "spread", "fields": {"hi": algebra.Max("{x}"), "lo": algebra.Min("{x}")},
        "lower": "{hi} - {lo}", "accepts": "numeric", "arity": 1, "algebra": "algebraic",
        "accumulation": "cumulative", "recipe": None, "native": "max({x}) - min({x})",
        "watched": "avg", "lower_values": None, "of_events": None,
    })),
    ("Aggregate", Good(
        algebra.Aggregate("spread", {"hi": algebra.Max()}, "{hi}"), {"columns": ("x",)},
    )),
    ("Call", Good(agg.max("x").alias, {"name": "y"})),
    ("Call", Good(agg.max("x").where, {"condition": "x > 1"})),
    *((kind.__name__, Good(kind, {"value": "{x}"}))
      for kind in (algebra.Collect, algebra.Count, algebra.Max, algebra.Min, algebra.Moments,
                   algebra.Monoid, algebra.Sum, algebra.Values)),
    ("ExtremeCount", Good(algebra.ExtremeCount, {"value": "{x}", "largest": True})),
    ("Extremes", Good(algebra.Extremes, {"value": "{x}", "count": 2, "largest": True})),
    ("Expression", Good((agg.max("x") / 2).alias, {"name": "y"})),
    ("Expression", Good((agg.max("x") / 2).where, {"condition": "x > 1"})),
    ("Expression", Good(algebra.Expression, {
        "left": agg.max("x"), "sign": "/", "right": 2, "output": "y",
    })),
    ("Call", Good(agg.max("x").transform, {"function": abs})),
    ("Transformed", Good(agg.max("x").transform(abs).alias, {"name": "y"})),
    ("Transformed", Good(agg.max("x").transform(abs).where, {"condition": "x > 1"})),
    ("Transformed", Good(algebra.Transformed, {
        "part": agg.max("x"), "function": abs, "output": "y",
    })),
    ("Call", Good(algebra.Call, {
        "aggregate": agg.max("x").aggregate, "columns": ("x",), "shown": (), "output": None,
        "exact": None, "conditions": ("x > 1",), "usual": "", "synonym": "", "options": None,
        "variables": ("a",),
    })),
    ("Call", Good(agg.max("x").of, {"variables": ("a", "b")})),
    ("Rows", Good(fl.Rows, {"count": 3})),
    ("decay", Good(fl.decay, {"half_life": "10 minutes"})),
    ("Sliding", Good(fl.Sliding, {
        "range": "1 hour", "slide": "1 minute", "offset": "1 second", "closed": "both",
    })),
    ("Calendar", Good(fl.Calendar, {
        "range": "3 weeks", "slide": "1 week", "zone": "Europe/Berlin", "offset": "6 hours",
        "week_starts": "sunday", "day": 1,
    })),
    ("Calendar", Good(fl.Calendar, {
        "range": "1 year", "slide": None, "zone": None, "offset": "3 months",
        "week_starts": "monday", "day": 31,
    })),
    ("Cumulative", Good(fl.Cumulative, {
        "range": "1 month", "slide": "1 day", "zone": "Europe/Berlin", "offset": "6 hours",
        "week_starts": "monday", "day": 29,
    })),
    ("Cumulative", Good(fl.Cumulative, {
        "range": 10, "slide": 2.5, "zone": None, "offset": 1, "week_starts": "monday",
        "day": 1,
    })),
    ("MultiGranular", Good(fl.MultiGranular, {
        **MINUTES, "offset": None, "report": "periodic", "horizons": (), "weights": [1, 0.5],
        "changes_only": False, "zone": None, "week_starts": "monday",
    })),
    ("MultiGranular", Good(fl.MultiGranular, {
        **MINUTES, "offset": None, "report": "periodic", "horizons": (),
        "weights": fl.decay("1 minute"), "changes_only": False, "zone": None,
        "week_starts": "monday",
    })),
    ("MultiGranular", Good(fl.MultiGranular, {
        "ranges": ["1 day", "4 weeks"], "slides": ["1 day", "1 week"], "offset": None,
        "report": "continuous", "horizons": ["2 days"], "weights": None, "changes_only": True,
        "zone": "Europe/Berlin", "week_starts": "sunday",
    })),
    ("MultiGranular", Good(fl.MultiGranular, {
        **MINUTES, "offset": "1 minute", "report": "continuous", "horizons": ["2 minutes"],
        "weights": None, "changes_only": True, "zone": None, "week_starts": "monday",
    })),
    ("ThresholdFrame", Good(fl.ThresholdFrame, {
        "predicate": "x > 1", "enter_for": None, "leave_for": None, "leave": None, **SIZES,
    })),
    ("ThresholdFrame", Good(fl.ThresholdFrame, {
        "predicate": "x > 1", "enter_for": "1 minute", "leave_for": "1 minute", "leave": "x < 0",
        **SIZES,
    })),
    ("BoundaryFrame", Good(fl.BoundaryFrame, {
        "cells": {"x": 4.2}, "overlapping": False, **SIZES,
    })),
    ("BoundaryFrame", Good(fl.BoundaryFrame, {
        "cells": {"x": [1, 2]}, "overlapping": True, **SIZES,
    })),
    ("DeltaFrame", Good(fl.DeltaFrame, {
        "deltas": {"x": 0.5}, "against": "range", "strict": False, "include_crossing": False,
        **SIZES,
    })),
    ("AggregateFrame", Good(fl.AggregateFrame, {
        "aggregate": agg.sum("x"), "limit": 10, "include_crossing": True, "below": False,
        "strict": True, "absolute": True, "may_fall": False,
        **SIZES,
    })),
    ("AggregateFrame", Good(fl.AggregateFrame, {
        "aggregate": [agg.avg("x")], "limit": [10], "include_crossing": False, "below": True,
        "strict": False, "absolute": False, "may_fall": True,
        **SIZES,
    })),
    ("AggregateFrame", Good(fl.AggregateFrame, {
        "aggregate": agg.sum("x"), "limit": "mean_rows(3) * y", "include_crossing": True,
        "below": False, "strict": False, "absolute": True, "may_fall": False,
        **SIZES,
    })),
    ("StateFrame", Good(fl.StateFrame, {"state": ["x", "y > 1"], "nulls": "skip", **SIZES})),
    ("PatternFrame", Good(fl.PatternFrame, {
        "pattern": "a b+ {- c -}", "define": {"a": "x > 1", "b": "x < prev(x)"},
        "within": "1 hour", "max_rows": 5, "after_match": "last b", "matches": "first",
    })),
    ("PatternFrame", Good(fl.PatternFrame, {
        "pattern": "a !b", "define": {"a": "count(a.*) > 0"}, "within": 9, "max_rows": None,
        "after_match": "next row", "matches": "all",
    })),
    ("Session", Good(fl.Session, {
        "gap": "1 minute", "max_duration": "1 hour", "max_rows": 3, "min_rows": 1,
        "min_duration": "1 minute",
    })),
    ("Snapshot", Good(fl.Snapshot, {"min_duration": "1 minute", "merge_equal": True})),
    ("Trailing", Good(fl.Trailing, {
        "range": "1 hour", "delay": "7 days", "closed": "left", "include_self": False, "zone": None,
    })),
    ("Trailing", Good(fl.Trailing, {
        "range": "1 month", "delay": 0, "closed": "right", "include_self": True,
        "zone": "Europe/Berlin",
    })),
    ("Trailing", Good(fl.Trailing, {
        "range": fl.Rows(3), "delay": 0, "closed": "neither", "include_self": True, "zone": None,
    })),
    ("ProgressiveWidening", Good(fl.ProgressiveWidening, {
        "first": "1 second", "max_duration": "1 day", "max_rows": 100, "factor": 2,
    })),
    ("ProgressiveWidening", Good(fl.ProgressiveWidening, {
        "first": ["1 second", "1 minute"], "max_duration": "1 minute", "max_rows": 100, "factor": 2,
    })),
    ("PredicateFrame", Good(fl.PredicateFrame, {
        "open": "x > 1", "close": "x < 1", "columns": (), "update": None, "overlapping": False,
        **SIZES,
    })),
    ("PredicateFrame", Good(fl.PredicateFrame, {
        "open": lambda *_: True, "close": lambda *_: False, "columns": ["x"],
        "update": lambda *given: given[1], "overlapping": True, **SIZES,
    })),
    ("clause", Good(fl.clause, {
        "spec": fl.Sliding("1 hour"), "time": "ts", "by": "x", "tiebreak": ["y"], "late": "open",
        "forget_after": "30 days", "options": {"postpone": {"wait": "2 hours"}, "early": {}},
        "method": None, "arguments": None,
    })),
    ("clause", Good(fl.clause, {
        "spec": fl.MultiGranular(**MINUTES), "time": "ts", "by": (), "tiebreak": (),
        "late": "drop", "forget_after": None, "options": None,
        "method": "fit", "arguments": {"column": "x", "ahead": "1 minute"},
    })),
    _written(fl.MultiGranular(**MINUTES), "fit", column="x", filled=True, instant="1 second",
             ahead=2.5),
    _written(fl.MultiGranular(**MINUTES), "recurring", column="x", counts=True),
    _written(fl.MultiGranular(**MINUTES), "bursts", threshold=[2, 3.5]),
    _written(fl.Session("1 hour"), "fill", other="gps", time="at", by=["k"], max_duration="1 hour",
             how="left", own={"most": agg.max("x")}),
    _written(fl.Session("1 hour"), "accumulate", every="1 second"),
    _written(fl.ProgressiveWidening("1 second", max_duration="1 day", max_rows=9), "detect",
             function=fl.Episode("a; b")),
    ("clause", Good(fl.clause, {
        "spec": fl.Sliding("1 hour"), "time": ("a", "b"), "by": (), "tiebreak": (),
        "late": "drop", "forget_after": 30, "method": None, "arguments": None,
        "options": {
            "running": {"as_of": "2025-03-01T00:00:00Z", "id": "call", "max_duration": "1 hour"},
            "early": {"every": "5 minutes"}, "with_empty": {"values": "zero", "most": 3},
        },
    })),
    ("upsert", Good(fl.upsert, {
        "to": "sqlite:///busy.db", "table": "busy", "key": ["x", "window"], "stream": "busy-1",
        "final_only": True, "gone": "gone",
    })),
    ("Episode", Good(fl.Episode, {"text": "a x=y; b", "event": "event", "result": "result"})),
]  # fmt: skip


def test_every_public_callable_is_tried():
    public = {*fl.__all__, *agg.__all__, *algebra.__all__}
    assert {name for name, _ in GOOD} | ON_SPARK | MADE_BY_OVER | OTHERS == public


@pytest.mark.parametrize(
    "at", range(len(GOOD)), ids=[f"{at}-{name}" for at, (name, _) in enumerate(GOOD)]
)
def test_whatever_an_argument_is_it_works_or_is_refused_in_our_words(at):
    good = GOOD[at][1]
    if good.function is not algebra.Monoid:
        good.call()
    assert wrong(good, fl.FanlightError) == []


def test_calls_and_expressions_are_shown_as_one_writes_them():
    shown = {
        "max(x)": agg.max("x"),
        "count()": agg.count("*"),
        "percentile(x, percentage=0.9)": agg.percentile("x", 0.9),
        "sum(x, distinct=True)": agg.sum("x", distinct=True),
        "max(x).where('x > 1').alias('y')": agg.max("x").where("x > 1").alias("y"),
        "max(sum(x))": agg.max(LikeColumn()),
        "(sum(x) / count()).alias('y')": (agg.sum("x") / agg.count()).alias("y"),
        "Aggregate('max')": agg.max("x").aggregate,
    }
    assert [*map(repr, shown.values())] == [*shown]


# A test that cannot fail is worth nothing: functions that let Python speak.


def test_an_error_of_python_is_seen():
    def raw(text):
        return text.encode()

    found = wrong(Good(raw, {"text": "x"}), fl.FanlightError)
    assert any("AttributeError" in one for one in found)
    assert len(found) > 20


def test_what_a_value_is_made_of_is_seen():
    def show(value):
        raise fl.FanlightError(f"Aggregate(name={value!r})")

    assert any(
        "shows ['Aggregate(name=']" in one
        for one in wrong(Good(show, {"value": 1}), fl.FanlightError)
    )
