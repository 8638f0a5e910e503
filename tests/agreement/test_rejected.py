"""The rows that no window takes, and why."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.reference import rejected, sliding
from tests.dataframes import SCHEMA, frame
from tests.events import INF, NAN

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
        ("ts", fl.Sliding(fl.rows(2))),
    ],
    ids=["time", "number", "rows"],
)
def test_rejected_rows_have_a_reason(spark, time, spec):
    df = frame(spark, ROWS)
    left_out = fl.rejected(df, spec, time=time, by=["k"])
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
    left_out = fl.rejected(df, fl.Sliding("1 minute"), time="ts")
    assert left_out.toArrow().num_rows == 0
    assert set(left_out.columns) == {*SCHEMA.names, "reason"}
