"""Why frames ended: what ``agg.cause`` says, against its definition, and where it is refused."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.frames import (
    AGGREGATES,
    BOUNDARIES,
    DELTAS,
    DWELLING,
    HOLDS,
    OVERLAPPING,
    OWN_GAP,
    SESSIONS,
    SEVERAL,
    SIZED,
    STATES,
    THRESHOLDS,
)
from tests.helpers.streams import gather, gather_batches, keep_latest, stream_of
from tests.law.data import minute, points
from tests.oracle import frames as oracle

BY, TIE = ("case", "k"), ("seq",)
WORDS = {
    fl.ThresholdFrame: "predicate", fl.PredicateFrame: "predicate", fl.BoundaryFrame: "boundary",
    fl.StateFrame: "state", fl.DeltaFrame: "delta", fl.AggregateFrame: "limit",
}  # fmt: skip
ARROW = {
    "thresholds": (THRESHOLDS[1], THRESHOLDS[3], *SIZED[:3]),
    "dwelling": (DWELLING[2], *DWELLING[5:]),
    "functions": (SIZED[3], *SEVERAL[2:5]),
    "boundaries": (*SIZED[4:6], *OVERLAPPING[2:]),
    "deltas": (DELTAS[1], *SIZED[6:9]),
    "limits": (AGGREGATES[3], *SIZED[9:13]),
    "states": (STATES[1], *STATES[4:]),
    "sessions": SESSIONS,
}
NATIVE = (THRESHOLDS[1], BOUNDARIES[0], STATES[2], SESSIONS[1], SESSIONS[3])
ROWS = points(fl.Sliding("4 minutes", "1 minute"))
WHY = {"why": agg.cause()}


def length(extent):
    return extent and extent.value


def why(found, spec, *, forgets=False):
    """The definition, over the rows of a frame of the oracle."""
    if not found.closed:
        return "forgotten" if forgets else None
    most, times = spec.most, [row["ts"] for row in found.rows]
    if isinstance(spec, fl.Session):
        gaps = [length(spec.gap) or HOLDS[OWN_GAP](row) for row in found.rows]
        longest = length(spec.max_duration)
    else:
        gaps = [most and length(most.gap)] * len(times)
        longest = most and length(most.duration)
    if gaps[0] and found.end == max(t + gap for t, gap in zip(times, gaps, strict=True)):
        return "gap"
    if longest and found.end == found.start + longest:
        return "duration"
    if most and len(times) == most.rows:
        return "rows"
    return WORDS[type(spec)]


def wanted(rows, spec):
    found = oracle.framed(rows, spec, time="ts", by=BY, tiebreak=TIE, holds=HOLDS)
    return {(*one.key, one.number): why(one, spec) for one in found}


def causes(df, by=BY):
    return {(*(row[key] for key in by), row["frame_id"]): row["why"] for row in collected(df)}


@pytest.mark.parametrize("about", ARROW)
def test_what_ended_each_frame(classic, about):
    met = set()
    for spec in ARROW[about]:
        windows = fl.over(frame(classic, ROWS.rows), spec, time="ts", by=[*BY], tiebreak=[*TIE])
        want = wanted(ROWS.rows, spec)
        assert causes(windows.using("arrow").agg(**WHY)) == want, spec
        met |= set(want.values())
    words = {WORDS[type(spec)] for spec in ARROW[about] if not isinstance(spec, fl.Session)}
    assert met >= {"gap", "rows", *words}


def test_the_same_by_spark_alone_or_where_spark_groups_the_rows(classic):
    for spec in NATIVE:
        windows = fl.over(frame(classic, ROWS.rows), spec, time="ts", by=[*BY], tiebreak=[*TIE])
        want = wanted(ROWS.rows, spec)
        assert causes(windows.using("native").agg(**WHY)) == want, spec
    for spec in (SESSIONS[4], SIZED[7]):
        windows = fl.over(frame(classic, ROWS.rows), spec, time="ts", by=[*BY], tiebreak=[*TIE])
        found = windows.agg(**WHY, all=agg.collect_list("n"))
        assert causes(found) == wanted(ROWS.rows, spec), spec


FLAT = [
    minute(at, k=k, n=at, s=state, v=float(at))
    for k, states in {"x": "aab....bbbbb..........", "y": "a........bb"}.items()
    for at, state in enumerate(states)
    if state != "."
]
STATE = fl.StateFrame("s", max_gap="3 minutes", max_rows=4)
FOUND = {("x", 0): "state", ("x", 1): "gap", ("x", 2): "rows", ("x", 3): "gap",
         ("y", 0): "gap", ("y", 1): "gap"}  # fmt: skip


def of_states(df, spec=STATE, **more):
    return fl.over(df, spec, time="ts", by="k", tiebreak="n", **more)


def test_an_example_of_each_word(spark):
    df = frame(spark, FLAT)
    assert causes(of_states(df).agg(**WHY), "k") == FOUND
    open_ended = fl.StateFrame("s")
    assert causes(of_states(df, open_ended).agg(**WHY), "k") == {
        ("x", 0): "state", ("x", 1): None, ("y", 0): "state", ("y", 1): None
    }  # fmt: skip
    short = of_states(df, fl.StateFrame("s", max_duration="3 minutes")).agg(**WHY)
    assert set(causes(short, "k").values()) == {"state", "duration"}


@pytest.mark.parametrize("strategy", ["arrow", "native"])
def test_what_nothing_closed_was_forgotten(classic, strategy):
    kept = of_states(frame(classic, FLAT), fl.StateFrame("s"), forget_after="4 minutes")
    found = kept.using(strategy).agg(**WHY)
    lives = sorted(
        (row["k"], (row["window"]["start"] - FLAT[0]["ts"]) // MINUTE, row["why"])
        for row in collected(found)
    )
    assert lives == [
        ("x", 0, "state"), ("x", 2, "forgotten"), ("x", 7, "forgotten"),
        ("y", 0, "forgotten"), ("y", 9, "forgotten"),
    ]  # fmt: skip
    assert dict(found.dtypes)["why"] == "string"


def test_in_sql_and_in_functions(spark):
    df = frame(spark, FLAT)
    asked = (
        "SELECT k, frame_id, cause() AS why, count(*) AS n, concat('by ', cause()) AS text "
        "FROM df [WATTR ts PARTITION BY k FRAME STATE s MAX 4 ROWS MAX GAP 3 MINUTES]"
    )
    found = collected(fl.sql(asked, df=df))
    assert {(row["k"], row["frame_id"]): row["why"] for row in found} == FOUND
    assert all(row["text"] == f"by {row['why']}" for row in found)
    upper = agg.cause().transform(lambda word: word.substr(1, 1))
    assert {row["a"] for row in collected(of_states(df).agg(a=upper))} == {"s", "g", "r"}


def test_parts_fillings_and_repaired_frames_have_the_cause_of_the_whole_frame(classic):
    df = frame(classic, FLAT)
    parts = collected(of_states(df).split("1 minute", **WHY))
    assert {(row["k"], row["frame_id"]): row["why"] for row in parts} == FOUND
    filled = of_states(df).fill(df, time="ts", own=WHY).agg(agg.count())
    assert causes(filled, "k") == FOUND
    late = [row for row in FLAT if row["k"] == "y" and row["n"] == 10]
    early = [row for row in FLAT if row not in late]
    before = of_states(frame(classic, early), fl.StateFrame("s"))
    stored = before.agg(**WHY)
    changed = minute(12, k="y", n=12, s="c", v=0.0)
    repaired = before.repair(frame(classic, [*late, changed]), stored, **WHY)
    assert causes(repaired, "k") == {("y", 1): "state", ("y", 2): None}


BATCHES = [sorted(FLAT, key=lambda row: row["ts"])[at : at + 5] for at in range(0, len(FLAT), 5)]
QUIET = [minute(90, k="z", n=0, v=0.0)]
STREAMED = {
    "states": (STATE, {}),
    "own gap": (fl.Session("if(n % 3 = 0, 3, 1) * interval '1' minute", max_rows=3), {}),
    "forgotten": (fl.StateFrame("s"), {"forget_after": "4 minutes"}),
    "several conditions": (fl.AggregateFrame([agg.count(), agg.max("n")], [3, 9]),
                           {"forget_after": "4 minutes"}),
}  # fmt: skip


@pytest.mark.streaming
@pytest.mark.parametrize("about", STREAMED)
def test_a_stream_says_what_a_batch_says(classic, tmp_path, about):
    spec, more = STREAMED[about]
    rows = stream_of(classic, tmp_path, [*BATCHES, QUIET], "1 minute")
    asked = {**WHY, "n": agg.count(), "first": agg.min("s")}
    found = gather(of_states(rows, spec, **more).agg(**asked), tmp_path)
    batch = collected(of_states(frame(classic, FLAT), spec, **more).agg(**asked))
    assert sorted(map(repr, found)) == sorted(map(repr, batch))
    assert None not in {row["why"] for row in found}
    assert ("forgotten" in {row["why"] for row in found}) == bool(more)


@pytest.mark.streaming
@pytest.mark.parametrize("more", [{}, {"forget_after": "4 minutes"}])
def test_a_frame_that_is_open_yet_has_no_cause(classic, tmp_path, more):
    rows = stream_of(classic, tmp_path, [*BATCHES, QUIET], "1 minute")
    found = of_states(rows, fl.StateFrame("s"), **more).early().agg(**WHY)
    batches = gather_batches(found, tmp_path)
    given = [row for rows in batches for row in rows]
    assert all((row["why"] is None) == (not row["final"]) for row in given)
    assert {row["why"] for row in given} == {None, "state", *(["forgotten"] if more else [])}
    latest = keep_latest(lambda row: (row["k"], row["window"]["start"]), batches)
    assert {row["why"] for row in latest.values()} >= {"forgotten" if more else "state"}


def refused(words, ask):
    with pytest.raises(fl.FanlightError, match=words) as caught:
        ask()
    assert "; " in str(caught.value)


def test_what_has_no_cause_says_so(classic):
    df = frame(classic, FLAT)
    not_framed = "says why a frame ended, and these windows are not frames"
    for spec in (
        fl.Sliding("1 hour"), fl.Sliding(fl.Rows(3)), fl.Calendar("1 day", zone="UTC"),
        fl.MultiGranular(["1 minute", "1 hour"], ["1 second", "5 minutes"]),
        [fl.Sliding("1 hour"), fl.Sliding("2 hours")],
    ):  # fmt: skip
        refused(not_framed, lambda spec=spec: fl.over(df, spec, time="ts").agg(agg.cause()))
    lasting = df.selectExpr("*", "ts + interval '1' minute as stop")
    refused(not_framed, lambda: fl.over(lasting, fl.Snapshot(), time=("ts", "stop")).agg(**WHY))
    trailing = fl.over(df, fl.Trailing("1 hour"), time="ts", tiebreak="n")
    refused(not_framed, lambda: trailing.attach(agg.cause()))
    refused("before it is known why", lambda: of_states(df).accumulate("1 minute", **WHY))
    refused("is not followed row by row", lambda: fl.AggregateFrame(agg.cause(), 3))
    refused(re.escape("cause().where('n > 2') is of a whole"), lambda: agg.cause().where("n > 2"))
    for ask in (
        lambda: agg.cause() / 2, lambda: 1 + agg.cause(), lambda: agg.sum("n") / agg.cause()
    ):  # fmt: skip
        refused(r"computes with cause\(\), which is a word; ask", ask)
