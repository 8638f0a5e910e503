"""The rows that no window takes, and why."""

from __future__ import annotations

import math

import pytest

import fanlight as fl
from tests.helpers import events
from tests.helpers.dataframes import BLANK, SCHEMA, frame
from tests.helpers.events import INF, NAN
from tests.helpers.granular_cases import BEGUN, LEVELS, REAL
from tests.helpers.spans import LONG, PAIRS, TIME_SPECS
from tests.law.data import TODAY, lasting
from tests.oracle import rejected, rejected_spans, sliding

ROWS = [
    {"case": at, "k": "a", "ts": ts, "x": x, "v": 1.0}
    for at, (ts, x) in enumerate(
        [(None, 0.5), (5, NAN), (None, None), (-7, INF), (0, -INF), (1, 2.0)]
    )
]


@pytest.mark.parametrize(
    ("time", "spec"),
    [
        ("ts", fl.Sliding("4 minutes", "1 minute")),
        ("x", fl.Sliding(0.4, 0.1)),
        ("ts", fl.Sliding(fl.Rows(2))),
    ],
    ids=["time", "number", "rows"],
)
def test_rejected_rows_have_a_reason(spark, time, spec):
    df = frame(spark, ROWS)
    left_out = fl.over(df, spec, time=time, by=["k"]).rejected()
    assert left_out.columns == [*df.columns, "reason"]
    got = {row["case"]: row["reason"] for row in left_out.toArrow().to_pylist()}
    expected = {row["case"]: row["reason"] for row in rejected(ROWS, time=time)}
    assert got.keys() == expected.keys()
    for number, reason in expected.items():
        assert got[number] == reason or (reason == "x is infinite" and got[number][:5] == "x is ")
    counted = sliding(ROWS, spec, time=time, by=["case"], aggregates={"n": ("count",)})
    assert {row["case"] for row in counted} | got.keys() == {row["case"] for row in ROWS}


def test_nothing_is_rejected_where_all_times_are_there(spark):
    df = frame(spark, [row for row in ROWS if row["ts"] is not None])
    left_out = fl.over(df, fl.Sliding("1 minute"), time="ts").rejected()
    assert left_out.toArrow().num_rows == 0
    assert set(left_out.columns) == {*SCHEMA.names, "reason"}


EVENTS = {
    "ts": (TIME_SPECS[0], lasting(TIME_SPECS[0])),
    "i": (events.WHOLE_SPECS[0], lasting(events.WHOLE_SPECS[0])),
    "x": (events.REAL_SPECS[0], lasting(events.REAL_SPECS[0])),
}


@pytest.mark.parametrize("time", EVENTS)
def test_rejected_events(spark, time):
    spec, data = EVENTS[time]
    rows = data.rows + [{**data.rows[0], "x": x, "x0": 0.0} for x in (math.nan, -1.0)]
    found = fl.over(frame(spark, rows), spec, time=PAIRS[time]).rejected().toArrow().to_pylist()
    wanted = rejected_spans(rows, time=PAIRS[time])
    assert sorted(row["reason"] for row in found) == sorted(row["reason"] for row in wanted)
    assert wanted


@pytest.mark.parametrize("spec", [LEVELS[0], BEGUN, REAL], ids=repr)
def test_rejected_events_of_levels(spark, spec):
    time = "x" if spec is REAL else "ts"
    drawn = (
        lasting(fl.Sliding(1.2, 0.4), 6) if spec is REAL else lasting(LONG, 6, (TODAY,), longest=30)
    )
    found = (
        fl.over(frame(spark, drawn.rows), spec, time=PAIRS[time]).rejected().toArrow().to_pylist()
    )
    since = None if spec.offset is None else spec.offset.value
    wanted = rejected_spans(drawn.rows, time=PAIRS[time], since=since)
    assert sorted(row["reason"] for row in found) == sorted(row["reason"] for row in wanted)
    assert any("initiation" in row["reason"] for row in found) == (spec is BEGUN)


def test_rejected_rows_name_the_initiation_time(classic):
    rows = [{**BLANK, "ts": at} for at in (None, 0, 1_800_000_000_000_000)]
    found = fl.over(frame(classic, rows), BEGUN, time="ts").rejected().select("reason").collect()
    assert sorted(row.reason for row in found) == ["ts is before the initiation time", "ts is null"]


@pytest.mark.parametrize("spec", [fl.Sliding("1 hour"), fl.Snapshot()], ids=repr)
def test_swapped_ends_are_told(classic, spec):
    """Next to nothing is left of such a table: the page says so, and where to look."""
    df = classic.sql(
        "select timestamp_seconds(id) ts, timestamp_seconds(id + id % 9) as stop from range(90)"
    )
    windows = fl.over(df, spec, time=("stop", "ts"))
    told = "dropped     events whose 'ts' is before 'stop', or null: rejected() lists them"
    assert told in windows.explain()
    found = windows.rejected().where("reason = 'ts is before stop'")
    assert found.count() == 80
