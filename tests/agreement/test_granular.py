"""reference == batch for levels and sets of queries, classic and Connect."""

from __future__ import annotations

import math

import pytest

import fanlight as fl
from experiments.multi_granular import precision
from tests import events
from tests.compare import EVERYTHING, FEW
from tests.dataframes import BLANK, calls, collected, frame
from tests.events import MINUTE
from tests.granular_cases import (
    AGED,
    BEGUN,
    CHANGES,
    CONTINUOUS,
    LEVELS,
    LINEAR,
    PLACE,
    QUERIES,
    REAL,
    ROW_QUERIES,
    ROWS,
    STEADY,
    WHOLE,
    check,
    check_fit,
    check_recurring,
)

TODAY = (1_700_000_000_000_000,)
DRAWN = fl.Sliding("9 minutes", "3 minutes")
CASES = 10
EVENTS = events.packed(DRAWN, CASES)
RECENT = events.packed(DRAWN, CASES, origins=TODAY)
WHOLES = events.packed(fl.Sliding(12, 4, offset=-3), CASES)
REALS = events.packed(fl.Sliding(1.2, 0.4), CASES)


def agree(spark, rows, spec, requests=FEW, *, strategy="auto", time="ts", by=("case", "k")):
    where = {"time": time, "by": list(by), "tiebreak": ["seq"]}
    windows = fl.over(frame(spark, rows), spec, **where).using(strategy)
    assert check(collected(windows.agg(**calls(requests))), rows, spec, requests, **where)


@pytest.mark.parametrize(
    ("spec", "strategy"),
    [(LEVELS[0], "granules"), (LEVELS[0], "separate"), (LEVELS[1], "granules")],
    ids=str,
)
def test_levels(classic, spec, strategy):
    agree(classic, EVENTS, spec, strategy=strategy)


@pytest.mark.parametrize("spec", [LEVELS[2], BEGUN], ids=repr)
def test_levels_with_an_initiation_time(classic, spec):
    agree(classic, RECENT, spec)


@pytest.mark.parametrize("spec", [CONTINUOUS, *ROWS], ids=repr)
def test_levels_otherwise(classic, spec):
    agree(classic, EVENTS, spec)


@pytest.mark.parametrize(("spec", "rows", "time"), [(WHOLE, WHOLES, "i"), (REAL, REALS, "x")])
def test_levels_over_numbers(classic, spec, rows, time):
    agree(classic, rows, spec, time=time)


@pytest.mark.parametrize("spec", [*QUERIES, ROW_QUERIES], ids=repr)
def test_sets_of_queries(classic, spec):
    agree(classic, EVENTS, spec)


def test_queries_apart(classic):
    agree(classic, EVENTS, QUERIES[0], strategy="separate")


@pytest.mark.connect
@pytest.mark.parametrize("spec", [LEVELS[0], CONTINUOUS, QUERIES[0], ROWS[0]], ids=repr)
def test_over_connect(sessions, spec):
    agree(sessions["connect"], EVENTS, spec)


@pytest.mark.slow
@pytest.mark.parametrize("spec", [LEVELS[0], ROWS[0]], ids=repr)
def test_every_aggregate(classic, spec):
    agree(classic, EVENTS, spec, EVERYTHING)


def test_aging(spark):
    rows = [row for row in EVENTS if row["v"] is None or math.isfinite(row["v"])]
    agree(spark, rows, AGED, LINEAR)


def test_changes_only(spark):
    agree(spark, EVENTS, CHANGES, STEADY)
    every = fl.MultiGranular(["4 minutes", "9 minutes"], ["1 minute", "3 minutes"])
    steady = [{**BLANK, "case": 0, "k": "a", "ts": 0, "v": 1.0}]
    many = fl.over(frame(spark, steady), every, **PLACE).agg(**calls(STEADY)).count()
    few = fl.over(frame(spark, steady), CHANGES, **PLACE).agg(**calls(STEADY)).count()
    assert (many, few) == (7, 2)  # one row in four windows and in three: reported once a level


