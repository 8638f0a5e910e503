"""batch == stream: at any split into micro-batches, with rows late within the watermark."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests import events
from tests.compare import EVERYTHING, EXACT, FEW, check
from tests.dataframes import BLANK, calls, over, source, stream
from tests.events import MINUTE, examples, splits

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

TODAY = (1_700_000_000_000_000,)
PLACE = {"time": "ts", "by": ["case", "k"], "tiebreak": ["seq"]}
DELAYS = {  # how late rows come, by spec: about as long as a window
    events.TIME_SPECS[0]: "5 minutes",
    events.TIME_SPECS[1]: "7 minutes",
    events.TIME_SPECS[3]: "2 minutes",
    events.TIME_SPECS[4]: "8 seconds",
    events.TIME_SPECS[7]: "1 minute",
    events.ROW_SPECS[0]: "3 minutes",
    events.ROW_SPECS[2]: "10 minutes",
    events.ROW_SPECS[3]: "1 minute",
    events.ROW_SPECS[4]: "3 minutes",
    events.TUPLE_SPECS[0]: "5 minutes",
}
UNITS = {"minutes": MINUTE, "minute": MINUTE, "seconds": 1_000_000}


def microseconds(delay):
    count, unit = delay.split()
    return int(count) * UNITS[unit]


def arrivals(spec, which, cases=6):
    """Rows of today and one of their splits; the watermark must not pass any row's time."""
    rows = events.packed(spec, cases, origins=TODAY)
    batches = examples(splits(rows, microseconds(DELAYS[spec])), which + 1)[which]
    assert sum(map(len, batches)) == len(rows)
    return rows, batches


def agree(session, folder, spec, requests, *, which, strategy="auto"):
    rows, batches = arrivals(spec, which)
    delay = DELAYS[spec]
    got = stream(
        session,
        folder,
        batches,
        lambda df: over(df, spec, requests, strategy=strategy),
        delay=delay,
    )
    check(got, rows, spec, requests, unfinished=False, **PLACE)


@pytest.mark.parametrize("spec", DELAYS, ids=repr)
def test_a_stream_gives_what_batch_gives(classic, tmp_path, spec):
    agree(classic, tmp_path, spec, FEW, which=3)


@pytest.mark.parametrize("strategy", ["panes", "pairs", "expand"])
def test_every_strategy_in_a_stream(classic, tmp_path, strategy):
    agree(classic, tmp_path, events.TIME_SPECS[1], FEW, which=4, strategy=strategy)


def test_panes_are_not_taken_back_in_a_stream(classic, tmp_path):
    df = source(classic, tmp_path, "1 minute")
    windowed = fl.over(df, events.TIME_SPECS[0], time="ts").using("differential")
    with pytest.raises(fl.FanlightError, match=r"differential.*stream"):
        windowed.agg(**calls(EXACT))


@pytest.mark.parametrize(
    "spec", [events.TIME_SPECS[1], events.ROW_SPECS[2], events.TUPLE_SPECS[0]], ids=repr
)
def test_every_aggregate_in_a_stream(classic, tmp_path, spec):
    agree(classic, tmp_path, spec, EVERYTHING, which=5)


@pytest.mark.connect
@pytest.mark.parametrize("spec", [events.TIME_SPECS[0], events.ROW_SPECS[0]], ids=repr)
def test_a_stream_over_connect(sessions, tmp_path, spec):
    agree(sessions["connect"], tmp_path, spec, FEW, which=1)


@pytest.mark.parametrize("which", [0, 2])
@pytest.mark.parametrize("spec", [events.TIME_SPECS[1], events.ROW_SPECS[2]], ids=repr)
def test_any_split_gives_the_same(classic, tmp_path, spec, which):
    agree(classic, tmp_path, spec, {"n": ("count",), "list": ("collect_list", "n")}, which=which)


def row(minute, **more):
    base = TODAY[0] - TODAY[0] % MINUTE
    return {**BLANK, "case": 0, "k": "a", "ts": base + minute * MINUTE, "seq": 0, **more}


# Spark, too, asks of a row whether it is behind the watermark of the batch before.
LATE = (
    [row(0, n=1), row(1, n=2), row(2, n=3)],
    [row(100, n=4)],
    [row(100, n=4)],
    [row(0, n=100), row(101, n=5), row(-50, n=100)],
    [row(102, n=6), row(1, n=100), row(97, n=7)],
)


@pytest.mark.parametrize(
    "spec",
    [fl.Sliding("4 minutes", "2 minutes"), fl.Sliding(fl.rows(2), fl.rows(1))],
    ids=repr,
)
def test_rows_behind_the_watermark_are_dropped(classic, tmp_path, spec):
    requests = {"n": ("count",), "s": ("sum", "n")}
    got = stream(classic, tmp_path, LATE, lambda df: over(df, spec, requests), delay="5 minutes")
    kept = [one for batch in LATE for one in batch if one["n"] < 100]
    check(got, kept, spec, requests, unfinished=False, **PLACE)


def test_a_result_waits_for_the_watermark(classic, tmp_path):
    """Without a later row nothing is known to be complete."""
    spec = fl.Sliding("4 minutes", "2 minutes")
    batches = [[row(0, n=1)], [row(6, n=2)], [row(7, n=3)]]
    got = stream(
        classic,
        tmp_path,
        batches,
        lambda df: over(df, spec, {"s": ("sum", "n")}),
        delay="2 minutes",
        close=False,
    )
    closed = row(7)["ts"] - 2 * MINUTE
    assert got
    assert all(one["window"]["end"] <= closed for one in got)


def test_a_stream_without_rows(classic, tmp_path):
    for spec in (fl.Sliding("4 minutes", "1 minute"), fl.Sliding(fl.rows(2))):
        got = stream(classic, tmp_path, [[]], lambda df, s=spec: over(df, s, FEW), delay="1 minute")
        assert got == []


def test_rows_without_a_time_are_left_out(classic, tmp_path):
    rows = [{**row(0, n=1), "ts": None}, {**row(0, n=2), "ts": None}]
    for spec in (fl.Sliding("4 minutes", "1 minute"), fl.Sliding(fl.rows(1))):
        got = stream(
            classic, tmp_path, [rows], lambda df, s=spec: over(df, s, FEW), delay="1 minute"
        )
        assert got == []
