"""Frames and sessions given while they are open: what a table of the latest of each has in the end.

That final results are those of append mode is one of the laws (tests/law/kinds/frames.py).
"""

from __future__ import annotations

import sqlite3

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.frames import keep_first, recovers, weakens
from tests.helpers.streams import finish, gather_batches, keep_latest, stream_of
from tests.law.data import minute

DELAY = "2 minutes"
VALUES = {"x": (0, 2, 3, 3, 1, 0, 2, 2, 2, 4), "y": (2, 2, 0, 1, 3, 3, 3, 0, 0, 2)}
FLAT = [
    minute(2 * at, k=k, n=at, s="ab"[value % 2], v=float(value))
    for k, values in VALUES.items()
    for at, value in enumerate(values)
] + [minute(29, k="x", n=5, s="b", v=2.0)]  # after a silence
MIXED = sorted(FLAT, key=lambda row: (row["ts"] // (4 * MINUTE), row["n"] % 2 == 0))
ROWS = [MIXED[at : at + 4] for at in range(0, len(MIXED), 4)]
QUIET = [minute(90, k="z", n=0, v=0.0)]  # after which all of ROWS is behind the watermark
ASKED = {"n": agg.count(), "m": agg.median("n"), "all": agg.collect_list("s")}
SPECS = {
    "sessions": fl.Session("5 minutes", min_rows=2),
    "threshold": fl.ThresholdFrame("v > 1", min_duration="1 minute"),
    "dwelling": fl.ThresholdFrame("v > 1", enter_for="2 minutes", leave_for="2 minutes"),
    "delta": fl.DeltaFrame({"v": 2}, max_gap="6 minutes"),
    "aggregate": fl.AggregateFrame(agg.sum("v"), 5),
    "states": fl.StateFrame("s"),
    "cells": fl.BoundaryFrame({"v": 1}, overlapping=True),
    "several": fl.PredicateFrame(
        weakens, recovers, columns=["v"], update=keep_first, overlapping=True
    ),
}


def frames(df, spec, **more):
    return fl.over(df, spec, **{"time": "ts", "by": "k", **more})


def key_of(row):
    return row["k"], row["frame_id"]


def frame_so_far(row, end):
    """What is given of a frame; state frames have ``s``, too."""
    names = ("frame_id", "rows", "s", *ASKED)
    return {"start": row["window"]["start"], "end": end, **{one: row.get(one) for one in names}}


def given(table):
    """Of each frame whether it is final, and what is given of it."""
    return {
        key: (row["final"], frame_so_far(row, row["window"]["end"])) for key, row in table.items()
    }


def wanted(rows, now, found):
    """The same of a batch over the rows: what time has not closed by ``now`` is open."""
    frames_ = {}
    for row in found:
        final = row["closed"] and row["window"]["end"] <= now
        end = row["window"]["end"]
        if not final:
            end = 1 + max(one["ts"] for one in rows if one["k"] == row["k"])
        frames_[key_of(row)] = final, frame_so_far(row, end)
    return frames_


def passed_by(rows):
    """The watermark after the last of the rows."""
    return max(row["ts"] for row in rows) - 2 * MINUTE


@pytest.mark.streaming
@pytest.mark.parametrize("about", SPECS)
def test_the_latest_results_are_those_of_the_rows_so_far(classic, tmp_path, about):
    """After each start of the query, of the rows that the watermark has passed."""
    spec, seen, kept, opened = SPECS[about], [], {}, 0
    for part in (ROWS[:2], ROWS[2:4], ROWS[4:], [QUIET]):
        seen += [row for rows in part for row in rows]
        rows, now = stream_of(classic, tmp_path, part, DELAY), passed_by(seen)
        found = frames(rows, spec, tiebreak="n").early().agg(**ASKED)
        for key, row in keep_latest(key_of, gather_batches(found, tmp_path)).items():
            assert not kept.get(key, {}).get("final")
            assert row["final"] == row["closed"]
            kept[key] = row
        rows = [row for row in seen if row["ts"] <= now]
        batch = collected(frames(frame(classic, rows), spec, tiebreak="n").agg(**ASKED))
        assert given(kept) == wanted(rows, now, batch)
        opened += sum(not row["final"] for row in kept.values())
    assert opened
    assert any(row["final"] for row in kept.values())


@pytest.mark.streaming
def test_changes_are_given_no_more_than_asked(classic, tmp_path):
    """Once the watermark has passed a multiple of ``every``; what is closed comes at once."""
    spec, early, final = SPECS["delta"], {}, {}
    for every in (None, "10 minutes"):
        folder = tmp_path / str(every)
        rows = stream_of(classic, folder, [*ROWS, QUIET], DELAY)
        found = frames(rows, spec, tiebreak="n").early(every).agg(**ASKED)
        batches = gather_batches(found, folder)
        early[every] = sum(not row["final"] for batch in batches for row in batch)
        table = keep_latest(key_of, batches)
        final[every] = {key: one for key, one in given(table).items() if one[0]}
    batch = collected(frames(frame(classic, FLAT), spec, tiebreak="n").agg(**ASKED))
    every = wanted(FLAT, QUIET[0]["ts"], batch)
    assert final == {None: every, "10 minutes": every}
    assert 0 < early["10 minutes"] < early[None]


@pytest.mark.streaming
def test_a_table_by_key_and_frame_is_the_batch(classic, tmp_path):
    """Bounds alone, without aggregates, and without keys."""
    spec, seen = fl.Session("1 minute"), sorted(FLAT[:-1], key=lambda row: row["ts"])
    now = passed_by(seen)
    rows = stream_of(classic, tmp_path, [seen[:9], seen[9:]], DELAY)
    write = fl.upsert(f"sqlite:///{tmp_path / 'frames.db'}", table="sessions", key="frame_id")
    finish(frames(rows, spec, by=()).early().frames(), tmp_path, write, "update")
    with sqlite3.connect(tmp_path / "frames.db") as read:
        asked = "SELECT frame_id, rows, closed, final FROM sessions ORDER BY frame_id"
        have = read.execute(asked).fetchall()
    passed = frame(classic, [row for row in seen if row["ts"] <= now])
    batch = sorted(
        (r["frame_id"], r["rows"]) for r in collected(frames(passed, spec, by=()).frames())
    )
    assert [row[:2] for row in have] == batch
    assert [row[2:] for row in have] == [(1, 1)] * 8 + [(0, 0)]


def test_early_is_refused_where_it_cannot_be(classic, tmp_path):
    rows = stream_of(classic, tmp_path, ROWS[:1], DELAY)
    early = frames(rows, SPECS["sessions"]).early()
    small = fl.ThresholdFrame("v > 1", leave_for="2 minutes", min_rows=2)
    for made, why in (
        (lambda: frames(rows, small).early(), "too small once its last rows have left it"),
        (lambda: frames(rows, SPECS["delta"]).early("0 seconds"), "must be positive"),
        (lambda: frames(rows, SPECS["delta"]).early(5), "is a number, but"),
        (lambda: frames(rows.withColumnRenamed("k", "final"), SPECS["delta"], by="final").early(),
         "by='final' clashes with the output column 'final'"),
        (lambda: frames(rows.withColumnRenamed("s", "final"), fl.StateFrame("final")).early(),
         "which is the name of a state"),
        (lambda: early.agg(final=agg.count()), "clashes with the output column 'final'"),
    ):  # fmt: skip
        with pytest.raises(fl.FanlightError, match=why):
            made()
    assert "update: each window when it has changed" in early.explain()
    assert "update: each window" not in frames(rows, SPECS["sessions"]).explain()
