"""The digits of trend lines, and that levels share one pass over the source."""

from __future__ import annotations

import contextlib
import io

import fanlight as fl
from experiments.multi_granular import precision
from tests.helpers.dataframes import collected, frame
from tests.helpers.granular_cases import LEVELS
from tests.law.kinds.levels import STANDING


def test_trend_lines_keep_their_digits(classic):
    """Against least squares in extended precision over the raw rows, near 1.7e15 microseconds."""
    assert precision.worst(precision.on_spark(classic, 150_000)) < precision.LIMIT


def test_a_flat_line_is_flat(classic):
    """Equal values: no slope at all, and nothing left over."""
    windows = fl.over(frame(classic, STANDING.rows), LEVELS[0], time="ts", by=["case", "k"])
    got = collected(windows.fit("v", filled=True, instant="20 seconds"))
    flat = [row for row in got if row["k"] == "b" and row["slope"] is not None]
    assert flat
    assert all((row["slope"], row["r2"]) == (0, 1) for row in flat)


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
