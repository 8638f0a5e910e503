"""States that are carried over nulls: as filled rows say, by each way and in a stream."""

from __future__ import annotations

import math
import random

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import all_of, collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.streams import gather_batches, stream, stream_of
from tests.law.data import minute

DELAY = "2 minutes"
BEGIN = minute(0)["ts"]
LIMITS = {
    "none": {},
    "a gap": {"max_gap": "3 minutes"},
    "few rows": {"max_rows": 2},
    "a duration": {"max_duration": "4 minutes"},
    "many rows": {"min_rows": 2},
    "all of them": {
        "max_gap": "3 minutes", "max_rows": 3, "max_duration": "5 minutes", "min_rows": 2,
    },
}  # fmt: skip
STATES = {"one": ["s"], "two": ["s", "v"]}


def draw_rows(seed, count=60):
    """Rows of three keys, in order of time; now and then two at one time, and a long silence."""
    draw, at, rows = random.Random(seed), 0, []
    for seq in range(count):
        at += draw.choice([0, 1, 1, 1, 2, 5])
        state = {"s": draw.choice([None, None, "x", "y"]), "v": draw.choice([None, 0.0, 1.0])}
        rows.append(minute(at, k=draw.choice(["a", "b", None]), seq=seq, n=seq % 4, **state))
    return rows


def carried(rows, states):
    """Rows of one key in order, each with its state: of each column the last that is not null."""
    last, made = dict.fromkeys(states), []
    for row in sorted(rows, key=lambda row: (row["ts"], row["seq"])):
        last |= {name: row[name] for name in states if row[name] is not None}
        made.append((row, None if None in last.values() else tuple(last.values())))
    return made


def wanted(rows, states, *, max_gap=None, max_rows=99999, max_duration=None, min_rows=1):
    """What frames there are: row after row, with what is known so far."""
    gap, longest = (
        int(text.split()[0]) * MINUTE if text else math.inf for text in (max_gap, max_duration)
    )
    found = []
    for key in {row["k"] for row in rows}:
        runs, opened = [], None
        for row, state in carried([row for row in rows if row["k"] == key], states):
            now = row["ts"]
            if opened and not (
                state == opened["state"]
                and now <= opened["times"][-1] + gap
                and now < opened["times"][0] + longest
                and len(opened["times"]) < max_rows
            ):
                opened["next"], opened = now, None
            if state is not None and opened is None:
                opened = {"state": state, "times": [], "n": []}
                runs.append(opened)
            if opened:
                opened["times"].append(now)
                opened["n"].append(row["n"])
        large = [run for run in runs if len(run["times"]) >= min_rows]
        for number, run in enumerate(large):
            first, last = run["times"][0], run["times"][-1]
            end = min(last + gap, first + longest, run.get("next", math.inf))
            closed = end < math.inf
            found.append((
                key, number, first, end if closed else last + 1, len(run["times"]), closed,
                run["state"], sum(run["n"]),
            ))  # fmt: skip
    return sorted(found, key=repr)


def got(rows, states):
    return sorted(
        (
            (
                row["k"], row["frame_id"], row["window"]["start"], row["window"]["end"],
                row["rows"], row["closed"], tuple(row[name] for name in states), row["n"],
            )
            for row in rows
        ),
        key=repr,
    )  # fmt: skip


def carry(df, states, **more):
    limits = {name: more.pop(name) for name in list(more) if name.startswith(("max", "min"))}
    spec = fl.StateFrame(states, nulls="carry", **limits)
    return fl.over(df, spec, **{"time": "ts", "by": "k", "tiebreak": "seq", **more})


@pytest.mark.parametrize("states", STATES.values(), ids=STATES)
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_a_batch_by_each_way(classic, states, limits):
    rows = draw_rows(len(states))
    df, expected = frame(classic, rows), wanted(rows, states, **limits)
    assert len(expected) > 5
    for way in ("arrow",) if any(one.startswith("max") for one in limits) else ("arrow", "native"):
        found = carry(df, states, **limits).using(way)
        assert got(collected(found.agg(n=agg.sum("n"))), states) == expected
        # With values that only Spark combines.
        kept = found.agg(n=agg.sum("n"), texts=agg.collect_list("k"))
        assert got(collected(kept), states) == expected
        numbers = [row["frame_id"] for row in collected(found.rows())]
        assert sum(n is not None for n in numbers) == sum(row[4] for row in expected)


