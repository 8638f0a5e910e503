"""Levels and lists of windows over events that last: reference == stream, at any split."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests import spans
from tests.agreement.test_spanning_stream import LATE as BATCHES
from tests.compare import FEW
from tests.dataframes import calls, stream
from tests.events import MINUTE, examples, splits
from tests.granular_cases import BEGUN, CONTINUOUS, LEVELS, QUERIES
from tests.spans_several import check

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

PAIR = ("began", "ts")
PLACE = {"time": PAIR, "by": ["case", "k"], "tiebreak": ["seq"]}
ROWS = spans.packed(spans.LONG, 3, origins=(1_700_000_000_000_000,), longest=9, most=8)
FOUND = {name: FEW[name] for name in ("rows", "sum_v", "max_v", "list_v")}
SHORT = {name: FEW[name] for name in ("rows", "max_v")}
LATE = 4 * MINUTE
TTP = "14 minutes"


@pytest.mark.parametrize(
    ("spec", "strategy", "requests"),
    [
        (LEVELS[0], "auto", {**FOUND, "median": ("median", "n")}),
        (BEGUN, "auto", FOUND),
        (CONTINUOUS, "auto", SHORT),
        (QUERIES[0], "auto", FOUND),
        (LEVELS[1], "aggregate-buckets", SHORT),
    ],
    ids=str,
)
def test_a_stream_gives_what_batch_gives(classic, tmp_path, spec, strategy, requests):
    batches = examples(splits(ROWS, LATE), 4)[3]

    def query(df):
        return fl.over(df, spec, **PLACE).using(strategy).agg(**calls(requests))

    got = stream(classic, tmp_path, batches, query, delay=TTP)
    assert check(got, ROWS, spec, requests, **PLACE)


@pytest.mark.parametrize("rollup", ["copies", "nodes"])
def test_late_events_are_dropped_whole(classic, tmp_path, rollup):
    """Late for its first window of the finest level: in no window of the coarse one either."""
    spec = fl.MultiGranular(["4 minutes", "24 minutes"], ["2 minutes", "8 minutes"])
    requests = {"n": ("count",), "s": ("sum", "n")}
    duration = {"copies": "1 second", "nodes": "100 days"}[rollup]

    def query(df):
        windows = fl.over(df, spec, **PLACE).using(duration=duration, rate=1e6, groups=1)
        assert f"cells ({rollup})" in windows.explain().split("<- chosen")[0].splitlines()[-1]
        return windows.agg(**calls(requests))

    got = stream(classic, tmp_path, BATCHES, query, delay="20 minutes")
    kept = [one for batch in BATCHES for one in batch if one["n"] < 100]
    assert check(got, kept, spec, requests, **PLACE)
