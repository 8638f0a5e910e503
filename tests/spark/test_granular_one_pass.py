"""However many levels, the source is read once."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import timed
from tests.helpers.granular_cases import LEVELS, QUERIES
from tests.helpers.streams import finish, stream_of, write_files

ROWS = [{"case": 0, "k": "ab"[n % 2], "ts": n * 10_000_000, "v": float(n)} for n in range(300)]


def executed(df):
    """The plan as it was run in the end."""
    df.collect()
    return df._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]


# Of QUERIES[0], one leaves gaps: its rows are chosen behind the exchange that all share.
@pytest.mark.parametrize("spec", [LEVELS[0], QUERIES[0], QUERIES[2]], ids=repr)
def test_a_batch_is_read_once(classic, tmp_path, spec):
    df = timed(classic.read.parquet(str(write_files(tmp_path, ROWS)))).select("ts", "k", "v")
    windows = fl.over(df, spec, time="ts", by="k")
    shared = executed(windows.agg(agg.sum("v")))
    assert shared.count("FileScan") == 1
    assert ("ReusedExchange" in shared) == (spec is not QUERIES[2])  # all of which go together
    assert executed(windows.using("separate").agg(agg.sum("v"))).count("FileScan") == 3


@pytest.mark.parametrize("filled", [False, True])
def test_trend_lines_read_a_batch_once(classic, tmp_path, filled):
    df = timed(classic.read.parquet(str(write_files(tmp_path, ROWS)))).select("ts", "k", "v")
    found = fl.over(df, LEVELS[0], time="ts", by="k").fit("v", filled=filled)
    assert executed(found).count("FileScan") == 1


@pytest.mark.streaming
@pytest.mark.parametrize("strategy", ["granules", "chain"])
def test_a_stream_is_read_once(classic, tmp_path, strategy):
    batches = [ROWS[at : at + 100] for at in (0, 100, 200)]
    df = stream_of(classic, tmp_path, batches, "1 minute")
    found = fl.over(df, LEVELS[0], time="ts", by="k").using(strategy).agg(agg.sum("v"))
    progress = finish(found, tmp_path).recentProgress
    assert sum(one["numInputRows"] for one in progress) == len(ROWS)
