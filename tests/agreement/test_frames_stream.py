"""stream == batch.where("closed"): at any split into micro-batches, with rows late in the delay."""

from __future__ import annotations

import uuid

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.reference.frames import framed
from tests import events
from tests.dataframes import BLANK, FAR, SENTINEL, collected, frame, source, stream, write_batch
from tests.events import MINUTE, examples, splits
from tests.frames import AGGREGATES, BOUNDARIES, DELTAS, HOLDS, OVERLAPPING, THRESHOLDS
from tests.frames_compare import EVERY, PLACE, check, over

pytestmark = [pytest.mark.streaming, pytest.mark.slow]

TODAY = (1_700_000_000_000_000,)
TIMES = fl.Sliding("4 minutes", "1 minute")
ROWS = events.packed(TIMES, 8, origins=TODAY)
NUMBERS = {n: EVERY[n] for n in ("every", "n_v", "sum_v", "max_v", "avg_n", "min_s", "list_v")}
SPECS = (
    THRESHOLDS[1], THRESHOLDS[5], BOUNDARIES[0], BOUNDARIES[4], DELTAS[0], DELTAS[6],
    AGGREGATES[2], AGGREGATES[10], OVERLAPPING[0],
)  # fmt: skip


def batches(which, rows=ROWS):
    return examples(splits(rows, 5 * MINUTE), which + 1)[which]


def agree(session, folder, spec, requests, which):
    got = stream(
        session, folder, batches(which), lambda df: over(df, spec, requests), delay="5 minutes"
    )
    check(got, ROWS, spec, requests, unfinished=False, exact=True)


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_stream_gives_the_closed_frames_of_the_batch(classic, tmp_path, spec):
    agree(classic, tmp_path, spec, NUMBERS, which=3)


def test_every_aggregate_in_a_stream(classic, tmp_path):
    agree(classic, tmp_path, DELTAS[0], EVERY, which=4)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_any_split_gives_the_same(classic, tmp_path, which):
    agree(classic, tmp_path, AGGREGATES[7], {"list": ("collect_list", "n")}, which)


@pytest.mark.connect
def test_a_stream_over_connect(sessions, tmp_path):
    agree(sessions["connect"], tmp_path, DELTAS[6], NUMBERS, which=2)


def row(minute, **more):
    base = TODAY[0] - TODAY[0] % MINUTE
    return {**BLANK, "case": 0, "k": "a", "ts": base + minute * MINUTE, "seq": 0, **more}


def test_rows_behind_the_watermark_are_dropped(classic, tmp_path):
    late = (
        [row(0, v=1.0), row(1, v=1.5), row(2, v=9.0)],
        [row(100, v=9.0)],
        [row(100, v=9.5)],
        [row(0, v=100.0), row(101, v=5.0), row(-50, v=100.0)],
        [row(102, v=6.0), row(1, v=100.0), row(97, v=7.0)],
    )
    spec = fl.DeltaFrame({"v": 2})
    requests = {"n": ("count",), "s": ("sum", "v")}
    got = stream(classic, tmp_path, late, lambda df: over(df, spec, requests), delay="5 minutes")
    kept = [one for batch in late for one in batch if one["v"] < 100]
    check(got, kept, spec, requests, unfinished=False, exact=True)


def collected_rows(session, folder, pieces, query, delay):
    """What a stream without a ``window`` gives."""
    inbox = folder / "in"
    inbox.mkdir()
    for number, rows in enumerate([*pieces, [SENTINEL]]):
        write_batch(inbox, number, rows)
    name = f"t{uuid.uuid4().hex}"
    writer = query(source(session, inbox, delay)).writeStream.format("memory").queryName(name)
    writer = writer.outputMode("append").option("checkpointLocation", str(folder / name))
    writer.trigger(availableNow=True).start().awaitTermination()
    return session.sql(f"select *, unix_micros(ts) as at from {name}").toArrow().to_pylist()


