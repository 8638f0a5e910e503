"""Windows given early into a table by key: the query, and what the table must have in the end."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import fanlight as fl
from fanlight import agg
from tests import oracle
from tests.helpers.dataframes import SENTINEL
from tests.law.ask import microseconds
from tests.law.data import where
from tests.law.kinds.frames import ARRIVING
from tests.law.oracle import Wanted
from tests.oracle.frames import frames

DELAY = "5 minutes"
BY = ("case", "k")
DATA = where(ARRIVING, "timed and keyed", lambda row: None not in (row["ts"], row["k"]))
SPECS = {
    "windows": [fl.Sliding("4 minutes", "1 minute"), fl.Sliding("10 minutes")],
    "frames": fl.DeltaFrame({"v": 1.5}),
}
KEYS = {"windows": (*BY, "window", "query"), "frames": (*BY, "frame_id")}
# Windows stay open at the end. Frames have the rows that the watermark has passed: so let it.
LAST = {"windows": (), "frames": (SENTINEL,)}
ASKED = {"n": ("count",), "s": ("sum", "n"), "most": ("max", "n")}


def query(df, name):
    windowed = fl.over(df, SPECS[name], time="ts", by=list(BY), tiebreak=["seq"])
    return windowed.early().agg(n=agg.count(), s=agg.sum("n"), most=agg.max("n"))


def kept(path):
    """The rows of the table as the law writes them, columns in the order of their names."""
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return [_ordered(dict(row)) for row in db.execute("SELECT * FROM kept")]


def wanted(rows, name):
    """A batch over all rows; final is what ends before the watermark, or is closed."""
    how = {"time": "ts", "by": list(BY), "tiebreak": ["seq"], "aggregates": ASKED}
    if name == "frames":
        found = frames(rows, SPECS[name], **how)
        return [Wanted(_ordered({**row, "final": row["closed"]})) for row in found]
    mark = max(row["ts"] for row in rows) - microseconds(DELAY)
    return [
        Wanted(_ordered({**row, "query": number, "final": row["window"]["end"] <= mark}))
        for number, spec in enumerate(SPECS[name])
        for row in oracle.sliding(rows, spec, unfinished=True, **how)
    ]


def _ordered(row):
    """A row of the table, or of the oracle."""
    if "window_start" in row:
        row["window"] = {"start": row.pop("window_start"), "end": row.pop("window_end")}
    flags = {name: bool(row[name]) for name in ("closed", "final") if name in row}
    return dict(sorted((row | flags).items()))
