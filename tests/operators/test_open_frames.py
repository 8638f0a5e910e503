"""Frames given while open: by the definition, of the rows that the watermark has passed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight import DeltaFrame
from fanlight.engine.algebra.ordering import spark_key
from tests.helpers.events import MINUTE
from tests.helpers.frames import (
    CALCULATED,
    DISTINCT,
    DWELLING,
    HOLDS,
    OVERLAPPING,
    SESSIONS,
    SEVERAL,
    SIZED,
    SPECS,
    STATES,
    query,
)
from tests.helpers.grouped import Grouped
from tests.helpers.shown import shown
from tests.operators.framed import cases, got, releases, streamed
from tests.oracle.frames import framed

ROWS = cases()
EVERY_SPEC = [
    spec for spec in (*SPECS, *CALCULATED, *DISTINCT, *OVERLAPPING, *SEVERAL, *DWELLING)
    if not query([], spec)[0].scheme.may_vanish
]  # fmt: skip
FINAL = 3  # its place in what is told of a frame
LIVES = [SIZED[6], SIZED[9], SESSIONS[0], STATES[0], STATES[8], SEVERAL[0]]


def aggregates_of(frame):
    numbers = [row["n"] for row in frame.rows if row["n"] is not None]
    texts = [row["s"] for row in frame.rows if row["s"] is not None]
    counted = sum(row["v"] is not None for row in frame.rows)
    return len(frame.rows), sum(numbers) if numbers else None, counted, max(texts, default=None)


def expected(rows, spec, now):
    """Frames of the rows up to ``now``, by key and number, and what time has closed by then."""
    rows = [row for row in rows if row["ts"] is not None and row["ts"] <= now]
    least, found = spec.least, {}
    for one in framed(rows, spec, time="ts", by=["k"], values=["n", "v", "s"], holds=HOLDS):
        final, end = one.closed and one.end <= now, one.end
        if not final:
            end = max(row["ts"] for row in one.rows) + 1
            shortest = math.ceil(least.duration.value) if least and least.duration else 0
            if end - one.start < shortest:
                continue
        found[spark_key(one.key[0]), one.number] = (
            one.start,
            end,
            final,
            final,
            *aggregates_of(one),
        )
    return found


def taken(table):
    rows = [] if table is None else table.to_pylist()
    found = {
        (spark_key(row["k0"]), row["frame"]): (
            row["start"], row["ending"], row["closed"], row["final"],
            row["rows"], row["f0"], row["f1"], row["f2"],
        )
        for row in rows
    }  # fmt: skip
    assert len(found) == len(rows)
    return found


def test_only_a_frame_that_is_left_after_a_while_may_end_too_small():
    """The last rows of such a frame leave it, so it is not given early."""
    vanishing = {spec for spec in DWELLING if query([], spec)[0].scheme.may_vanish}
    assert vanishing == {
        one for one in DWELLING if one.leave_for and (one.least.rows > 1 or one.least.duration)
    }
    assert len(vanishing) == 3


@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", EVERY_SPEC, ids=repr)
def test_the_latest_of_each_frame_is_that_of_the_rows_so_far(spec):
    @shown(25)
    @given(st.data())
    def check(data):
        rows = data.draw(st.sampled_from(ROWS))
        every = data.draw(st.sampled_from((0, MINUTE, 7 * MINUTE)))
        asked, made = query(rows, spec, early=every)
        plan = data.draw(releases(made))
        last = max((row[1] for row in made), default=0) + data.draw(st.integers(0, 3)) * MINUTE
        marks = [*(mark for _, mark in plan[:-1]), last][: len(plan)]
        operator, latest, before, reported = Grouped(asked), {}, -math.inf, -math.inf
        for (part, _), now in zip(plan, marks, strict=True):
            operator.feed(part)
            found = taken(operator.release(now))
            given_early = {key for key, row in found.items() if not row[FINAL]}
            assert not any(latest[key][FINAL] for key in found if key in latest)
            latest |= found
            if not every or before == -math.inf or before // every < now // every:
                assert latest == expected(rows, spec, now)
                of = {spark_key(row[0]) for row in made if reported < row[1] <= now}
                assert {key for key, _ in given_early} <= of
                reported = now
            else:
                assert not given_early
            before = now
            operator = operator.restarted()

    check()


@pytest.mark.parametrize("spec", LIVES, ids=repr)
def test_of_a_key_that_is_forgotten_the_open_frame_is_final(spec):
    @shown(25)
    @given(st.data())
    def check(data):
        rows = data.draw(st.sampled_from(ROWS))
        early, made = query(rows, spec, forget_after=MINUTE, early=data.draw(st.integers(0, 1)))
        plan = data.draw(releases(made))
        _, found = streamed(early, plan)
        final = [table.filter(table["final"]) for table in found]
        wanted, _ = query(rows, spec, forget_after=MINUTE)
        assert sorted(got(final)) == sorted(got(streamed(wanted, plan)[1]))

    check()


def test_a_key_is_due_when_what_has_changed_is_to_be_given():
    """Also if time never closes a frame; and not again once it has been given."""
    spec = DeltaFrame({"v": 9})
    rows = [{"k": "a", "ts": t * MINUTE, "v": 2.0, "n": 1, "s": ""} for t in (0, 1)]
    asked, made = query(rows, spec, early=5 * MINUTE)
    operator = Grouped(asked)
    operator.feed(made[:1])
    assert operator.release(0)["rows"].to_pylist() == [1]  # the first watermark
    operator.feed(made[1:])
    assert operator.release(MINUTE) is None
    operator = operator.restarted()
    assert operator.next_time == 5 * MINUTE
    assert operator.release(5 * MINUTE)["rows"].to_pylist() == [2]
    assert operator.next_time is None


def test_the_state_has_no_more_than_without():
    """Unless frames are given early, for which it is one number a key."""
    assert set(names_of(0)) - set(names_of(None)) == {"changed"}


def names_of(early):
    asked, _ = query([], SPECS[0], early=early)
    return asked.start().snapshot().tables[0].column_names
