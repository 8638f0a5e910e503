"""Events that last: batch == stream, at any split, in any order within the watermark (TTP)."""

from __future__ import annotations

import pytest

import fanlight as fl
from tests import events, spans
from tests.compare import EVERYTHING, FEW, check
from tests.dataframes import (
    BLANK,
    SENTINEL,
    calls,
    collected,
    over,
    source,
    stream,
    write_batch,
)
from tests.events import MINUTE, examples, splits

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

TODAY = (1_700_000_000_000_000,)
PAIR = ("began", "ts")
PLACE = {"time": PAIR, "by": ["case", "k"], "tiebreak": ["seq"]}
SHORT = {name: FEW[name] for name in ("rows", "sum_v", "min_s", "max_v", "list_v")}
# By spec: how long events last at most, in slides; how late they come; the watermark's delay (TTP).
SPECS = {
    fl.Sliding("4 minutes", "1 minute"): (9, "5 minutes", "16 minutes"),
    fl.Sliding("9 minutes", "6 minutes"): (3, "4 minutes", "40 minutes"),
    fl.Sliding("1 minute", "4 minutes"): (2, "2 minutes", "15 minutes"),
    fl.Sliding("10 seconds", "3 seconds", offset="-2 seconds"): (40, "8 seconds", "150 seconds"),
}
UNITS = {"minutes": MINUTE, "seconds": 1_000_000}


def microseconds(text):
    count, unit = text.split()
    return int(count) * UNITS[unit]


def arrivals(spec, which, cases=5):
    """Events of today and one of their splits; each ends and comes within TTP of its start."""
    longest, late, ttp = SPECS[spec]
    rows = spans.packed(spec, cases, origins=TODAY, longest=longest)
    known = [row for row in rows if row["ts"] is not None and row["began"] is not None]
    most = max(row["ts"] - row["began"] for row in known)
    assert most + microseconds(late) <= microseconds(ttp), "the test's own TTP is too short"
    batches = examples(splits(rows, microseconds(late)), which + 1)[which]
    assert sum(map(len, batches)) == len(rows)
    return rows, batches, ttp


def agree(session, folder, spec, requests, *, which, strategy="auto"):
    rows, batches, ttp = arrivals(spec, which)

    def query(df):
        return over(df, spec, requests, strategy=strategy, **PLACE)

    got = stream(session, folder, batches, query, delay=ttp)
    check(got, rows, spec, requests, **PLACE)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_stream_gives_what_batch_gives(classic, tmp_path, spec):
    agree(classic, tmp_path, spec, FEW, which=3)


@pytest.mark.parametrize("strategy", ["cells", "aggregate-buckets"])
def test_every_strategy_in_a_stream(classic, tmp_path, strategy):
    agree(classic, tmp_path, next(iter(SPECS)), SHORT, which=4, strategy=strategy)


@pytest.mark.parametrize("strategy", ["levels", "se-ml-slicing", "selective-sweeping"])
def test_an_operator_in_a_stream(classic, tmp_path, strategy):
    wanted = {"min_s": FEW["min_s"], "max_v": FEW["max_v"]}
    if strategy != "selective-sweeping":
        wanted |= SHORT
    agree(classic, tmp_path, next(iter(SPECS)), wanted, which=3, strategy=strategy)


def test_every_aggregate_in_a_stream(classic, tmp_path):
    agree(classic, tmp_path, next(iter(SPECS)), EVERYTHING, which=2)


@pytest.mark.connect
def test_a_stream_over_connect(sessions, tmp_path):
    agree(sessions["connect"], tmp_path, next(iter(SPECS)), SHORT, which=1)


@pytest.mark.parametrize("which", [0, 2])
def test_any_split_gives_the_same(classic, tmp_path, which):
    spec = fl.Sliding("10 seconds", "3 seconds", offset="-2 seconds")
    agree(classic, tmp_path, spec, {"n": ("count",), "m": ("median", "n")}, which=which)


def event(start, stop, n):
    base = TODAY[0] - TODAY[0] % MINUTE
    times = {"began": base + start * MINUTE, "ts": base + stop * MINUTE}
    return {**BLANK, "case": 0, "k": "a", "seq": 0, "n": n, **times}


