"""Reversals of levels: slopes fitted in plain Python, of rows and of filled series."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import fanlight as fl
from tests.helpers.dataframes import collected, frame
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, ROCKSDB, configured
from tests.helpers.streams import stream

SECOND = 1_000_000
RANGES, SLIDES = (8, 20, 60), (4, 10, 20)  # in seconds
LENGTHS = [f"{n} seconds" for n in RANGES], [f"{n} seconds" for n in SLIDES]
SPEC = fl.MultiGranular(*LENGTHS)
DRAW = random.Random(5)
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", None]), "ts": second * SECOND, "n": second, "seq": seq,
     "v": DRAW.choice([None, *(DRAW.randrange(10**6) / 64 for _ in range(4))])}
    for seq, second in enumerate(sorted(DRAW.sample(range(200), 90)))
]  # fmt: skip


def slope(points):
    """The least-squares slope, exactly; None if fewer than two instants have a point."""
    n = len(points)
    points = [(x, Fraction(y)) for x, y in points]
    if len({x for x, _ in points}) < 2:
        return None
    mx, my = Fraction(sum(x for x, _ in points), n), sum(y for _, y in points) / n
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def series(rows, *, filled):
    """The points of a key: its rows, or the latest value at each instant."""
    values = {row["n"]: row["v"] for row in rows if row["v"] is not None}
    if not filled:
        return values
    told = {}
    for at in range(400):
        if at in values or at - 1 in told:
            told[at] = values.get(at, told.get(at - 1))
    return told


def expected(*, filled):
    """By key, start, end and level: the slope and the coarser slope of each reversal."""
    found = {}
    for key in {row["k"] for row in ROWS}:
        mine = [row for row in ROWS if row["k"] == key]
        values = series(mine, filled=filled)
        for at in range(300):
            # A window is there if a row with a value lies in it.
            told = [
                slope([(x, y) for x, y in values.items() if at - length <= x < at])
                if at % step == 0 and any(
                    at - length <= row["n"] < at and row["v"] is not None for row in mine
                ) else None
                for length, step in zip(RANGES, SLIDES, strict=True)
            ]  # fmt: skip
            for k in range(2):
                fine, coarse = told[k], told[k + 1]
                if fine and coarse and (fine > 0) != (coarse > 0):
                    found[key, at - RANGES[k], at, k] = (float(fine), float(coarse))
    return found


def reversals_of(windows, **more):
    ends = [f"unix_micros(window.{end}) div {SECOND} as {end}" for end in ("start", "end")]
    return windows.reversals("v", **more).selectExpr("*", *ends).drop("window")


def by_place(rows):
    found = {
        (row["k"], row["start"], row["end"], row["level"]):
            pytest.approx((row["slope"], row["coarser_slope"]), rel=1e-9)
        for row in rows
    }  # fmt: skip
    assert len(found) == len(rows)
    return found


def of_both_levels(there):
    """The reversals, of which both levels have some."""
    assert {level for *_, level in there} == {0, 1}
    return there


def test_a_batch_of_rows(spark):
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    turns = windows.reversals("v")
    assert turns.columns == ["case", "k", "window", "level", "slope", "coarser_slope"]
    assert by_place(collected(reversals_of(windows))) == of_both_levels(expected(filled=False))


def test_a_batch_of_series(spark):
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    assert by_place(collected(reversals_of(windows, filled=True))) == of_both_levels(
        expected(filled=True)
    )


@pytest.mark.streaming
@pytest.mark.parametrize("filled", [False, True])
def test_a_stream_gives_what_a_batch_gives(classic, tmp_path, filled):
    """Rows on Spark's own state store; a series behind the chain."""
    batches = [part for at in range(0, len(ROWS), 30) for part in (ROWS[at : at + 30], [])]

    def query(df):
        windows = fl.over(df, SPEC, time="ts", by=["case", "k"])
        return reversals_of(windows, filled=filled)

    with configured(classic, PROVIDER, ROCKSDB if filled else DEFAULT):
        found = stream(classic, tmp_path, batches, query, delay="5 seconds")
    assert by_place(found) == expected(filled=filled)


def test_what_has_no_reversals(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, SPEC, time="ts", by="k")
    refused(lambda: windows.reversals("s"), "s")
    clashing = fl.over(df.withColumnRenamed("k", "coarser_slope"), SPEC, time="ts",
                       by="coarser_slope")  # fmt: skip
    refused(lambda: clashing.reversals("v"), "'coarser_slope' clashes", "rename it first")
    for more, said in (
        ({"weights": [1, 0.5, 0.25]}, "reversals with weights"),
        ({"changes_only": True}, "reversals with changes_only=True"),
    ):
        other = fl.over(df, fl.MultiGranular(*LENGTHS, **more), time="ts")
        refused(lambda other=other: other.reversals("v"), said)
    single = fl.over(df, fl.Sliding("4 minutes"), time="ts")
    refused(lambda: single.reversals, "no 'reversals'", "fl.MultiGranular(…)")
    rate = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    early = fl.over(rate, SPEC, time="timestamp").early()
    refused(lambda: early.reversals("value"), "early(…).reversals")
