"""Queries over streams: in micro-batches, in any order, with restarts; in time, or too late."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

import fanlight as fl
from tests.fuzz.queries import ORIGINS, Drawn, asked
from tests.helpers import events
from tests.helpers.dataframes import BLANK, FAR
from tests.law.ask import Arrivals
from tests.law.oracle import PLACED, ends

HEARTBEAT = {"case": 99, "k": "heartbeat", "seq": 0, "n": 1000}
AFTER = 100 * 365 * events.DAY
MOST = 100
RESTARTS = st.sampled_from(("none", "none", "half", "each"))


@st.composite
def streams(draw):
    """Of all times at which a watermark may be, from the year 1 to the year 9999."""
    ask = draw(asked(ORIGINS, streamed=True))
    ask = draw(too_late(ask) if draw(st.booleans()) else in_time(ask))
    latest = max((row["ts"] for row in ask.data.rows if row["ts"] is not None), default=0)
    how = ask.arrivals
    closed = max(FAR, latest + AFTER)
    return ask.again(
        arrivals=Arrivals(
            delay=how.delay, pieces=how.pieces, restarts=draw(RESTARTS), closed=closed
        )
    )  # fmt: skip


def reach(ask):
    """How long the longest event lasts."""
    if ask.time != ("began", "ts"):
        return 0
    both = [row for row in ask.data.rows if None not in (row["ts"], row["began"])]
    return max((row["ts"] - row["began"] for row in both), default=0)


@st.composite
def in_time(draw, ask):
    """Rows that come in any order that the watermark allows."""
    rows = ask.data.rows
    late = draw(st.integers(1, 600)) * 1_000_000
    timed = any(row["ts"] is not None for row in rows)
    found = draw(events.splits(rows, late)) if timed else [rows]
    delay = (late + max(reach(ask), 0)) // 1_000_000 + 2
    how = Arrivals(delay=f"{delay} seconds", pieces=tuple(map(tuple, found)))
    return ask.again(arrivals=how, late=draw(rules(ask)))


@st.composite
def rules(draw, ask):
    """For late rows; the oracle is asked once an end, so there must not be many of those."""
    spec = ask.spec
    granular = isinstance(spec, fl.MultiGranular)
    begun = granular and spec.offset is not None  # an initiation time
    together = granular and (spec.changes_only or spec.weights or begun)
    if ask.kind not in PLACED or "Rows(" in repr(spec) or together or draw(st.booleans()):
        return "drop"
    if ask.about == "late" and len({end for row in ask.data.rows for end in ends(ask, row)}) > MOST:
        return "drop"
    return "open"


@st.composite
def too_late(draw, ask):
    """Rows in any order at all.

    Spark asks of a row whether it is late by the watermark of the batch before, or of one earlier.
    So a batch that moves it is followed by one that does not: both are the same.
    """
    rows = draw(st.permutations(ask.data.rows))
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), min_size=2, max_size=4)))
    edges = [0, *cuts, len(rows)]
    found, latest = [], None
    for low, high in pairwise(edges):
        piece = rows[low:high]
        times = [row["ts"] for row in piece if row["ts"] is not None]
        latest = max([*times, *([] if latest is None else [latest])], default=None)
        found.append(tuple(piece))
        if latest is not None:
            found.append(({**BLANK, **HEARTBEAT, "ts": latest, "began": latest},))
    every = [row for piece in found for row in piece]
    how = Arrivals(delay=f"{draw(st.integers(1, 900))} seconds", pieces=tuple(found))
    late = ask.again(about="late", arrivals=how, data=Drawn("late", lambda: every))
    return late.again(late=draw(rules(late)))
