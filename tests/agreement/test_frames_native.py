"""reference == batch for threshold and boundary frames that Spark SQL cuts alone."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.spec import FanlightError
from tests import events
from tests.dataframes import BLANK, collected, frame
from tests.frames import BOUNDARIES, DELTAS, OVERLAPPING, THRESHOLDS
from tests.frames_compare import EVERY, agree, over

ROWS = events.packed(fl.Sliding("4 minutes", "1 minute"), 12)
SPECS = (*THRESHOLDS[:3], fl.ThresholdFrame("v > 1", min_duration="1 minute"), *BOUNDARIES)
SOME = {n: EVERY[n] for n in ("every", "sum_v", "sum_d", "min_s", "first", "list_v", "median")}


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, ROWS).cache()


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_the_frames_are_those_of_the_reference(df, spec):
    agree(df, ROWS, spec, SOME, strategy="native")


@pytest.mark.connect
def test_over_connect(sessions):
    agree(frame(sessions["connect"], ROWS), ROWS, SPECS[2], SOME, strategy="native")


@pytest.mark.parametrize("spec", [SPECS[0], SPECS[2], BOUNDARIES[4]], ids=repr)
def test_rows_carry_the_number_of_their_frame(df, spec):
    windowed = fl.over(df, spec, time="ts", by=["case", "k"], tiebreak=["seq"])
    native = windowed.using("native").rows()
    assert native.columns == [*df.columns, "frame_id"]
    assert windowed.rows().exceptAll(native).isEmpty()
    assert native.exceptAll(windowed.rows()).isEmpty()


def test_rows_that_are_alike(classic):
    """Many rows of one time and value, which no order tells apart."""
    rows = [{**BLANK, "ts": at // 4 * 60_000_000, "v": float(at // 8 % 3)} for at in range(96)]
    for spec in (
        fl.ThresholdFrame("v > 1", min_rows=8),
        fl.ThresholdFrame("v < 1", min_duration="2 minutes"),
    ):
        for by in ((), ("k",)):
            agree(frame(classic, rows), rows, spec, {"n": ("count",)}, by=by, strategy="native")


@pytest.mark.parametrize("v", [3e15, -4.6, 4.2, 8.4, 12.600000000000001, 0.0, -0.0])
def test_values_at_and_far_from_boundaries(classic, v):
    rows = [
        {**BLANK, "ts": at * 1_000_000, "v": value} for at, value in enumerate([1.0, v, 1.0, v, v])
    ]
    for spec in (fl.BoundaryFrame({"v": 4.2}), fl.BoundaryFrame({"v": [-4.6, 4.2, 8.4]})):
        agree(frame(classic, rows), rows, spec, {"n": ("count",)}, by=(), strategy="native")


def test_values_that_are_in_no_cell(classic):
    """Beyond 4.5e15 cells, infinite, or NaN: as in the compiled loops."""
    values = [1.0, -1e300, 1.0, float("inf"), 2.0, float("nan"), 2.0, 1e300]
    df = frame(classic, [{"ts": at * 1_000_000, "v": value} for at, value in enumerate(values)])
    windowed = fl.over(df, fl.BoundaryFrame({"v": 4.2}), time="ts")
    found = [windowed.using(way).rows() for way in ("auto", "native")]
    ids = [[row.frame_id for row in one.orderBy("ts").collect()] for one in found]
    assert ids == [[0, None, 1, None, 2, None, 3, None]] * 2


@pytest.mark.parametrize("n", [-(2**63) + 1, 2**63 - 1, 2**60, -3, -2, 3, 4])
def test_whole_numbers_far_from_zero(classic, n):
    rows = [{**BLANK, "ts": at * 1_000_000, "n": value} for at, value in enumerate([1, n, n, 0, n])]
    for spec in (fl.BoundaryFrame({"n": 2}), fl.BoundaryFrame({"n": [-2, 1, 3]})):
        agree(frame(classic, rows), rows, spec, {"n": ("count",)}, by=(), strategy="native")


@pytest.mark.parametrize("rows", [[], [{"ts": None}], [{"ts": -1, "v": 2.0}]])
def test_edges(classic, rows):
    got = collected(over(frame(classic, rows), SPECS[0], {}, by=(), strategy="native"))
    timed = [row for row in rows if row["ts"] is not None]
    assert [(row["rows"], row["closed"]) for row in got] == [(1, False)] * len(timed)


def test_no_row_goes_through_python(df, capsys):
    windowed = fl.over(df, SPECS[1], time="ts", by="k").using("native")
    windowed.agg(agg.sum("v")).explain()
    assert "Python" not in capsys.readouterr().out
    assert "no row goes through Python" in windowed.explain()


@pytest.mark.parametrize("spec", [DELTAS[0], THRESHOLDS[3], OVERLAPPING[0]], ids=repr)
def test_what_it_cannot_cut_is_refused(df, spec):
    with pytest.raises(FanlightError, match="using\\('native'\\)"):
        fl.over(df, spec, time="ts").using("native")


def test_streams_and_unknown_ways_are_refused(classic, df):
    stream = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    windowed = fl.over(stream, fl.ThresholdFrame("value > 1"), time="timestamp")
    with pytest.raises(FanlightError, match="is for batches"):
        windowed.using("native")
    with pytest.raises(FanlightError, match="'auto', 'native'"):
        fl.over(df, SPECS[0], time="ts").using("panes")
