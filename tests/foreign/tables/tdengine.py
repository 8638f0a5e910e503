"""TDengine's own tests, and an example of its manual: event, state, session, count windows."""

from __future__ import annotations

import fanlight as fl
from fanlight import agg
from tests.foreign.facts import MILLISECOND, Case, Suite, facts, given, steps

FOLDER = "tests/script/tsim/stream/"
EVENT0, EVENT2, COUNT, STATE, SESSIONS = (
    Suite("taosdata/TDengine", f"{FOLDER}{name}.sim")
    for name in ("event0", "event2", "count0", "state0", "session0")
)
MANUAL = Suite("taosdata/TDengine", "docs/en/14-reference/03-taos-sql/24-distinguished.md")
SINCE = 1_648_791_210_000 * MILLISECOND  # their rows come seconds after that


def ms(header, *lines):
    return facts(header, *lines, unit=MILLISECOND, base=SINCE)


def rows(header, *lines):
    return given(header, *lines, unit=MILLISECOND, base=SINCE)


def starts(row, _):
    return row.x == 0


def has_ended(_, state):
    return state["ended"]


def ends_by_x(row, _):
    return {"ended": row.x == 9}


def ends_by_n(row, _):
    return {"ended": row.n == 9}


# ``EVENT_WINDOW START WITH a = 0 END WITH ...``: its last row is the one that ends it.
BY_A = fl.PredicateFrame(starts, has_ended, columns=["x", "n"], update=ends_by_x)
BY_B = fl.PredicateFrame(starts, has_ended, columns=["x", "n"], update=ends_by_n)
STEP_1 = rows(  # a is x, b is n
    "ts x n v",
    (3000, 0.0, 1, 0.0), (13001, 9.0, 2, 9.0), (3009, 0.0, 3, 0.0), (33006, 1.0, 1, 1.0),
    (43000, 2.0, 2, 2.0), (33000, 0.0, 3, 0.0), (43009, 9.0, 4, 9.0),
)  # fmt: skip
FIRST = (3000, 3, 6)
STEP_3 = rows(
    "ts x n",
    (23009, 1.0, 2), (23000, 0.0, 1), (33000, 0.0, 9), (13000, 0.0, 9), (3000, 0.0, 1),
    (3001, 1.0, 9),
)  # fmt: skip
TABLES = rows(
    "k ts x n",
    ("t1", 13000, 0.0, 1), ("t1", 23000, 0.0, 2), ("t1", 33000, 1.0, 3), ("t1", 43000, 1.0, 9),
    ("t2", 13000, 0.0, 1), ("t2", 23000, 0.0, 2), ("t2", 33000, 1.0, 3), ("t2", 43000, 1.0, 9),
    ("t3", 13000, 1.0, 1), ("t3", 23000, 1.0, 2), ("t3", 33000, 1.0, 3), ("t3", 43000, 1.0, 9),
    ("t4", 13000, 1.0, 1), ("t4", 23000, 0.0, 2), ("t4", 33000, 1.0, 9), ("t4", 43000, 1.0, 9),
)  # fmt: skip
ENDED = "last_v = 9"  # it is for a user to say whether a last window has met its end

STATES = given(
    "ts n", (0, None), (1, 1), (2, None), (3, 1), (4, None), (5, 2), (6, 2), (7, 1), (8, None)
)
RUNS = fl.StateFrame("n", nulls="skip")
BURST = [(3000, 1), (3001, 2), (3009, 3), (13000, 1), (13001, 2), (13009, 3)]
STATE_ROWS = [(at, 11) for at in range(209, 215)] + [(215, 29)]
FRAMES = (
    Case(
        EVENT0, "step1", BY_A, STEP_1, ms("start count sum", FIRST, (33000, 4, 10)), having=ENDED
    ),
    Case(
        EVENT0, "step1, before the last row", BY_A, STEP_1[:-1],
        ms("start count sum", FIRST), having=ENDED,
    ),
    Case(
        EVENT0, "step2", BY_B,
        rows("ts x n", (3000, 0.0, 1), (3009, 1.0, 2), (13000, 0.0, 9), (23000, 0.0, 9)),
        facts("count", (3,), (1,)),
    ),
    Case(EVENT0, "step3", BY_B, STEP_3, facts("count", (2,), (1,), (3,))),
    Case(EVENT2, "step1", BY_B, TABLES, facts("k count", ("t1", 4), ("t2", 4), ("t4", 2))),
    Case(
        EVENT0, "step1, as SQL text", fl.PredicateFrame(open="x = 0", close="x = 9"), STEP_1,
        ms("start count sum", FIRST, (33000, 4, 10)),
        ours=ms("start count sum", (3000, 2, 4), (33000, 3, 6)),
        why="`close` says which row is no longer in the frame, as the paper has it; the END row of "
            "an EVENT_WINDOW is its last",
    ),
    Case(
        MANUAL, "STATE_WINDOW(status)", RUNS, STATES,
        facts("start last count", (0, 3, 4), (5, 6, 2), (7, 8, 2)),
        ours=facts("start last count", (1, 4, 4), (5, 6, 2), (7, 8, 2)),
        why="a null stays in the open frame and opens none; TDengine takes the first nulls into "
            "the first window, and leaves out those between two different states",
    ),
    Case(
        STATE, "streams3", RUNS,
        given("ts n", *zip((12, 13, 14, 15, 11, 10, 17, 19, 9, 20), range(1, 11), strict=True)),
        facts("count", *[(1,)] * 10),
    ),
    Case(
        STATE, "streams4", RUNS, given("ts n", *STATE_ROWS), facts("start count", (209, 6)),
        having="closed",
    ),
    Case(
        COUNT, "step1", fl.AggregateFrame(agg.count(), 3), rows("ts n", *BURST),
        ms("start count sum most", (3000, 3, 6, 3), (13000, 3, 6, 3)),
    ),
    Case(
        COUNT, "step2", fl.AggregateFrame(agg.count(), 3),
        rows("k ts n", *[(k, at, n) for k in ("t1", "t2") for at, n in BURST]),
        ms("k start count sum most",
           *[(k, at, 3, 6, 3) for k in ("t1", "t2") for at in (3000, 13000)]),
    ),
)  # fmt: skip
# Each key has one more row, which opens nothing: it shows a stream that the last window is over.
AFTER = rows("k ts x n", *[(k, 53000, 1.0, 0) for k in ("t1", "t2", "t3", "t4")])
EVENTS = (*TABLES, *AFTER)
STREAM = (
    Case(
        EVENT2, "step1, in a stream", BY_B, EVENTS,
        facts("k count", ("t1", 4), ("t2", 4), ("t4", 2)),
        steps=steps(EVENTS, (len(EVENTS), 2 * SINCE)),
    ),
)  # fmt: skip
SESSION = (
    Case(
        SESSIONS, "streams1", fl.Session("10 seconds"),
        rows("ts n", (3000, None), (13001, 10), (23002, 3), (33003, None), (3002, None),
             (23012, None)),
        ms("start count sum", (3000, 3, 10), (23002, 3, 3)),
    ),
)  # fmt: skip
IN_PYTHON = {
    "x = 0": lambda row: row["x"] == 0,
    "x = 9": lambda row: row["x"] == 9,
    ENDED: lambda row: row["last_v"] == 9,
    "closed": lambda row: row["closed"],
}