@pytest.mark.streaming
@pytest.mark.parametrize("limits", [LIMITS["a gap"], LIMITS["all of them"]], ids=["gap", "all"])
def test_a_stream_of_one_row_at_a_time_that_is_restarted(classic, tmp_path, limits):
    rows = draw_rows(5, 16)
    found = []
    for part in (rows[:9], rows[9:], [minute(999, k="z", seq=99)]):
        df = stream_of(classic, tmp_path, [[row] for row in part], DELAY)
        asked = carry(df, ["s", "v"], **limits).agg(n=agg.sum("n"))
        found += [row for given in gather_batches(asked, tmp_path, "append") for row in given]
    expected = [row for row in wanted(rows, ["s", "v"], **limits) if row[5]]
    assert got(found, ["s", "v"]) == expected
    assert len(expected) > 1


@pytest.mark.streaming
@pytest.mark.parametrize("states", STATES.values(), ids=STATES)
def test_a_stream_that_comes_out_of_order(classic, tmp_path, states):
    rows = draw_rows(7)
    mixed = sorted(rows, key=lambda row: (row["ts"] // (4 * MINUTE), row["n"]))
    batches = [mixed[at : at + 11] for at in range(0, len(mixed), 11)]
    limits = LIMITS["a gap"]
    found = stream(
        classic, tmp_path, batches, delay="9 minutes",
        query=lambda df: carry(df, states, **limits).agg(n=agg.sum("n")),
    )  # fmt: skip
    found = [row for row in found if row["k"] in ("a", "b", None)]
    assert got(found, states) == [row for row in wanted(rows, states, **limits) if row[5]]


def test_a_column_of_the_state_is_null_to_aggregates(classic):
    """What is shown is carried; what is asked of the same column is of the rows."""
    state = F.col("s")
    rows = [minute(0, s="x"), minute(9), minute(10, s="x"), minute(11, s="y")]
    asked = {
        "known": agg.count(state),
        "one": agg.first(state, ignorenulls=True),
        "all": agg.count(),
    }
    for way, limits in (("arrow", {"max_gap": "2 minutes"}), ("arrow", {}), ("native", {})):
        found = carry(frame(classic, [row | {"k": "a"} for row in rows]), state, **limits)
        found = found.using(way).agg(**asked, texts=agg.collect_list("s"))
        shown = [
            (row["s"], row["known"], row["one"], row["all"], row["texts"])
            for row in sorted(collected(found), key=lambda row: row["frame_id"])
        ]
        assert shown == (
            [("x", 1, "x", 1, ["x"]), ("x", 1, "x", 2, ["x"]), ("y", 1, "y", 1, ["y"])]
            if limits
            else [("x", 2, "x", 3, ["x", "x"]), ("y", 1, "y", 1, ["y"])]
        )


@pytest.mark.parametrize("way", ["arrow", "native"])
def test_nulls_come_first_among_rows_of_one_time(classic, way):
    """Rows are in the order of what they have, and not of what is carried."""
    times = {"z": 0, None: 5, "a": 5}
    rows = [minute(at, k="a", s=s) for s, at in times.items()] + [minute(6, k="a")]
    found = collected(carry(frame(classic, rows), "s", tiebreak=None).using(way).frames())
    assert [(row["s"], row["rows"]) for row in found] == [("z", 2), ("a", 2)]


KINDS = {
    "a struct": "if(s is null, null, named_struct('a', s, 'at', length(s)))",
    "a list": "if(s is null, null, array(s, null))",
    "a time": "if(s is null, null, timestamp_seconds(ascii(s)))",
    "a decimal": "cast(ascii(s) as decimal(12, 2))",
    "a flag": "s = 'x'",
}


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
@pytest.mark.streaming
def test_values_of_any_type(classic, tmp_path, text):
    """What is null is filled before, by hand, and ends a frame there."""
    texts = [None, "x", None, "x", "y", None, "x", None]
    rows = [minute(at * 2 // 3, k="a", seq=at, s=s) for at, s in enumerate(texts)]
    filled = [row | {"s": state and state[0]} for row, state in carried(rows, ["s"])]

    def counted(df, nulls):
        df = df.selectExpr("*", f"{text} as state")
        spec = fl.StateFrame("state", nulls=nulls, max_gap="30 seconds")
        found = fl.over(df, spec, time="ts", by="k", tiebreak="seq")
        return found.agg(agg.count())

    expected = all_of(collected(counted(frame(classic, filled), "end")))
    assert len(expected) > 3
    assert all_of(collected(counted(frame(classic, rows), "carry"))) == expected
    batches = [rows[:2], rows[2:3], rows[3:]]
    streamed = stream(
        classic, tmp_path, batches, delay=DELAY, query=lambda df: counted(df, "carry")
    )
    assert all_of([row for row in streamed if row["k"] == "a"]) == expected


SILENT = [
    minute(at, k="a", seq=at, s=s)
    for at, s in {0: "x", 5: None, 20: None, 21: "y", 22: None, 60: None}.items()
]


def begun(row):
    """In which minute a frame began."""
    return (row["window"]["start"] - BEGIN) // MINUTE


@pytest.mark.streaming
def test_a_key_that_was_forgotten_has_no_state(classic, tmp_path):
    """Nor is one forgotten that is only silent for a while, whose frame has long ended."""
    how = {"forget_after": "10 minutes", "max_gap": "2 minutes"}
    batch = carry(frame(classic, SILENT), ["s"], **how).agg(n=agg.count())
    lives = {"forget_after": "10 minutes"}
    natively = carry(frame(classic, SILENT), ["s"], **lives).using("native").agg(n=agg.count())
    streamed = stream(
        classic, tmp_path, [[row] for row in SILENT], delay=DELAY,
        query=lambda df: carry(df, ["s"], **how).agg(n=agg.count()),
    )  # fmt: skip
    for found in (collected(batch), [row for row in streamed if row["k"] == "a"]):
        shown = sorted((begun(row), row["s"], row["n"]) for row in found)
        assert shown == [(0, "x", 1), (5, "x", 1), (21, "y", 2)]
    shown = sorted((begun(row), row["s"]) for row in collected(natively))
    assert shown == [(0, "x"), (21, "y")]


def test_what_else_is_asked_of_frames(classic):
    rows = [minute(at, k="a", seq=at, s=s, n=at) for at, s in {0: "x", 9: None, 10: None}.items()]
    found = carry(frame(classic, rows), ["s"], max_gap="2 minutes")
    assert [row["s"] for row in collected(found.frames())] == ["x", "x"]
    filled = found.fill(frame(classic, rows).selectExpr("k as who", "ts", "n as m"), time="ts",
                        by="who").agg(agg.sum("m"))  # fmt: skip
    assert sorted(row["sum(m)"] for row in collected(filled)) == [0, 19]
    parts = collected(found.split("1 minute", n=agg.count()))
    assert sorted((row["s"], row["n"]) for row in parts) == [("x", 1)] * 2 + [("x", 2)] * 3
    parts = collected(found.accumulate("1 minute", n=agg.count()))
    assert sorted((row["s"], row["n"]) for row in parts) == [("x", 1)] * 3 + [("x", 2)] * 2
    late = [minute(8, k="a", seq=8, s="y", n=8)]
    repaired = collected(found.repair(frame(classic, late), found.frames()))
    assert [(row["frame_id"], row["s"], row["rows"]) for row in repaired] == [(1, "y", 3)]


def test_a_repair_knows_the_state_before_the_frame(classic):
    rows = [minute(at, k="a", seq=at, s=s) for at, s in {0: "x", 9: None, 20: None}.items()]
    found = carry(frame(classic, rows), ["s"], max_gap="2 minutes")
    late = [minute(10, k="a", seq=10)]
    repaired = collected(found.repair(frame(classic, late), found.frames()))
    assert [(row["frame_id"], row["s"], row["rows"]) for row in repaired] == [(1, "x", 2)]


def test_what_is_refused(classic):
    with pytest.raises(fl.FanlightError, match=r"nulls='carried' is not known.*'carry'"):
        fl.StateFrame("s", nulls="carried")
    df = frame(classic, []).selectExpr("*", "map(s, 1) as state")
    with pytest.raises(fl.FanlightError, match="does not compare"):
        carry(df, "state")
