"""Rows with silences, and windows over them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import fanlight as fl
from fanlight import agg
from tests.helpers.events import MINUTE

ZONE = "America/New_York"
CHANGE = 1_710_054_000_000_000 // MINUTE  # New York's clock skips an hour here
ROWS = [
    ("a", 0, 1.0), ("a", 3, 2.0), ("a", 17, 4.0), ("b", 5, 8.0), (None, 2, 16.0), (None, 40, 3.0),
    ("a", 18, None),
]  # fmt: skip
FAR = [("a", CHANGE - 3000, 1.0), ("a", CHANGE + 1500, 2.0), ("b", CHANGE, 4.0)]
SPECS = {
    "tumbling": (fl.Sliding("4 minutes"), ROWS),
    "sliding": (fl.Sliding("4 minutes", "2 minutes", offset="1 minute"), ROWS),
    "sampling": (fl.Sliding("1 minute", "3 minutes"), ROWS),
    "closed": (fl.Sliding("4 minutes", "2 minutes", closed="right"), ROWS),
    "cumulative": (fl.Cumulative("8 minutes", "2 minutes"), ROWS),
    "days": (fl.Calendar("1 day", zone=ZONE), FAR),
    "the day so far": (fl.Cumulative("1 day", "1 hour", zone=ZONE), FAR),
}
RULES = ("null", "zero", "last")


def frame(spark, rows):
    made = spark.createDataFrame(rows, "k string, minute long, v double")
    return made.selectExpr("k", f"timestamp_micros(minute * {MINUTE}) as ts", "minute as i", "v")


def micros(at):
    return (at.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def counted_and_listed(windows):
    return windows.agg(n=agg.count(), s=agg.sum("v"), list=agg.collect_list("i"))


def found(df):
    """The count, the sum and the list of each window, by its key, end and start."""
    rows = df.collect()
    made = {
        (row.k, micros(row.window.end), micros(row.window.start)): (
            row.n, row.s, row["list"] and sorted(row["list"])
        )
        for row in rows
    }  # fmt: skip
    assert len(made) == len(rows)
    return made


def fill_in(rule, before):
    """What a window without rows has, after one of its key that has rows."""
    return {"null": (None, None, None), "zero": (0, 0.0, None), "last": before}[rule]
