"""Keys that are forgotten: a life of a key is a key of its own, however rows come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators import protocol
from fanlight.engine.operators.clock import OVER, UNSEEN, split_lives
from fanlight.engine.operators.protocol import BatchOperator
from tests.helpers.events import MINUTE
from tests.helpers.frames import (
    BOUNDARIES,
    DELTAS,
    DWELLING,
    HOLDS,
    OVERLAPPING,
    REQUESTS,
    SESSIONS,
    SEVERAL,
    SIZED,
    STATES,
    THRESHOLDS,
    query,
)
from tests.helpers.shown import shown
from tests.operators.framed import arrow, cases, in_order, releases, streamed, with_lives
from tests.oracle.frames import frames

SPECS = (
    THRESHOLDS[1], BOUNDARIES[4], DELTAS[6], SIZED[3], SIZED[8], SESSIONS[1], STATES[1],
    STATES[7], STATES[8], DWELLING[1], DWELLING[6], OVERLAPPING[0], OVERLAPPING[4], SEVERAL[0],
    SEVERAL[3], fl.DeltaFrame({"v": 2}, min_rows=3),
)  # fmt: skip
ROWS = cases()


def expected(rows, spec):
    by = ["k", "life"]
    found = frames(with_lives(rows), spec, time="ts", by=by, aggregates=REQUESTS, holds=HOLDS)
    return sorted(
        (
            spark_key(one["k"]), one["window"]["start"], one["window"]["end"], one["frame_id"],
            one["rows"], one["closed"], *(spark_key(one[name]) for name in REQUESTS),
        )
        for one in found
    )  # fmt: skip


def got(tables):
    rows = [row for table in tables for row in table.to_pylist()]
    return sorted(
        (
            spark_key(one["k0"]), one["start"], one["ending"], one["frame"], one["rows"],
            one["closed"], *(spark_key(one[name]) for name in REQUESTS),
        )
        for one in rows
    )  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_frames_of_a_batch(monkeypatch, spec, size):
    monkeypatch.setattr(protocol, "PART", 1)
    lives = 0
    for rows in ROWS[:12]:
        asked, made = query(rows, spec, batch=True, forget_after=MINUTE)
        made = in_order(asked, made)
        pieces = [arrow(asked, made[at : at + size]) for at in range(0, len(made), size)]
        assert got(BatchOperator(asked, None).results(pieces)) == expected(rows, spec)
        lives = max(lives, *(row["life"] for row in with_lives(rows)), 0)
    assert lives


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_frames_of_a_stream(spec):
    @shown(15)
    @given(st.data())
    def check(data):
        rows = data.draw(st.sampled_from(ROWS))
        asked, made = query(rows, spec, forget_after=MINUTE)
        operator, found = streamed(asked, data.draw(releases(made)))
        assert got(found) == expected(rows, spec)
        assert operator.opened().assembly.slots == 0  # nothing is left of any key

    check()


@pytest.mark.parametrize("spec", SPECS[:2], ids=repr)
def test_a_key_is_gone_when_the_watermark_says_so(spec):
    rows = [{"k": "a", "ts": 5, "v": 2.0, "n": 1, "s": "", "w": 1.0}]
    asked, made = query(rows, spec, forget_after=MINUTE)
    for watermark, left in ((5 + MINUTE - 1, 1), (5 + MINUTE, 0)):
        operator, _ = streamed(asked, [(made, 5), ([], watermark)])
        assert operator.opened().assembly.slots == left


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40)), max_size=12))
def test_rows_are_split_where_a_silence_is_too_long(rows):
    rows = sorted(rows)
    codes, times = (np.array([row[at] for row in rows], np.int64) for at in (0, 1))
    seen = np.array([UNSEEN, -7, 3])
    lives = split_lives(codes, times, times, seen, 10)
    last, names = dict(enumerate(seen.tolist())), {0: 0, 1: 1, 2: 2}
    for (code, time), life in zip(rows, lives.codes.tolist(), strict=True):
        if last[code] != UNSEEN and time - last[code] > 10:
            names[code] = life
            assert life >= 3
        assert names[code] == life
        last[code] = time
    assert {names[code]: last[code] for code in names}.items() <= dict(
        enumerate(lives.seen)
    ).items()
    assert sum(lives.seen == OVER) == len(lives.begun)
