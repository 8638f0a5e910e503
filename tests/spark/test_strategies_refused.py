"""A strategy that cannot do what is asked says so, and names another."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight.engine.spec import FanlightError
from tests.helpers.aggregates import EXACT, FEW
from tests.helpers.dataframes import calls, frame
from tests.helpers.frames import DELTAS, OVERLAPPING, THRESHOLDS
from tests.helpers.granular_cases import AGED, CHANGES, LINEAR, PLACE, ROWS, STEADY
from tests.helpers.streams import source
from tests.law.kinds.levels import DELAY
from tests.law.kinds.sliding import GRIDS, axis


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, [])


def test_what_levels_cannot_do_in_a_stream_is_said(classic, tmp_path):
    df = source(classic, tmp_path, DELAY)
    levels = fl.over(df, AGED, **PLACE)
    with pytest.raises(fl.FanlightError, match=r"chain.*weights"):
        levels.using("chain").agg(**calls(LINEAR))
    with pytest.raises(fl.FanlightError, match=r"granules.*one operator"):
        fl.over(df, ROWS[0], **PLACE).using("granules").agg(**calls(FEW))
    aged = fl.MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(1), fl.Rows(2)], weights=[1, 0])
    with pytest.raises(fl.FanlightError, match=r"weights.*over rows in a stream.*durations"):
        fl.over(df, aged, **PLACE)
    with pytest.raises(fl.FanlightError, match="changes_only"):
        fl.over(df, CHANGES, **PLACE).using("chain").agg(**calls(STEADY))


@pytest.mark.parametrize("spec", [spec for spec in GRIDS if spec.overlap <= 1], ids=repr)
def test_nothing_to_take_back_where_windows_do_not_overlap(classic, spec):
    windowed = fl.over(frame(classic, []), spec, time=axis(spec)).using("differential")
    with pytest.raises(fl.FanlightError, match=r"differential.*do not overlap"):
        windowed.agg(**calls(EXACT))


def test_panes_are_not_taken_back_in_a_stream(classic, tmp_path):
    df = source(classic, tmp_path, "1 minute")
    windowed = fl.over(df, GRIDS[0], time="ts").using("differential")
    with pytest.raises(fl.FanlightError, match=r"differential.*stream"):
        windowed.agg(**calls(EXACT))


@pytest.mark.parametrize("spec", [DELTAS[0], THRESHOLDS[3], OVERLAPPING[0]], ids=repr)
def test_frames_that_are_not_cut_natively(df, spec):
    with pytest.raises(FanlightError, match="using\\('native'\\)"):
        fl.over(df, spec, time="ts").using("native")


def test_native_frames_are_for_batches(classic, df):
    stream = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    windowed = fl.over(stream, fl.ThresholdFrame("value > 1"), time="timestamp")
    with pytest.raises(FanlightError, match="is for batches"):
        windowed.using("native")
    with pytest.raises(FanlightError, match="'auto', 'native'"):
        fl.over(df, THRESHOLDS[0], time="ts").using("panes")


def test_what_a_later_call_leaves_out_stays(classic):
    windows = fl.over(frame(classic, []), fl.Sliding(10, 5), time="n").using("panes", groups=7)
    again = windows.using(rate=3.0)
    assert again._hints == windows._hints.with_hints(windows._hints.strategy, rate=3.0)
    assert again._hints.strategy.name == "panes"
    assert again._hints.groups == 7.0
    assert again.using("auto")._hints.strategy.name == "auto"