def test_changes_of_aged_levels(classic):
    spec = fl.MultiGranular(
        ["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], weights=[1, 0.5], changes_only=True
    )
    agree(classic, EVENTS, spec, {"n": ("count",), "s": ("sum", "n")})


EDGES = {
    "one row": [{"ts": 5}],
    "one row before 1970": [{"ts": -1}],
    "no time": [{"v": 1.0}],
    "far apart": [{"ts": 0, "v": 1.0}, {"ts": 10**14, "v": 2.0}],
}


@pytest.mark.parametrize("edges", [{}, EDGES], ids=["no row", "few rows"])
@pytest.mark.parametrize("spec", [LEVELS[0], QUERIES[1]], ids=repr)
def test_edges(classic, edges, spec):
    rows = [
        {**BLANK, "case": case, "k": None, **row}
        for case, few in enumerate(edges.values())
        for row in few
    ]
    windows = fl.over(frame(classic, rows), spec, **PLACE)
    check(collected(windows.agg(**calls(FEW))), rows, spec, FEW, **PLACE)


def test_without_keys(spark):
    rows = [{**row, "case": 0, "k": None} for row in EVENTS[:40]]
    agree(spark, rows, LEVELS[0], by=())


def test_sizes_do_not_drown_each_other(classic):
    rows = [
        {**BLANK, "case": 0, "k": "a", "ts": at * MINUTE, "v": 1e15 if at % 9 == 0 else 1e-3}
        for at in range(60)
    ]
    agree(classic, rows, LEVELS[0], {"s": ("sum", "v"), "a": ("avg", "v")})


def test_rejected_rows_name_the_initiation_time(classic):
    rows = [{**BLANK, "ts": at} for at in (None, 0, 1_800_000_000_000_000)]
    found = fl.rejected(frame(classic, rows), BEGUN, time="ts").select("reason").collect()
    assert sorted(row.reason for row in found) == ["ts is before the initiation time", "ts is null"]


def test_finer_levels_are_consistent_with_coarser_ones(classic):
    """A level's count is the sum of the finest level's counts where windows tumble."""
    spec = fl.MultiGranular(["1 minute", "9 minutes"], ["1 minute", "9 minutes"])
    rows = fl.over(frame(classic, RECENT), spec, **PLACE).agg(n=fl.agg.count())
    by_level = {
        row.level: row.total
        for row in rows.groupBy("level")
        .agg({"n": "sum"})
        .withColumnRenamed("sum(n)", "total")
        .collect()
    }
    assert by_level[0] == by_level[1] == sum(row["ts"] is not None for row in RECENT)


FINITE = [row for row in EVENTS if row["v"] is None or abs(row["v"]) < 1e6]
COARSE = [{**row, "ts": row["ts"] and row["ts"] // MINUTE * MINUTE} for row in FINITE]


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("spec", [LEVELS[0], BEGUN, CONTINUOUS], ids=repr)
def test_fit(classic, spec, per_row):
    windows = fl.over(frame(classic, FINITE), spec, time="ts", by=["case", "k"])
    # An instant of half a minute keeps the oracle, which visits each, quick.
    how = {} if per_row else {"instant": "30 seconds"}
    got = collected(windows.fit("v", per_row, **how))
    where = {
        "time": "ts",
        "by": ["case", "k"],
        "per_row": per_row,
        "slack": 1e-6 if per_row else 1e-9,
    }
    assert check_fit(got, FINITE, spec, "v", instant_length=30_000_000, **where)


def test_fit_without_keys(classic):
    rows = [row for row in FINITE if row["case"] in (3, 5)]
    got = collected(
        fl.over(frame(classic, rows), LEVELS[0], time="ts").fit("v", instant="1 minute")
    )
    assert check_fit(got, rows, LEVELS[0], "v", time="ts", instant_length=MINUTE)


def test_fit_of_values_that_stand(classic):
    """A silence between windows, one within, equal values, a single one; none is ever an error."""
    at = {"a": (0, 1, 40, 47, 60), "b": (7, 8, 9), "c": (3,)}
    rows = [
        {**BLANK, "case": 0, "k": k, "ts": TODAY[0] + n * MINUTE, "v": 0.1 if k == "b" else 0.1 * n}
        for k, minutes in at.items()
        for n in minutes
    ]
    windows = fl.over(frame(classic, rows), LEVELS[0], time="ts", by=["case", "k"])
    got = collected(windows.fit("v", instant="20 seconds"))
    where = {"time": "ts", "by": ["case", "k"], "instant_length": MINUTE // 3}
    assert check_fit(got, rows, LEVELS[0], "v", **where)
    flat = [row for row in got if row["k"] == "b" and row["slope"] is not None]
    assert flat
    assert all((row["slope"], row["r2"]) == (0, 1) for row in flat)


def test_trend_lines_keep_their_digits(classic):
    """Against least squares in extended precision over the raw rows, near 1.7e15 microseconds."""
    assert precision.worst(precision.on_spark(classic, 150_000)) < precision.LIMIT


def test_fit_over_connect(sessions):
    windows = fl.over(frame(sessions["connect"], FINITE), LEVELS[1], time="ts", by=["case", "k"])
    got = collected(windows.fit("v", instant="1 minute"))
    where = {"time": "ts", "by": ["case", "k"]}
    assert check_fit(got, FINITE, LEVELS[1], "v", instant_length=MINUTE, **where)


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("spec", [LEVELS[0], LEVELS[1], BEGUN, CONTINUOUS], ids=repr)
def test_recurring(spark, spec, counts):
    dense = [
        {**row, "ts": None if row["ts"] is None else TODAY[0] + row["ts"] % (25 * MINUTE)}
        for row in EVENTS
    ]
    rows = [{**row, "case": 0} for row in dense]
    windows = fl.over(frame(spark, rows), spec, time="ts", by=["k"])
    got = collected(windows.recurring("s", counts))
    assert check_recurring(got, rows, spec, "s", time="ts", by=["k"], counts=counts)
