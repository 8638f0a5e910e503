"""Framing schemes are checked when they are made, and again when columns get types."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.kinds import scheme_of
from fanlight.engine.plan.frames import InputColumn

BAD = {
    "a count that falls": (
        lambda: fl.AggregateFrame(agg.count(), 3, below=True),
        "a count does not fall",
    ),
    "a deviation that falls": (
        lambda: fl.AggregateFrame(agg.stddev_pop("v"), 3, below=True, may_fall=True),
        "a stddev_pop does not fall",
    ),
    "a mean that may rise again": (
        lambda: fl.AggregateFrame(agg.avg("v"), 3, below=True),
        "can fall again",
    ),
    "a sum that falls to 0": (
        lambda: fl.AggregateFrame(agg.sum("v"), 0, below=True),
        "is not below 0",
    ),
    "no time to enter": (lambda: fl.ThresholdFrame("v > 3", enter_for="0 s"), "must be positive"),
    "rows to leave": (
        lambda: fl.ThresholdFrame("v > 3", leave_for=fl.Rows(3)),
        "counts rows; write leave_for='5 minutes'",
    ),
    "nothing to leave by": (lambda: fl.ThresholdFrame("v > 3", leave=""), "leave='' is empty"),
    "a duration too short to enter": (
        lambda: fl.ThresholdFrame("v > 3", enter_for="1 minute", max_duration="60 seconds"),
        "enter_for='1 minute' leaves out every frame: .*; write a longer max_duration, or leave",
    ),
    "a row too few to enter": (
        lambda: fl.ThresholdFrame("v > 3", enter_for=5, max_rows=1),
        "max_rows=1, enter_for=5 leaves out every frame",
    ),
    "no state": (lambda: fl.StateFrame([]), "names no column"),
    "a state that is a number": (lambda: fl.StateFrame(3), "neither a column nor SQL text"),
    "unknown nulls": (lambda: fl.StateFrame("s", nulls="drop"), "nulls='drop' is not known"),
    "a predicate that says nothing": (lambda: fl.ThresholdFrame("  "), "is empty"),
    "a predicate that is a number": (lambda: fl.ThresholdFrame(3), "neither SQL text"),
    "no rows": (lambda: fl.ThresholdFrame("v > 1", min_rows=0), "min_rows=0"),
    "a bool for rows": (lambda: fl.ThresholdFrame("v > 1", min_rows=True), "min_rows=True"),
    "a negative duration": (
        lambda: fl.ThresholdFrame("v > 1", min_duration="-1 minute"),
        "must be positive",
    ),
    "rows for a duration": (
        lambda: fl.ThresholdFrame("v > 1", min_duration=fl.Rows(3)),
        "write min_rows=3",
    ),
    "no cells": (lambda: fl.BoundaryFrame({}), "names no column"),
    "cells without a column": (lambda: fl.BoundaryFrame(4.2), "names no column"),
    "a cell of no width": (lambda: fl.BoundaryFrame({"x": 0}), "not positive"),
    "a cell of negative width": (lambda: fl.BoundaryFrame({"x": -4.2}), "not positive"),
    "a cell of infinite width": (lambda: fl.BoundaryFrame({"x": math.inf}), "finite"),
    "a cell of text": (lambda: fl.BoundaryFrame({"x": "wide"}), "not a number"),
    "repeated break points": (lambda: fl.BoundaryFrame({"x": [0, 10, 10]}), "repeats 10"),
    "unsorted break points": (lambda: fl.BoundaryFrame({"x": [0, 10, 5]}), "not in order"),
    "no break point": (lambda: fl.BoundaryFrame({"x": []}), "no break point"),
    "a break point that is NaN": (lambda: fl.BoundaryFrame({"x": [0, math.nan]}), "finite"),
    "a grid of double boundaries": (
        lambda: fl.BoundaryFrame({"x": 1, "y": 2}, overlapping=True),
        "several columns",
    ),
    "a delta of nothing": (lambda: fl.DeltaFrame({"v": 0}), "not positive"),
    "a negative delta": (lambda: fl.DeltaFrame({"v": -0.1}), "not positive"),
    "a delta against what": (lambda: fl.DeltaFrame({"v": 1}, against="last"), "against='last'"),
    "an aggregate that may fall": (lambda: fl.AggregateFrame(agg.avg("v"), 3), "may_fall=True"),
    "an aggregate without a running value": (
        lambda: fl.AggregateFrame(agg.median("v"), 3),
        "is not followed row by row",
    ),
    "no aggregate": (lambda: fl.AggregateFrame("v", 3), "not an aggregate of fanlight"),
    "a limit of nothing": (lambda: fl.AggregateFrame(agg.count(), 0), "limit that is not positive"),
    "a limit that is a list": (lambda: fl.AggregateFrame(agg.sum("v"), [[3]]), "not a number"),
    "limits that do not pair up": (
        lambda: fl.AggregateFrame([agg.sum("v"), agg.count()], 3),
        "one to one",
    ),
    "a function and SQL": (
        lambda: fl.PredicateFrame(lambda row, state: row and state, "v < 3", columns=["v"]),
        "mixes a Python function",
    ),
    "functions of no columns": (
        lambda: fl.PredicateFrame(lambda *_: True, lambda *_: False),
        "which columns",
    ),
    "an update that is nothing to SQL": (
        lambda: fl.PredicateFrame("v > 3", "v < 3", update=lambda *_: {}),
        "no Python functions",
    ),
    "SQL of several frames": (
        lambda: fl.PredicateFrame("v > 3", "v < 3", overlapping=True),
        "would end all open frames at once; write close as a function",
    ),
    "open of the row alone": (
        lambda: fl.PredicateFrame(lambda row: row, lambda *_: False, columns="v"),
        r"open=<lambda>\(row\) is called .* function of \(row, state\)",
    ),
    "open of the row alone, of several frames": (
        lambda: fl.PredicateFrame(abs, lambda *_: False, columns="v", overlapping=True),
        r"open=abs\(x, /\) is called .* function of \(row, states\)",
    ),
    "close of more": (
        lambda: fl.PredicateFrame(lambda *_: True, lambda a, b, c: a or b or c, columns="v"),
        r"close=.* function of \(row, state\)",
    ),
    "an update of one argument": (
        lambda: fl.PredicateFrame(max, min, columns="v", update=lambda one: one),
        r"update=<lambda>\(one\) is called",
    ),
    "an update that is no function": (
        lambda: fl.PredicateFrame(lambda *_: True, lambda *_: False, columns="v", update={}),
        "not a function",
    ),
}


@pytest.mark.parametrize(("make", "says"), BAD.values(), ids=BAD.keys())
def test_bad_schemes_are_refused(make, says):
    with pytest.raises(fl.FanlightError, match=says):
        make()


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (fl.ThresholdFrame("v > 1", min_rows=20), "ThresholdFrame('v > 1', min_rows=20)"),
        (
            fl.ThresholdFrame("v > 1", min_duration="5 minutes"),
            "ThresholdFrame('v > 1', min_duration='5 minutes')",
        ),
        (
            fl.BoundaryFrame({"x": 4.2}, overlapping=True),
            "BoundaryFrame({'x': 4.2}, overlapping=True)",
        ),
        (
            fl.PredicateFrame(max, min, columns="x", overlapping=True, max_rows=3),
            "PredicateFrame(open='max', close='min', overlapping=True, max_rows=3)",
        ),
        (
            fl.DeltaFrame({"v": 1}, against="first", include_crossing=True),
            "DeltaFrame({'v': 1}, against='first', include_crossing=True)",
        ),
        (
            fl.AggregateFrame([agg.sum("v"), agg.count()], [3.5, 10]),
            "AggregateFrame([sum(v), count(1)], [3.5, 10])",
        ),
    ],
)
def test_schemes_are_shown_as_written(spec, shown):
    assert repr(spec) == shown
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301
    with pytest.raises(AttributeError):
        spec.least = None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"max_rows": 0}, "max_rows=0 is not a positive number"),
        ({"max_rows": True}, "not a positive number of rows"),
        ({"max_duration": "0 seconds"}, "must be positive"),
        ({"max_gap": "0 seconds"}, "must be positive"),
        ({"max_gap": fl.Rows(3)}, "counts rows; write max_gap='5 minutes'"),
        ({"max_duration": fl.Rows(3)}, "counts rows; write max_rows=3"),
        ({"min_duration": fl.Rows(3)}, "counts rows; write min_rows=3"),
        ({"min_rows": 3, "max_rows": 2}, "leaves out every frame"),
        ({"min_duration": "1 hour", "max_duration": "1 minute"}, "leaves out every frame"),
    ],
)
def test_bad_sizes_are_refused_of_every_scheme(more, says):
    for make in (
        lambda **sizes: fl.ThresholdFrame("v > 1", **sizes),
        lambda **sizes: fl.PredicateFrame("v > 1", "v < 1", **sizes),
        lambda **sizes: fl.BoundaryFrame({"v": 1}, **sizes),
        lambda **sizes: fl.DeltaFrame({"v": 1}, **sizes),
        lambda **sizes: fl.AggregateFrame(agg.sum("v"), 1, **sizes),
        lambda **sizes: fl.StateFrame("v", **sizes),
        lambda **sizes: fl.ThresholdFrame("v > 1", leave_for="1 second", **sizes),
        lambda **sizes: fl.BoundaryFrame({"v": 1}, overlapping=True, **sizes),
    ):
        with pytest.raises(fl.FanlightError, match=says):
            make(**more)


def test_several_open_frames_are_told():
    spec = fl.PredicateFrame(max, min, columns="x", overlapping=True, max_duration=5)
    assert spec.ends == (
        "when the function close says so of it; several frames may be open at once; at the latest "
        "5 after its first row"
    )
    assert spec.guarantees == {"overlapping"}
    assert fl.PredicateFrame(max, min, columns="x").guarantees == {"unique", "non-overlapping"}


def test_sizes_are_shown_and_told():
    spec = fl.DeltaFrame({"v": 1}, min_rows=2, max_rows=9, max_duration="1 hour", max_gap=5)
    assert (
        repr(spec)
        == "DeltaFrame({'v': 1}, min_rows=2, max_rows=9, max_duration='1 hour', max_gap=5)"
    )
    assert spec.ends == (
        "once a value has changed by its delta; at the latest before row 10 of it or '1 hour' "
        "after its first row or 5 after its last row"
    )
    assert spec.guarantees == {"unique", "non-overlapping"}
    dwelling = fl.ThresholdFrame("v > 1", enter_for=5, leave_for=5, max_rows=2, max_duration=6)
    assert dwelling.ends == (
        "at the first row for which the predicate does not hold, if that lasts 5; at the latest "
        "before row 3 of it or 6 after its first row"
    )
    assert dwelling.guarantees == {"unique", "non-overlapping"}
    double = fl.BoundaryFrame({"v": 1}, overlapping=True, max_gap=5)
    assert repr(double) == "BoundaryFrame({'v': 1}, overlapping=True, max_gap=5)"
    assert double.guarantees == {"unique", "overlapping"}


def test_numbers_mean_what_was_written():
    assert fl.DeltaFrame({"v": 0.1}).deltas == (("v", Fraction(1, 10)),)
    assert fl.BoundaryFrame({"v": [0.1, 0.3]}).cells[0][1] == (Fraction(1, 10), Fraction(3, 10))


def test_whole_numbers_reach_a_limit_at_its_ceiling():
    scheme = scheme_of(fl.DeltaFrame({"a": 0.5, "b": 1.255, "c": 1.255}),
                       ["int", "decimal(9,2)", "double"], "timestamp")  # fmt: skip
    assert scheme.inputs == (
        InputColumn("a", "whole"),
        InputColumn("b", "whole", 2),
        InputColumn("c", "real"),
    )
    assert scheme.numbers == (1, 126, 1.255)


@pytest.mark.parametrize(
    ("spec", "kind", "says"),
    [
        (fl.DeltaFrame({"v": 1}), "string", "cut by numbers"),
        (fl.DeltaFrame({"v": 1}), "decimal(30,2)", "more digits"),
        (fl.BoundaryFrame({"v": Fraction(1, 10**9)}), "int", "too fine"),
        (fl.ThresholdFrame("v"), "int", "not a condition"),
        (fl.PredicateFrame("v", "not v"), "string", "not a condition"),
        (fl.StateFrame("v"), "map<string,int>", "does not compare"),
        (fl.StateFrame("v"), "struct<a:variant>", "does not compare"),
        (fl.StateFrame("v"), "interval", "does not compare"),
    ],
    ids=repr,
)
def test_columns_of_the_wrong_type_are_refused(spec, kind, says):
    with pytest.raises(fl.FanlightError, match=says):
        scheme_of(spec, [kind] * len(spec.inputs), "timestamp")


def test_a_least_duration_is_of_the_kind_of_the_time():
    spec = fl.ThresholdFrame("v > 1", min_duration="5 minutes")
    assert scheme_of(spec, ["boolean"], "timestamp").min_duration == 300_000_000
    with pytest.raises(fl.FanlightError, match="is a duration, but the time is a number"):
        scheme_of(spec, ["boolean"], "integer")
    assert (
        scheme_of(fl.ThresholdFrame("v > 1", min_duration=5), ["boolean"], "integer").min_duration
        == 5
    )