# The watermark's delay is 20 minutes. After the second batch it stands at minute 80.
LATE = (
    [event(0, 2, 1), event(1, 12, 2)],
    [event(99, 100, 3)],
    [event(98, 100, 4)],
    [event(60, 101, 100), event(0, 90, 100), event(79, 101, 5), event(82, 83, 6), event(3, 4, 100)],
    [event(100, 102, 7)],
)


@pytest.mark.parametrize("rollup", ["copies", "nodes"])
def test_late_events_are_dropped_whole(classic, tmp_path, rollup):
    """Longer than TTP, or later than it: in none of the windows, not even in the open ones."""
    spec = fl.Sliding("4 minutes", "2 minutes")
    requests = {"n": ("count",), "s": ("sum", "n"), "m": ("max", "n")}
    hints = {"copies": "1 second", "nodes": "100 days"}[rollup]

    def query(df):
        windows = fl.over(df, spec, **PLACE).using("cells", duration=hints, rate=1e6, groups=1)
        assert f"cells ({rollup})" in windows.explain().split("<- chosen")[0].splitlines()[-1]
        return windows.agg(**calls(requests))

    got = stream(classic, tmp_path, LATE, query, delay="20 minutes")
    kept = [one for batch in LATE for one in batch if one["n"] < 100]
    check(got, kept, spec, requests, **PLACE)


def test_late_events_are_counted(classic, tmp_path):
    inbox = tmp_path / "in"
    inbox.mkdir()
    for number, rows in enumerate(LATE):
        write_batch(inbox, number, rows)
    spec = fl.Sliding("4 minutes", "2 minutes")
    df = source(classic, inbox, "20 minutes")
    result = fl.over(df, spec, time=PAIR, by="k").agg(**calls({"s": ("sum", "n")}))
    writer = result.writeStream.format("memory").queryName("counted").outputMode("append")
    running = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    query = running.start()
    query.awaitTermination()
    dropped = [
        state["numRowsDroppedByWatermark"]
        for progress in query.recentProgress
        for state in progress["stateOperators"]
    ]
    assert sum(dropped) == 3


def test_a_window_is_released_at_its_end_plus_ttp(classic, tmp_path):
    spec = fl.Sliding("4 minutes", "2 minutes")
    batches = [[event(0, 3, 1)], [event(10, 24, 2)], [event(23, 25, 3)]]

    def query(df):
        return over(df, spec, {"s": ("sum", "n")}, **PLACE)

    got = stream(classic, tmp_path, batches, query, delay="20 minutes", close=False)
    base = TODAY[0] - TODAY[0] % MINUTE
    ends = {(row["window"]["end"] - base) / MINUTE for row in got}
    assert ends
    assert max(ends) <= 25 - 20
    assert {row["s"] for row in got} == {1}


@pytest.mark.parametrize("strategy", ["cells", "se-slicing"])
def test_a_stopped_stream_goes_on_from_its_checkpoint(classic, tmp_path, strategy):
    spec = next(iter(SPECS))
    rows, batches, ttp = arrivals(spec, 4)
    requests = {"rows": ("count",), "m": ("max", "v"), "list": ("collect_list", "n")}
    inbox, out = tmp_path / "in", str(tmp_path / "out")
    inbox.mkdir()
    half = len(batches) // 2
    for number, batch in enumerate([*batches[:half], None, *batches[half:], [SENTINEL]]):
        if batch is not None:
            write_batch(inbox, number, batch)
            if number != half - 1 and number != len(batches) + 1:
                continue
        result = over(source(classic, inbox, ttp), spec, requests, strategy=strategy, **PLACE)
        writer = result.writeStream.format("parquet").option("path", out).outputMode("append")
        writer = writer.option("checkpointLocation", str(tmp_path / "state"))
        writer.trigger(availableNow=True).start().awaitTermination()
    got = collected(classic.read.schema(result.schema).parquet(out))
    check([row for row in got if row["case"] >= 0], rows, spec, requests, **PLACE)


def test_a_stream_without_events(classic, tmp_path):
    spec = next(iter(SPECS))

    def query(df):
        return over(df, spec, SHORT, **PLACE)

    assert stream(classic, tmp_path, [[]], query, delay="1 minute") == []
    blank = [{**event(0, 1, 1), "ts": None}, {**event(0, 1, 1), "began": None}, event(2, 1, 1)]
    assert stream(classic, tmp_path, [blank], query, delay="1 minute") == []


def test_events_fit_the_generator():
    for spec in SPECS:
        arrivals(spec, 0)
    assert events.TIME_SPECS[0] in SPECS
