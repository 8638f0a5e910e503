"""Frames that a second stream fills: the query, and what it must give."""

from __future__ import annotations

import fanlight as fl
from fanlight import agg
from tests.helpers.events import MINUTE
from tests.law.data import where
from tests.law.kinds.frames import ARRIVING
from tests.law.oracle import Wanted
from tests.oracle.frames import framed
from tests.oracle.values import rank

DELAY = "5 minutes"
LONGEST = 6  # minutes
SPEC = fl.DeltaFrame({"v": 1.5})
BY = ("case", "k")
DATA = where(ARRIVING, "timed", lambda row: row["ts"] is not None)


def halves(rows):
    """Rows that cut frames, and rows to fill them; what cuts fills, too."""
    return rows, [{**row, "seq": 0, "v": None} for row in rows if row["n"] is not None]


def query(df, other, *, aggregated):
    other = other.selectExpr("case as a", "k as b", "ts as at", "n")
    windowed = fl.over(df, SPEC, time="ts", by=list(BY), tiebreak=["seq"])
    calls = {"s": agg.sum("n"), "list": agg.collect_list("n")} if aggregated else {}
    found = windowed.fill(other, time="at", by=["a", "b"], max_duration=f"{LONGEST} minutes")
    found = found.agg(**calls) if calls else found.rows()
    if aggregated:
        return found
    return found.selectExpr(*BY, "unix_micros(at) as at", "n", "window", "frame_id")


def wanted(frames, others, *, aggregated):
    """A row is in the frame of its key that its time is in, if not too far back from its end."""
    found = []
    for frame in framed(frames, SPEC, time="ts", by=BY, tiebreak=("seq",)):
        if not frame.closed:
            continue
        least = max(frame.start, frame.end - LONGEST * MINUTE)
        inside = [
            row for row in others
            if rank((row["case"], row["k"])) == rank(frame.key) and least <= row["ts"] < frame.end
        ]  # fmt: skip
        keys = dict(zip(BY, frame.key, strict=True))
        place = {"window": {"start": frame.start, "end": frame.end}, "frame_id": frame.number}
        if aggregated:
            values = [row["n"] for row in sorted(inside, key=lambda row: (row["ts"], row["n"]))]
            sums = {"s": sum(values), "list": values}
            found += [{**keys, **place, **sums}] if inside else []
        else:
            found += [{**keys, "at": row["ts"], "n": row["n"], **place} for row in inside]
    return [Wanted(row) for row in found]
