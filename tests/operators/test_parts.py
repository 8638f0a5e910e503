"""Frames given in parts, at report times: however rows come in, as each part's rows say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fanlight as fl
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators import protocol
from fanlight.engine.operators.frames import parts
from fanlight.engine.operators.protocol import BatchOperator
from tests.helpers.events import MINUTE
from tests.helpers.frames import HOLDS, SESSIONS, SIZED, SPECS, STATES, query
from tests.helpers.shown import shown
from tests.operators.framed import PIECES, ROWS, arrow, in_order, releases, streamed, with_lives
from tests.oracle.frames import framed
from tests.oracle.parts import parts as expected_parts

WHOLE = [spec for spec in SPECS if not query([], spec)[0].scheme.drops_small_frames]
EVERY = (40_000_000, MINUTE, 7 * MINUTE)
LIVES = [SIZED[6], SIZED[9], SESSIONS[0], STATES[0], STATES[9], fl.DeltaFrame({"v": 2})]


def aggregates_of(rows):
    """The sum of ``n``, how many ``v`` there are, and the greatest ``s``."""
    numbers = [row["n"] for row in rows if row["n"] is not None]
    texts = [row["s"] for row in rows if row["s"] is not None]
    counted = sum(row["v"] is not None for row in rows)
    return len(rows), sum(numbers) if numbers else None, counted, max(texts, default=None)


def expected(rows, spec, every, **more):
    by = ["k"]
    if "remembered" in more:
        rows, by = with_lives(rows), ["k", "life"]
    found = framed(rows, spec, time="ts", by=by, values=["n", "v", "s"], holds=HOLDS)
    made = (
        (spark_key(key), *rest[len(by) - 1 :])
        for key, *rest in expected_parts(found, every, aggregates_of, time="ts", **more)
    )
    return sorted(made, key=spark_key)


def got(tables):
    rows = [row for table in tables for row in table.to_pylist()]
    made = (
        (
            spark_key(one["k0"]), one["frame"], one["start"], one["ending"], one["closed"],
            (one["rows"], one["f0"], one["f1"], one["f2"]),
        )
        for one in rows
    )  # fmt: skip
    return sorted(made, key=spark_key)


def in_batch(rows, spec, size, **more):
    asked, made = query(rows, spec, batch=True, **more)
    made = in_order(asked, made)
    pieces = [arrow(asked, made[at : at + size]) for at in range(0, len(made), size)]
    return got(BatchOperator(asked, None).results(pieces))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("spec", WHOLE, ids=repr)
def test_parts_in_a_batch(monkeypatch, spec, size):
    monkeypatch.setattr(protocol, "PART", 1)
    seen = 0
    for at, rows in enumerate(PIECES[size]):
        every = EVERY[at % len(EVERY)]
        found = in_batch(rows, spec, size, every=every)
        assert found == expected(rows, spec, every)
        seen += len(found)
    assert seen >= len(PIECES[size])


def until(plan, later):
    """The plan, with a last watermark that is not long after the last row."""
    times = [row[1] for rows, _ in plan for row in rows]
    now = max(times, default=0) + later
    return [*plan[:-1], (plan[-1][0], now)] if plan else plan, now


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", WHOLE, ids=repr)
def test_parts_in_a_stream(spec):
    @shown(25)
    @given(st.data())
    def check(data):
        rows, every = data.draw(st.sampled_from(ROWS)), data.draw(st.sampled_from(EVERY))
        asked, made = query(rows, spec, every=every)
        later = data.draw(st.sampled_from((0, MINUTE, 9 * MINUTE)))
        plan, now = until(data.draw(releases(made)), later)
        _, found = streamed(asked, plan)
        assert got(found) == expected(rows, spec, every, now=now)

    check()


@pytest.mark.parametrize("spec", LIVES, ids=repr)
def test_parts_of_keys_that_are_forgotten(monkeypatch, spec):
    monkeypatch.setattr(protocol, "PART", 1)
    asked_of = {"forget_after": MINUTE}

    @shown(25)
    @given(st.data())
    def check(data):
        rows, every = data.draw(st.sampled_from(ROWS)), data.draw(st.sampled_from(EVERY))
        wanted = expected(rows, spec, every, remembered=MINUTE)
        assert in_batch(rows, spec, 3, every=every, **asked_of) == wanted
        asked, made = query(rows, spec, every=every, **asked_of)
        plan, _ = until(data.draw(releases(made)), 99 * MINUTE)
        _, found = streamed(asked, plan)
        assert got(found) == wanted

    check()


def test_a_part_is_due_at_its_report_time():
    rows = [{"k": "a", "ts": t * MINUTE, "v": 2.0, "n": 1, "s": ""} for t in (0, 1)]
    asked, made = query(rows, fl.ThresholdFrame("v > 1"), every=5 * MINUTE)
    operator, _ = streamed(asked, [(made, MINUTE)])
    assert operator.next_time == 5 * MINUTE
    assert operator.release(5 * MINUTE - 1) is None
    part = operator.release(5 * MINUTE).to_pylist()
    assert [(one["ending"], one["rows"]) for one in part] == [(5 * MINUTE, 2)]
    assert operator.next_time == 10 * MINUTE


def test_more_parts_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(parts, "_MOST", 100)
    rows = [{"k": "a", "ts": t * MINUTE, "v": 2.0, "n": 1, "s": ""} for t in (0, 99, 300)]
    spec = fl.ThresholdFrame("v > 1")
    assert len(in_batch(rows[:2], spec, 9, every=MINUTE)) == 100
    with pytest.raises(fl.FanlightError, match=r"into 202 parts at once.*max_gap="):
        in_batch(rows[1:], spec, 9, every=MINUTE)
