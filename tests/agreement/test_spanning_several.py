"""Levels and lists of windows over events that last: reference == batch, classic and Connect."""

from __future__ import annotations

import contextlib
import io

import pytest

import fanlight as fl
from fanlight.reference import rejected_spans
from tests import granular_cases, spans
from tests.compare import EVERYTHING, FEW
from tests.dataframes import calls, collected, frame
from tests.events import MINUTE
from tests.granular_cases import BEGUN, CHANGES, CONTINUOUS, LEVELS, PLACE, QUERIES, REAL, WHOLE
from tests.spans import PAIRS
from tests.spans_several import check

TODAY = (1_700_000_000_000_000,)
CASES = 6
EVENTS = spans.packed(spans.LONG, CASES, longest=30)
RECENT = spans.packed(spans.LONG, CASES, origins=TODAY, longest=30)
WHOLES = spans.packed(fl.Sliding(12, 4, offset=-3), CASES, longest=20)
REALS = spans.packed(fl.Sliding(1.2, 0.4), CASES)
RUNNING = {name: FEW[name] for name in ("rows", "sum_v", "sum_d", "min_s", "max_v", "first")}
NATIVE = ("levels", "cells", "aggregate-buckets")


def agree(spark, rows, spec, requests=FEW, *, strategy="auto", time="ts"):
    where = {"time": PAIRS[time], "by": ["case", "k"], "tiebreak": ["seq"]}
    windows = fl.over(frame(spark, rows), spec, **where).using(strategy)
    assert check(collected(windows.agg(**calls(requests))), rows, spec, requests, **where)


@pytest.mark.parametrize("strategy", [*NATIVE, "separate"])
@pytest.mark.parametrize("spec", [LEVELS[1], QUERIES[0]], ids=repr)
def test_every_strategy(classic, spec, strategy):
    agree(classic, EVENTS, spec, RUNNING, strategy=strategy)


@pytest.mark.parametrize("strategy", NATIVE)
def test_value_counts_and_lists(classic, strategy):
    requests = {**FEW, "median": EVERYTHING["median"]}
    agree(classic, EVENTS, LEVELS[0], requests, strategy=strategy)


@pytest.mark.slow
def test_every_aggregate(classic):
    agree(classic, EVENTS, LEVELS[1], EVERYTHING, strategy="cells")


@pytest.mark.parametrize("strategy", ["levels", "cells"])
@pytest.mark.parametrize("spec", [LEVELS[2], BEGUN], ids=repr)
def test_an_initiation_time(classic, spec, strategy):
    agree(classic, RECENT, spec, strategy=strategy)


@pytest.mark.parametrize("spec", [CONTINUOUS, CHANGES, QUERIES[2]], ids=repr)
def test_otherwise(classic, spec):
    agree(classic, EVENTS, spec, RUNNING)


@pytest.mark.parametrize("strategy", NATIVE)
@pytest.mark.parametrize(("spec", "rows", "time"), [(WHOLE, WHOLES, "i"), (REAL, REALS, "x")])
def test_numbers(classic, spec, rows, time, strategy):
    agree(classic, rows, spec, RUNNING, time=time, strategy=strategy)


@pytest.mark.connect
@pytest.mark.parametrize("spec", [LEVELS[0], QUERIES[1]], ids=repr)
def test_over_connect(sessions, spec):
    agree(sessions["connect"], EVENTS, spec)


@pytest.mark.parametrize("spec", [LEVELS[0], QUERIES[0]], ids=repr)
def test_points_are_the_special_case(classic, spec):
    """stop = start: the same rows as levels over points."""
    rows = [{**row, "began": row["ts"]} for row in EVENTS]
    found = fl.over(frame(classic, rows), spec, **{**PLACE, "time": PAIRS["ts"]})
    got = collected(found.agg(**calls(RUNNING)))
    assert granular_cases.check(got, rows, spec, RUNNING, **PLACE)


def test_one_pass_over_the_source(classic):
    """Two levels or five: one scan of the source, one exchange of marks."""
    levels = fl.MultiGranular([4, 8, 16, 64, 128], [1, 2, 4, 8, 32])
    df = classic.range(100).selectExpr("id as a", "id + 3 as b")
    for strategy in ("levels", "cells"):
        found = fl.over(df, levels, time=("a", "b")).using(strategy).agg(fl.agg.count())
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            found.explain()
        assert told.getvalue().count("Range (0, 100") == 1, told.getvalue()


@pytest.mark.parametrize("spec", [LEVELS[0], BEGUN, REAL], ids=repr)
def test_rejected_events(spark, spec):
    time = "x" if spec is REAL else "ts"
    rows = REALS if spec is REAL else RECENT
    found = fl.rejected(frame(spark, rows), spec, time=PAIRS[time]).toArrow().to_pylist()
    since = None if spec.offset is None else spec.offset.value
    wanted = rejected_spans(rows, time=PAIRS[time], since=since)
    assert sorted(row["reason"] for row in found) == sorted(row["reason"] for row in wanted)
    assert any("initiation" in row["reason"] for row in found) == (spec is BEGUN)


def test_an_event_across_the_initiation_time(classic):
    """It counts from there on; one that ends there does not."""
    since = granular_cases.SINCE
    rows = [
        {"case": 0, "k": "a", "began": since - 9 * MINUTE, "ts": since, "v": 1.0},
        {"case": 0, "k": "a", "began": since - 9 * MINUTE, "ts": since + 1, "v": 2.0},
        {"case": 0, "k": "a", "began": since, "ts": since, "v": 4.0},
    ]
    df = fl.over(frame(classic, rows), BEGUN, time=PAIRS["ts"]).agg(s=fl.agg.sum("v"))
    assert {row.s for row in df.collect()} == {6.0}
