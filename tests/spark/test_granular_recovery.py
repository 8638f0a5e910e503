"""Streams of levels, stopped and started again from their checkpoints."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests import events
from tests.dataframes import SENTINEL, calls, collected, readable, source, write_batch
from tests.events import MINUTE, examples, splits
from tests.granular_cases import LEVELS, PLACE, ROWS, check, check_fit

pytestmark = [pytest.mark.streaming, pytest.mark.slow]
TODAY = (1_700_000_000_000_000,)
EVENTS = events.packed(fl.Sliding("9 minutes", "3 minutes"), 4, origins=TODAY)
FINITE = [row for row in EVENTS if row["v"] is None or abs(row["v"]) < 1e6]
REQUESTS = {"n": ("count",), "most": ("max", "v"), "list": ("collect_list", "n")}


def restarted(spark, folder, rows, query):
    """Half of the batches, then a new query from the checkpoint over all of them."""
    inbox, out, state = (folder / name for name in ("in", "out", "state"))
    inbox.mkdir()
    batches = [*examples(splits(rows, 5 * MINUTE), 3)[2], [SENTINEL]]
    half = len(batches) // 2
    for part in (range(half), range(half, len(batches))):
        for number in part:
            write_batch(inbox, number, batches[number])
        result = readable(query(source(spark, inbox, "5 minutes")))
        writer = result.writeStream.format("parquet").option("checkpointLocation", str(state))
        writer.trigger(availableNow=True).start(str(out)).awaitTermination()
    found = collected(spark.read.parquet(str(out)))
    return [row for row in found if row["case"] != SENTINEL["case"]]


@pytest.mark.parametrize(
    ("spec", "strategy", "requests"),
    [
        (LEVELS[0], "granules", REQUESTS),
        (LEVELS[0], "chain", REQUESTS),
        (ROWS[0], "chain", REQUESTS),
    ],
    ids=str,
)
def test_a_stream_goes_on(classic, tmp_path, spec, strategy, requests):
    def query(df):
        return fl.over(df, spec, **PLACE).using(strategy).agg(**calls(requests))

    got = restarted(classic, tmp_path, EVENTS, query)
    assert check(got, EVENTS, spec, requests, unfinished=False, **PLACE)


def test_trend_lines_go_on(classic, tmp_path):
    def query(df):
        return fl.over(df, LEVELS[0], time="ts", by=["case", "k"]).fit("v", instant="30 seconds")

    got = restarted(classic, tmp_path, FINITE, query)
    where = {"time": "ts", "by": ["case", "k"], "instant_length": MINUTE // 2}
    assert check_fit(got, FINITE, LEVELS[0], "v", **where)
