"""Rows whose weight halves with age: each is weighed by hand, by the level that it is in."""

from __future__ import annotations

import random

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.streams import stream

RANGES, SLIDES, HALF = (2, 6, 12), (2, 3, 6), 5  # in minutes; slides that do not divide one another
SPEC = fl.MultiGranular(
    [f"{n} minutes" for n in RANGES], [f"{n} minutes" for n in SLIDES],
    weights=fl.decay(f"{HALF} minutes"),
)  # fmt: skip
DRAW = random.Random(3)
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", None]), "ts": minute * MINUTE + 1, "n": minute,
     "v": DRAW.choice([1.0, 2.0, -4.0])}
    for minute in sorted(DRAW.randrange(60) for _ in range(50))
]  # fmt: skip


def weight(minute, at):
    """Of a row in a report: of the finest level whose latest window holds the row."""
    for level, (length, step) in enumerate(zip(RANGES, SLIDES, strict=True)):
        if minute >= at - at % step - length:
            age = 0 if level == 0 else RANGES[level - 1]
            return 0.5 ** (age / HALF)
    raise AssertionError


def expected():
    found = {}
    for level, (length, step) in enumerate(zip(RANGES, SLIDES, strict=True)):
        for at in range(0, 100, step):
            for key in ("a", None):
                held = [r for r in ROWS if r["k"] == key and at - length <= r["n"] < at]
                weights = [weight(row["n"], at) for row in held]
                if held:
                    total = sum(w * row["v"] for w, row in zip(weights, held, strict=True))
                    found[key, level, at] = (sum(weights), total, total / sum(weights))
                    assert all(w >= 0.5 ** ((at - row["n"]) / HALF)
                               for w, row in zip(weights, held, strict=True))  # fmt: skip
    return found


def decayed(df):
    windows = fl.over(df, SPEC, time="ts", by=["case", "k"])
    return windows.agg(n=agg.count(), s=agg.sum("v"), a=agg.avg("v"))


def matches(rows):
    found = {
        (row["k"], row["level"], row["window"]["end"] // MINUTE): (row["n"], row["s"], row["a"])
        for row in rows
    }
    told = expected()
    assert found.keys() == told.keys()
    for key, values in found.items():
        assert values == pytest.approx(told[key])
    assert len({row[0] for row in told.values()}) > 20


def test_a_batch(spark):
    matches(collected(decayed(frame(spark, ROWS))))


@pytest.mark.streaming
def test_a_stream(spark, tmp_path):
    batches = [ROWS[at : at + 9] for at in range(0, len(ROWS), 9)]
    matches(stream(spark, tmp_path, batches, decayed, delay="1 minute"))
