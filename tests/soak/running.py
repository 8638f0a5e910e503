"""Events that have not ended: a row when one begins, and another when it ends, if ever."""

from __future__ import annotations

import random

import fanlight as fl
from fanlight import agg
from tests import oracle
from tests.helpers.dataframes import SENTINEL
from tests.helpers.events import MINUTE
from tests.law.ask import microseconds
from tests.law.data import minute, written
from tests.law.oracle import Wanted
from tests.soak.upserted import ASKED, BY

DELAY, LATE = "5 minutes", "3 minutes"
SPEC = fl.Sliding("6 minutes", "2 minutes")
LONGEST = 40  # minutes that an event is running at most; those that end do so sooner
KEY = (*BY, "window")


def _rows():
    """One event in eight never ends; some rows say when they began, and of no event in particular.

    The latter are within two minutes of their stop, so none of them is late.
    """
    dice, found = random.Random(1), []
    for number in range(80):
        start, case, key = dice.randrange(90), dice.randrange(3), dice.choice("ab")
        begins = {**minute(start, case=case, k=key, n=number), "i": number, "ts": None}
        begins["began"] = minute(start)["ts"] + dice.randrange(60) * MINUTE // 60
        stop = begins["began"] + dice.randrange(1, 30 * 60) * MINUTE // 60
        found.append(begins)
        if number % 8:
            found.append({**begins, "ts": stop})
        if number % 10 == 1:
            found.append({**begins, "i": None, "began": stop - MINUTE, "ts": stop})
    return found


DATA = written("events that have not ended", _rows())
# Early, windows stay open at the end; else all are closed, by a row long after all others.
LAST = {"windows": (SENTINEL,), "early": ()}


def query(df, name):
    windows = fl.over(df, SPEC, time=("began", "ts"), by=list(BY))
    windows = windows.running(id="i", max_duration=f"{LONGEST} minutes")
    windows = windows.early() if name == "early" else windows
    return windows.agg(n=agg.count(), s=agg.sum("n"), most=agg.max("n"))


def wanted(rows, name):
    """Each event is there once: until its stop, else as long as it may be, or the watermark."""
    mark = max(row["ts"] for row in rows if row["ts"]) - microseconds(DELAY)
    ended = {(row["case"], row["i"]) for row in rows if row["ts"] and row["i"] is not None}
    events = []
    for row in rows:
        if row["ts"]:
            events.append(row)
        elif (row["case"], row["i"]) not in ended:
            stop = row["began"] + LONGEST * MINUTE
            if name == "early":
                stop = min(stop, max(row["began"], mark))
            events.append({**row, "ts": stop})
    how = {"time": ("began", "ts"), "by": BY, "aggregates": ASKED}
    found = oracle.spanning(events, SPEC, **how)
    if name != "early":
        return [Wanted(row) for row in found]
    final = [{**row, "final": row["window"]["end"] <= mark} for row in found]
    return [Wanted(dict(sorted(row.items()))) for row in final]  # as the table is read
