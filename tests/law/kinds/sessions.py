"""Sessions, with the same gap for all rows or each row's own."""

from __future__ import annotations

from tests.helpers.events import MINUTE
from tests.helpers.frames import SESSIONS
from tests.law import oracle
from tests.law.ask import Arrivals, asks, thorough
from tests.law.data import DIVIDED, derived, keyless
from tests.law.kinds.frames import (
    ARRIVING,
    EVERY,
    FRAMED,
    IN_PIECES,
    LATE,
    NATIVELY,
    NUMBERS,
    ROWS,
    STREAMED,
    SUMS,
)
from tests.law.kinds.kind import Kind


def and_a_long_one(rows):
    """The rows, and a session of three rows that lasts longer than any spec wants, after them."""
    last = max(row["ts"] for row in rows if row["ts"] is not None) + 60 * MINUTE
    return [
        *rows,
        *({**rows[0], "ts": last + at * 59 * MINUTE // 60, "seq": at} for at in range(3)),
    ]


LONG_ENOUGH = derived(keyless(ROWS, 80), "and a long session", and_a_long_one)
NATIVE = [spec for spec in SESSIONS if not spec.max_duration and not spec.most]


def sessions(about, specs, data, requests, **more):
    more.setdefault("strategies", ("arrow",))
    return asks("sessions", about, specs, data, requests, **more)


def arriving(about, specs, which, requests=STREAMED, data=ARRIVING, restarts="none", **more):
    how = Arrivals(which, restarts=restarts)
    return sessions(about, specs, data, requests, arrivals=how, **more)


KIND = Kind(
    "sessions",
    {
        "agg": oracle.framing,
        "frames repaired": oracle.framing,
        "early": oracle.framing,
        "frames": oracle.framing,
        "rows": oracle.numbered,
    },
    strategies=("auto", "arrow", "native", "chunks"),
    example=(SESSIONS[0], "ts"),
    in_python=lambda _: True,
    batch=(
        *sessions("every session", SESSIONS, ROWS, NUMBERS),
        *sessions("others", SESSIONS, ROWS, NATIVELY),
        *sessions("natively", NATIVE, ROWS, NATIVELY, strategies=("native",)),
        *sessions("in chunks", SESSIONS[:1], ROWS, NUMBERS, strategies=("chunks",)),
        *sessions("rows in chunks", SESSIONS[:1], ROWS, {}, action="rows", strategies=("chunks",)),
        *sessions(
            "every aggregate", SESSIONS[1:2], ROWS, EVERY, strategies=("auto", "arrow", "native")
        ),
        *sessions("bounds", SESSIONS, ROWS, {}, action="frames"),
        *sessions("rows", SESSIONS[1:2], ROWS, {}, action="rows", strategies=("arrow", "native")),
        *sessions("rows, gaps of their own", SESSIONS[3:4], ROWS, {}, action="rows"),
        *sessions("without keys", SESSIONS, LONG_ENOUGH, NATIVELY, by=()),
        *sessions("repaired", SESSIONS, ROWS, NUMBERS, action="frames repaired"),
        *sessions(
            "repaired", NATIVE[:1], ROWS, NATIVELY, strategies=("native",), action="frames repaired"
        ),
    ),
    stream=(
        *arriving("stream", SESSIONS[1:2], 2),
        *thorough(arriving("stream", [SESSIONS[0], SESSIONS[2]], 2)),
        *arriving("stream", SESSIONS[4:], 2),
        *arriving("every aggregate", SESSIONS[1:2], 1, EVERY),
        *sessions(
            "late rows",
            SESSIONS[1:2],
            LATE,
            SUMS,
            arrivals=IN_PIECES,
            hints=DIVIDED,
            late="collect",
        ),
        *arriving("without keys", SESSIONS[1:2], 2, {"n": ("count",)}, keyless(ARRIVING), by=()),
        *arriving("restarted", SESSIONS[3:4], 3, restarts="half"),
        *arriving("early", [SESSIONS[1], SESSIONS[4]], 2, action="early"),
    ),
    connect=(
        *sessions("connect", [SESSIONS[1], SESSIONS[4]], ROWS, NATIVELY),
        *arriving("stream", SESSIONS[1:2], 0),
    ),
    sample=sessions("sample", [SESSIONS[1], SESSIONS[3]], ROWS, FRAMED),
    stream_sample=arriving("stream", SESSIONS[4:], 3),
)
