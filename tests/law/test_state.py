"""What a stream keeps stays level, however long it runs: by what Spark itself measures."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.sparks import PROVIDER, ROCKSDB
from tests.helpers.streams import finish, source, write_files
from tests.law.data import minute
from tests.law.run import beside

pytestmark = [pytest.mark.spark, pytest.mark.streaming, pytest.mark.thorough]

WIDEST = 4  # minutes
FILES, PER_FILE = 14, 32  # a file is a micro-batch: of so many minutes, eight times the widest
WARM = 4  # micro-batches until the state is what it goes on to be
SECONDS = 10  # from one row of a key to the next
KEYS = ("a", "b", "c")
PASSING = 200  # keys of a micro-batch of which each has a few rows, and then none any more
LIST = [fl.Sliding("1 minute"), fl.Sliding("4 minutes", "20 seconds")]
LEVELS = fl.MultiGranular(["1 minute", "4 minutes"], ["20 seconds", "1 minute"])
PAIR = ("began", "ts")
EVENTS = fl.Sliding("4 minutes", "1 minute")


def windows(spec, strategy="auto", time="ts", **more):
    """A query that adds up a column, and keeps the greatest value of another."""

    def query(df):
        found = fl.over(df, spec, time=time, by="k", **more).using(strategy)
        return found.agg(s=agg.sum("n"), high=agg.max("v"), m=agg.median("v"))

    return query


def detected(df):
    def rising(rows):  # nested, so that it goes to workers with its code
        values = rows.column("v").to_pylist()
        return [{"what": len(values)}] if values == sorted(values) and len(values) > 9 else []

    spec = fl.ProgressiveWidening("10 seconds", max_duration="4 minutes", max_rows=20)
    return fl.over(df, spec, time="ts", by="k").detect(rising, "what int", columns=["v"])


def filled(df, **more):
    frames = fl.over(df, fl.ThresholdFrame("v > 3"), time="ts", by="k", **more)
    return frames.fill(df, time="ts", by="k", max_duration="4 minutes").rows()


def rows_of_frames(df, **more):
    return fl.over(df, fl.DeltaFrame({"v": 2}), time="ts", by="k", **more).rows()


def fitted(df, **more):
    return fl.over(df, LEVELS, time="ts", by="k", **more).fit("v", filled=True)


def looked_back(*specs, other=False, **more):
    """Rows, or the same as another stream, with what there was before them."""

    def query(df):
        found = fl.over(df, dict(zip("ab", specs, strict=False)), time="ts", by="k", **more)
        asked = {"s": agg.sum("n"), "high": agg.max("v")}
        return found.at(df, time="ts").attach(**asked) if other else found.attach(**asked)

    return query


def forgetting(query):
    return lambda df: query(df, **KEPT_FOR)


# What goes on counting for a key as long as the query lives.
COUNTING = {
    "trend lines", "windows over rows", "frames", "delta frames", "sessions", "rows of frames",
    "filled frames", "all before",
}  # fmt: skip
KEPT_FOR = {"forget_after": "4 minutes"}
# Of each kind what keeps a state of its own.
KINDS = {
    "panes": windows(fl.Sliding("4 minutes", "20 seconds"), "panes"),
    "copies of rows": windows(fl.Sliding("4 minutes", "20 seconds"), late="open"),
    "a list": windows(LIST),
    "levels": windows(LEVELS),
    "levels in a chain": windows(LEVELS, "chain"),
    "trend lines": fitted,
    "windows over rows": windows(fl.Sliding(fl.Rows(24), fl.Rows(6))),
    "a window at every row": windows(fl.Sliding("4 minutes", fl.Rows(1))),
    "events in cells": windows(EVENTS, "cells", time=PAIR),
    "events in an operator": windows(EVENTS, "se-slicing", time=PAIR),
    "frames": windows(fl.ThresholdFrame("v > 3")),
    "delta frames": windows(fl.DeltaFrame({"v": 2})),
    "sessions": windows(fl.Session("20 seconds", max_duration="4 minutes")),
    "rows of frames": rows_of_frames,
    "filled frames": filled,
    "widened": detected,
    "features": looked_back(fl.Trailing("4 minutes")),
    "features of others": looked_back(fl.Trailing("3 minutes", delay="1 minute"), other=True),
    "all before": looked_back(fl.Trailing(), fl.Trailing(fl.Rows(3))),
    **{
        f"{name}, forgetting": query
        for name, query in {
            "trend lines": forgetting(fitted),
            "windows over rows": windows(fl.Sliding(fl.Rows(24), fl.Rows(6)), **KEPT_FOR),
            "frames": windows(fl.ThresholdFrame("v > 3"), **KEPT_FOR),
            "delta frames": windows(fl.DeltaFrame({"v": 2}), **KEPT_FOR),
            "sessions": windows(fl.Session("20 seconds"), **KEPT_FOR),
            "rows of frames": forgetting(rows_of_frames),
            "filled frames": forgetting(filled),
            "all before": looked_back(fl.Trailing(), fl.Trailing(fl.Rows(3)), **KEPT_FOR),
        }.items()
    },
}


def arriving(number):
    """The rows of a micro-batch: values rise and fall, and none are late."""
    steps = range(number * PER_FILE * 60 // SECONDS, (number + 1) * PER_FILE * 60 // SECONDS)
    return [row(step, key) for step in steps for key in KEYS]


def passing(number):
    """Rows of keys that no other micro-batch has."""
    first = number * PER_FILE * 60 // SECONDS
    return [
        row(first + 2 * at + place % 7, f"{place} of {number}")
        for place in range(PASSING)
        for at in range(3)
    ]


def row(step, key):
    ts = minute(0)["ts"] + step * SECONDS * 1_000_000
    made = minute(0, k=key, v=float(step % 17), n=step, seq=step)
    return {**made, "ts": ts, "began": ts - (step % 5) * 30_000_000}


@pytest.fixture(scope="module", params=["the same keys", "keys that come and go"])
def kept(classic, tmp_path_factory, request):
    """Of each kind and micro-batch: rows in the state, and bytes that were written to it."""
    folder = tmp_path_factory.mktemp("state")
    same = request.param == "the same keys"
    write_files(folder / "in", *map(arriving if same else passing, range(FILES)))
    session = beside(
        classic,
        (PROVIDER, ROCKSDB),
        ("spark.sql.shuffle.partitions", "1"),
        ("spark.sql.streaming.numRecentProgressUpdates", "1000"),
    )
    return same, {name: measured(session, folder, name) for name in KINDS}


def measured(session, folder, name):
    result = KINDS[name](source(session, folder / "in", "1 minute"))
    rows, written = [], []
    for progress in finish(result, folder / name.replace(" ", "_")).recentProgress:
        if progress["numInputRows"]:
            states = progress["stateOperators"]
            rows.append(sum(state["numRowsTotal"] for state in states))
            written.append(
                sum(state["customMetrics"]["rocksdbTotalBytesWritten"] for state in states)
            )
    return rows, written


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["rows", "bytes"])
def test_state_stays_level(kept, kind, what):
    same, found = kept
    counts = found[kind][what == "bytes"]
    assert len(counts) == FILES
    assert FILES * PER_FILE > 100 * WIDEST
    before, after = counts[WARM : FILES // 2 + WARM // 2], counts[FILES // 2 + WARM // 2 :]
    assert max(counts) > 0
    level = max(after) <= 1.1 * max(before)
    if same or kind not in COUNTING:
        assert level, counts
    elif what == "bytes":
        assert not level, f"{kind} grow no more: say so, here and on their page"


def test_what_goes_on_counting_can_be_told_to_forget():
    assert {f"{kind}, forgetting" for kind in COUNTING} <= set(KINDS)