@pytest.mark.parametrize("spec", [DELTAS[6], THRESHOLDS[1]], ids=repr)
def test_rows_of_a_stream(classic, tmp_path, spec):
    rows = [one for one in ROWS if one["ts"] is not None]
    got = collected_rows(
        classic,
        tmp_path,
        batches(5, rows),
        lambda df: fl.over(df, spec, time="ts", by=["case", "k"], tiebreak=["seq"]).rows(),
        "5 minutes",
    )
    values = ["v", "n", "d", "s", "w"]
    every = framed(rows, spec, values=values, holds=HOLDS, **PLACE)
    expected = {(*f.key, f.number): sorted(r["ts"] for r in f.rows) for f in every}
    found = {}
    for one in got:
        if one["at"] < FAR:
            found.setdefault((one["case"], one["k"], one["frame_id"]), []).append(one["at"])
    if spec is DELTAS[6]:
        outside = sum(len(times) for at, times in found.items() if at[-1] is None)
        assert outside == len(rows) - sum(map(len, expected.values()))
        assert {k: sorted(v) for k, v in found.items() if k[-1] is not None} == expected
    else:  # rows of open frames that are still too small are held back
        assert all(expected[k] == sorted(v) for k, v in found.items() if k[-1] is not None)
        assert {(*f.key, f.number) for f in every if f.closed} <= found.keys()


def test_filling_a_stream(classic, tmp_path):
    """Rows of a second stream in the frames of the first: as in the batch."""
    rows = [row(t, v=float(t // 5 % 2)) for t in range(21)]  # the last one closes a frame
    more = [row(0, n=t) | {"ts": row(0)["ts"] + t * MINUTE // 2} for t in range(44)]
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, every in ((one, rows), (other, more)):
        folder.mkdir()
        size = len(every) // 4
        for at in range(6):
            write_batch(folder, at, every[at * size : (at + 1) * size])
        write_batch(folder, 6, [SENTINEL | {"k": "a", "case": 0}])
        write_batch(folder, 7, [SENTINEL | {"k": "a", "case": 0, "ts": FAR + 10**12}])
    df = source(classic, one, "1 minute")
    filler = source(classic, other, "1 minute").selectExpr("k as who", "ts as at", "n")
    windowed = fl.over(df, fl.ThresholdFrame("v > 0"), time="ts", by="k")
    calls = (agg.sum("n"), agg.count())
    result = windowed.fill(filler, *calls, time="at", by="who", longest="4 minutes")
    name = f"t{uuid.uuid4().hex}"
    writer = result.writeStream.format("memory").queryName(name).outputMode("append")
    writer = writer.option("checkpointLocation", str(tmp_path / name)).trigger(availableNow=True)
    writer.start().awaitTermination()
    got = sorted((r.frame_id, r["sum(n)"], r["count(1)"]) for r in classic.table(name).collect())
    # A frame lasts five minutes; what came in its first one is further back than was asked for.
    assert got == [(0, sum(range(12, 20)), 8), (1, sum(range(32, 40)), 8)]


def test_frames_go_on_into_windows(classic, tmp_path):
    """Stays in a cell, cut at report times and summed in sliding windows: as in the batch."""
    rows = [row(t, v=float(t // 5 % 2), n=t // 6) for t in range(40)]
    grid = fl.BoundaryFrame({"v": [0], "n": 1})  # n is the number of the report

    def query(df):
        stays = fl.over(df, grid, time="ts", by=["case", "k"]).agg(v=agg.max("v"))
        stays = stays.where("closed").selectExpr(
            "case", "v", "window_time(window) as at",
            "unix_micros(window.end) - unix_micros(window.start) as stay",
        )  # fmt: skip
        spec = fl.Sliding("12 minutes", "6 minutes")
        return fl.over(stays, spec, time="at", by=["case", "v"]).agg(s=agg.sum("stay"))

    pieces = [rows[low : low + 10] for low in range(0, 40, 10)]
    got = stream(classic, tmp_path, pieces, query, delay="1 minute")
    expected = collected(query(frame(classic, rows)))
    assert sorted(got, key=repr) == sorted(expected, key=repr)
    assert len(expected) > 12
    assert sum(one["s"] for one in expected) == 2 * 36 * MINUTE  # up to the last cut
