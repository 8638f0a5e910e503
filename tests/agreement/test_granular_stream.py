"""batch == stream for levels and sets of queries, at any split into micro-batches."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests import events
from tests.compare import EVERYTHING, FEW
from tests.dataframes import BLANK, calls, source, stream
from tests.events import MINUTE, examples, splits
from tests.granular_cases import (
    AGED,
    BEGUN,
    CHANGES,
    CONTINUOUS,
    LEVELS,
    LINEAR,
    PLACE,
    QUERIES,
    ROW_QUERIES,
    ROWS,
    STEADY,
    check,
    check_fit,
    check_recurring,
)

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

TODAY = (1_700_000_000_000_000,)
DELAY = "5 minutes"
RECENT = events.packed(fl.Sliding("9 minutes", "3 minutes"), 6, origins=TODAY)
FINITE = [row for row in RECENT if row["v"] is None or abs(row["v"]) < 1e6]


def arrivals(rows, which):
    return examples(splits(rows, 5 * MINUTE), which + 1)[which]


def agree(session, folder, spec, requests=FEW, *, which=3, strategy="auto", rows=RECENT):
    def query(df):
        return fl.over(df, spec, **PLACE).using(strategy).agg(**calls(requests))

    got = stream(session, folder, arrivals(rows, which), query, delay=DELAY)
    assert check(got, rows, spec, requests, unfinished=False, **PLACE)


@pytest.mark.parametrize("spec", [LEVELS[1], BEGUN, CONTINUOUS, QUERIES[0]], ids=repr)
def test_a_stream_gives_what_batch_gives(classic, tmp_path, spec):
    agree(classic, tmp_path, spec)


@pytest.mark.parametrize("spec", [LEVELS[0], QUERIES[0], *ROWS, ROW_QUERIES], ids=repr)
def test_the_chain_gives_what_batch_gives(classic, tmp_path, spec):
    agree(classic, tmp_path, spec, strategy="chain", which=2)


def test_each_level_apart(classic, tmp_path):
    agree(classic, tmp_path, LEVELS[0], {"n": ("count",)}, which=4, strategy="separate")


@pytest.mark.parametrize("strategy", ["granules", "chain"])
def test_every_aggregate(classic, tmp_path, strategy):
    agree(classic, tmp_path, LEVELS[1], EVERYTHING, which=1, strategy=strategy)


@pytest.mark.connect
@pytest.mark.parametrize("strategy", ["granules", "chain"])
def test_over_connect(sessions, tmp_path, strategy):
    agree(sessions["connect"], tmp_path, LEVELS[0], which=0, strategy=strategy)


def test_aging(classic, tmp_path):
    agree(classic, tmp_path, AGED, LINEAR, rows=FINITE)


def test_changes_only(classic, tmp_path):
    agree(classic, tmp_path, CHANGES, STEADY)


def test_changes_of_aged_levels(classic, tmp_path):
    spec = fl.MultiGranular(
        ["4 minutes", "9 minutes"], ["1 minute", "3 minutes"], weights=[1, 0.5], changes_only=True
    )
    agree(classic, tmp_path, spec, {"n": ("count",), "s": ("sum", "n")})


@pytest.mark.parametrize("spec", [LEVELS[0], BEGUN], ids=repr)
def test_fit(classic, tmp_path, spec):
    def query(df):
        return fl.over(df, spec, time="ts", by=["case", "k"]).fit("v", instant="30 seconds")

    got = stream(classic, tmp_path, arrivals(FINITE, 2), query, delay=DELAY)
    where = {"time": "ts", "by": ["case", "k"], "instant_length": MINUTE // 2}
    assert check_fit(got, FINITE, spec, "v", **where)


def test_recurring(classic, tmp_path):
    rows = [
        {**row, "case": 0, "ts": row["ts"] and TODAY[0] + row["ts"] % (25 * MINUTE)}
        for row in RECENT
    ]

    def query(df):
        return fl.over(df, LEVELS[0], time="ts", by=["case", "k"]).recurring("s", counts=True)

    got = stream(classic, tmp_path, arrivals(rows, 2), query, delay=DELAY)
    where = {"time": "ts", "by": ["case", "k"], "counts": True}
    assert check_recurring(got, rows, LEVELS[0], "s", **where)


def test_the_chain_reports_after_silence(classic, tmp_path):
    """A key's last windows come out though nothing more of it comes in."""
    base = TODAY[0] - TODAY[0] % MINUTE
    rows = [
        {**BLANK, "case": 0, "k": k, "ts": base + at * MINUTE} for k, at in (("a", 0), ("b", 40))
    ]

    def query(df):
        return fl.over(df, LEVELS[0], **PLACE).using("chain").agg(**calls({"n": ("count",)}))

    got = stream(classic, tmp_path, [[rows[0]], [], [rows[1]], []], query, delay="1 minute")
    assert check(got, rows, LEVELS[0], {"n": ("count",)}, **PLACE)


def test_what_a_stream_cannot_do_is_said(classic, tmp_path):
    df = source(classic, tmp_path, DELAY)
    levels = fl.over(df, AGED, **PLACE)
    with pytest.raises(fl.FanlightError, match=r"chain.*weights"):
        levels.using("chain").agg(**calls(LINEAR))
    with pytest.raises(fl.FanlightError, match=r"granules.*one operator"):
        fl.over(df, ROWS[0], **PLACE).using("granules").agg(**calls(FEW))
    with pytest.raises(fl.FanlightError, match="changes_only"):
        fl.over(df, CHANGES, **PLACE).using("chain").agg(**calls(STEADY))
