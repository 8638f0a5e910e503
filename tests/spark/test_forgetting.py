"""What is said of keys that are forgotten: errors, explain, the clause."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of, frame
from tests.helpers.streams import source

pytestmark = pytest.mark.spark

MINUTES = fl.Sliding("4 minutes", "1 minute")
DELTA = fl.DeltaFrame({"v": 2})
ROWS = [
    {"case": 0, "k": k, "ts": at * 60_000_000, "v": float(at % 3), "n": at, "seq": at}
    for at in (0, 1, 2, 30, 31, 70)
    for k in "ab"
]


@pytest.mark.parametrize(
    ("spec", "given", "said"),
    [
        (DELTA, "0 days", "forget_after='0 days' must be positive"),
        (DELTA, "-1 day", "must be positive"),
        (DELTA, "1 month", "has a calendar unit"),
        (DELTA, "soon", "is not a duration"),
        (DELTA, fl.Rows(5), "forget_after=Rows(5) counts rows; write forget_after='5 minutes'"),
        (DELTA, 5, "is a number, but time='ts' is a timestamp"),
        (DELTA, True, "forget_after=True is a bool"),
        (MINUTES, "3 minutes", "is shorter than a window"),
        ([MINUTES, fl.Sliding("1 hour")], "59 minutes", "is shorter than a window"),
    ],
)
def test_what_cannot_be(classic, spec, given, said):
    with pytest.raises(fl.FanlightError) as caught:
        fl.over(frame(classic, ROWS), spec, time="ts", by="k", forget_after=given)
    assert said in str(caught.value)


def test_windows_that_time_places_are_the_same(classic):
    df = frame(classic, ROWS)
    plain, forgetting = (
        fl.over(df, MINUTES, time="ts", by="k", **more).agg(agg.count(), agg.median("v"))
        for more in ({}, {"forget_after": "4 minutes"})
    )
    assert all_of(plain) == all_of(forgetting)
    assert plain.columns == forgetting.columns


@pytest.mark.parametrize(
    ("spec", "grows"),
    [
        (DELTA, True),
        (fl.Session("5 minutes"), True),
        (fl.Sliding(fl.Rows(4), fl.Rows(2)), True),
        (fl.Sliding("1 hour", fl.Rows(1)), False),
        (MINUTES, False),
        (fl.ProgressiveWidening("1 minute", max_duration="1 hour", max_rows=10), False),
    ],
    ids=repr,
)
def test_explain_says_what_a_stream_forgets(classic, tmp_path, spec, grows):
    rows = source(classic, tmp_path, "1 minute")
    page = fl.over(rows, spec, time="ts", by="k").explain()
    assert ("state grows with the number of keys" in page) == grows
    page = fl.over(rows, spec, time="ts", by="k", forget_after="30 days").explain()
    assert "forgets" in page
    assert "silent for more than '30 days'; it then counts as new" in page
    assert "grows" not in page


def test_a_clause_says_it(classic):
    df = frame(classic, ROWS)
    api = fl.over(df, DELTA, time="ts", by="k", forget_after="20 minutes").agg(agg.max("n"))
    asked = fl.clause(DELTA, time="ts", by="k", forget_after="20 minutes")
    assert asked.endswith("FORGET AFTER 20 MINUTES]")
    found = fl.sql(f"SELECT *, max(n) FROM df {asked}", df=df)
    assert all_of(found.select(*api.columns)) == all_of(api)
    assert sum(row.frame_id == 0 for row in api.collect()) == 6  # a first frame of each life


def test_a_batch_has_no_column_of_its_own(classic):
    df = frame(classic, ROWS)
    for spec in (DELTA, fl.BoundaryFrame({"v": 1})):
        windows = fl.over(df, spec, time="ts", by="k", forget_after="20 minutes")
        assert windows.rows().columns == [*df.columns, "frame_id"]
    native = windows.using("native")
    assert native.rows().columns == [*df.columns, "frame_id"]
    rows = fl.over(df, fl.Sliding(fl.Rows(2)), time="ts", by="k", forget_after="20 minutes")
    assert rows.agg(n=agg.count()).columns == ["k", "window", "n"]
