"""Windows without rows, at most so many after each that has rows: the query, and its answer."""

from __future__ import annotations

from collections import defaultdict

import fanlight as fl
from fanlight import agg
from tests import oracle
from tests.helpers.events import MINUTE
from tests.law.oracle import Wanted
from tests.soak.upserted import ASKED, BY, DATA, DELAY

__all__ = ["DATA", "DELAY", "query", "wanted"]
SPEC = fl.Sliding("4 minutes", "1 minute")
MOST = 3  # windows
ZERO = {"n": 0, "s": 0, "most": 0}


def query(df):
    windowed = fl.over(df, SPEC, time="ts", by=list(BY), tiebreak=["seq"])
    calls = {"n": agg.count(), "s": agg.sum("n"), "most": agg.max("n")}
    return windowed.with_empty("zero", most=MOST).agg(**calls)


def wanted(rows):
    """Between the windows of a key with rows, and after the last, those that are near enough."""
    how = {"time": "ts", "by": BY, "tiebreak": ["seq"], "aggregates": ASKED}
    there = defaultdict(dict)
    for row in oracle.sliding(rows, SPEC, unfinished=True, **how):
        there[tuple(row[name] for name in BY)][row["window"]["start"]] = row
    found = []
    for key, windows in there.items():
        for start, row in windows.items():
            found.append(row)
            for at in range(start + MINUTE, start + (MOST + 1) * MINUTE, MINUTE):
                if at in windows:
                    break
                place = {"start": at, "end": at + 4 * MINUTE}
                found.append({**dict(zip(BY, key, strict=True)), "window": place, **ZERO})
    return [Wanted(row) for row in found]
