"""Bursts of levels: each level's rate against the next coarser one's, by counting rows."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from pyspark.sql import functions as F

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.events import MINUTE
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, configured
from tests.helpers.streams import stream

RANGES, SLIDES = (4, 9, 18), (2, 3, 6)  # in minutes; slides that do not divide one another
LENGTHS = [f"{n} minutes" for n in RANGES], [f"{n} minutes" for n in SLIDES]
SPEC = fl.MultiGranular(*LENGTHS)
DRAW = random.Random(11)
ROWS = [
    {"case": 0, "k": DRAW.choice(["a", "b", None]), "ts": minute * MINUTE + 1,
     "v": DRAW.choice([None, 1.0, 2.0, 4.0, -3.0]), "n": minute, "seq": seq}
    for seq, minute in enumerate(sorted(DRAW.randrange(100) for _ in range(80)))
]  # fmt: skip
# In order but for some minutes, which the watermark of five minutes waits for.
ARRIVING = sorted(ROWS, key=lambda row: row["n"] + row["seq"] * 7 % 5)


def expected(threshold, value=len, rows=ROWS, slides=SLIDES):
    """By key, start, end and level: value, expected and ratio of each burst."""
    limits = threshold if isinstance(threshold, list) else [threshold] * 2
    found = {}
    for key in {row["k"] for row in rows}:
        mine = [row for row in rows if row["k"] == key]
        for at in range(200):
            told = [
                value([row for row in mine if at - length <= row["n"] < at])
                if at % step == 0 else None
                for length, step in zip(RANGES, slides, strict=True)
            ]  # fmt: skip
            for k in range(2):
                if told[k] is None or told[k + 1] is None or told[k + 1] <= 0:
                    continue
                usual = Fraction(told[k + 1]) / RANGES[k + 1] * RANGES[k]
                if Fraction(told[k]) >= Fraction(limits[k]) * usual:
                    place = (key, at - RANGES[k], at, k)
                    found[place] = (told[k], float(usual), float(Fraction(told[k]) / usual))
    return found


def total(rows):
    values = [row["v"] for row in rows if row["v"] is not None]
    return sum(values) if values else None


def bursts_of(windows, threshold, one=None, **more):
    found = windows.bursts(threshold, (one or agg.count()).alias("c"), **more)
    ends = [f"unix_micros(window.{end}) div {MINUTE} as {end}" for end in ("start", "end")]
    return found.selectExpr("*", *ends).drop("window")


def by_place(rows):
    found = {
        (row["k"], row["start"], row["end"], row["level"]): (
            row["c"], pytest.approx(row["expected"], rel=1e-12),
            pytest.approx(row["ratio"], rel=1e-12),
        ) for row in rows
    }  # fmt: skip
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("threshold", [1.5, [2, 1.125]])
def test_a_batch(spark, threshold):
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    bursts = windows.bursts(threshold, calls=agg.count())
    assert bursts.columns == ["case", "k", "window", "level", "calls", "expected", "ratio"]
    there = expected(threshold)
    assert {level for *_, level in there} == {0, 1}
    assert by_place(collected(bursts_of(windows, threshold))) == there


def test_a_ratio_that_meets_the_threshold_is_a_burst(spark):
    """9 / 4 and 18 / 9 are met exactly: nothing is rounded past them."""
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    there = expected([2.25, 2])
    assert [ratio for *_, ratio in there.values()].count(2.25) > 1
    assert by_place(collected(bursts_of(windows, [2.25, 2]))) == there


def test_sums_that_may_be_negative(spark):
    """A level is compared only where the coarser rate is above zero."""
    windows = fl.over(frame(spark, ROWS), SPEC, time="ts", by=["case", "k"])
    there = expected(1.5, total)
    assert there
    assert by_place(collected(bursts_of(windows, 1.5, agg.sum("v")))) == there


@pytest.mark.streaming
@pytest.mark.parametrize("every", [7, 1, 80])
def test_a_stream_gives_what_a_batch_gives(spark, tmp_path, every):
    """Each row once, on Spark's own state store."""
    batches = [ARRIVING[at : at + every] for at in range(0, len(ARRIVING), every)]
    batches = [part for some in batches for part in (some, [])]  # the watermark goes on, alone

    def query(df):
        return bursts_of(fl.over(df, SPEC, time="ts", by=["case", "k"]), 1.5)

    with configured(spark, PROVIDER, DEFAULT):
        found = by_place(stream(spark, tmp_path, batches, query, delay="5 minutes"))
    assert found == expected(1.5)


@pytest.mark.streaming
def test_bursts_of_a_stream_can_be_aggregated_by_their_window(classic, tmp_path):
    """The window carries the watermark on."""

    def query(df):
        found = fl.over(df, SPEC, time="ts", by=["case", "k"]).bursts(1.5, agg.count())
        counts = found.groupBy("case", "window").count()
        return counts.selectExpr("case", f"unix_micros(window.end) div {MINUTE} as at", "count")

    found = stream(classic, tmp_path, [ARRIVING, []], query, delay="5 minutes")
    counts = {}
    for _, start, end, _ in expected(1.5):
        counts[start, end] = counts.get((start, end), 0) + 1
    assert sorted((row["at"], row["count"]) for row in found) == sorted(
        (end, count) for (_, end), count in counts.items()
    )


def test_continuous_reports_first_windows_and_numeric_times(classic):
    df = frame(classic, ROWS)
    spec = fl.MultiGranular(*LENGTHS, report="continuous")
    windows = fl.over(df, spec, time="ts", by=["case", "k"])
    there = expected(1.5, slides=(2, 2, 2))
    assert by_place(collected(bursts_of(windows, 1.5))) == there
    whole = by_place(
        collected(bursts_of(windows.complete_only("1970-01-01T00:30:00Z", side="start"), 1.5))
    )
    assert whole == {
        place: row for place, row in there.items() if place[2] - RANGES[place[3] + 1] >= 30
    }
    odd = df.withColumnRenamed("k", "a.`b")
    spec = fl.MultiGranular(list(RANGES), list(SLIDES))
    bursts = fl.over(odd, spec, time="n", by="`a.``b`").bursts(2, **{"x y": agg.count()})
    assert bursts.columns == ["a.`b", "window", "level", "x y", "expected", "ratio"]
    told = {(row[0], *row.window, row.level): row[3] for row in bursts.collect()}
    assert told == {place: row[0] for place, row in expected(2).items()}


def test_first_windows_that_an_initiation_time_cuts_have_their_own_length(classic):
    """Ten even minutes after it, all levels have the same rate."""
    rows = [{"case": 0, "ts": n * MINUTE, "n": n} for n in range(18)]
    spec = fl.MultiGranular(*LENGTHS, offset="0 minutes")
    assert fl.over(frame(classic, rows), spec, time="ts").agg(agg.count()).count() > 10
    found = fl.over(frame(classic, rows), spec, time="ts").bursts(1.01, agg.count())
    assert [row for row in found.collect() if row.window.end.minute <= 18] == []


@pytest.mark.parametrize("wrong", [1, 0.5, -2, True, "2", None, float("nan"), [2, 1], [2, "x"]])
def test_thresholds_that_are_none(classic, wrong):
    windows = fl.over(frame(classic, ROWS), SPEC, time="ts")
    refused(lambda: windows.bursts(wrong, agg.count()), "is not a number above 1")


def test_what_has_no_bursts(classic):
    df = frame(classic, ROWS)
    windows = fl.over(df, SPEC, time="ts", by="k")
    refused(
        lambda: windows.bursts([2], agg.count()),
        "threshold=[2] has 1 numbers for 2 of 3 levels", "bursts([2.0, 2.0], …)",
    )  # fmt: skip
    refused(lambda: windows.bursts(2), "bursts of 0 aggregates")
    refused(lambda: windows.bursts(2, agg.count(), x=agg.sum("v")), "of 2 aggregates")
    both = {"threshold": agg.count(), "complete": agg.sum("v")}  # names of the user's
    refused(lambda: windows.bursts(2, **both), "of 2 aggregates")
    refused(lambda: windows.bursts(2, agg.max("s")), "is of type string", "no rate")
    for one in (agg.max("v"), agg.avg("n"), agg.avg("d"), agg.count_distinct("n"), agg.median("v"),
                agg.sum("v") / agg.count(), F.try_avg("n"), agg.stddev("v")):  # fmt: skip
        refused(lambda one=one: windows.bursts(2, x=one), "bursts of 'x' is not known to add up",
                "agg.count()")  # fmt: skip
    for one in (agg.count("v"), agg.sum("d"), agg.sum("b"), agg.count_if("ok"), F.try_sum("n"),
                60 * (agg.sum("n") - agg.count()) / 1000, agg.sum("v").where("n > 1"),
                agg.sum("v").transform(lambda total: F.round(total, 2))):  # fmt: skip
        assert "ratio" in windows.bursts(2, x=one).columns
    refused(lambda: windows.bursts(2, ratio=agg.count()), "'ratio' clashes", "ratio_2=…")
    clashing = fl.over(df.withColumnRenamed("k", "expected"), SPEC, time="ts", by="expected")
    refused(lambda: clashing.bursts(2, agg.count()), "'expected' clashes", "rename it")
    for more, said in (
        ({"weights": [1, 0.5, 0.25]}, "bursts with weights"),
        ({"changes_only": True}, "bursts with changes_only=True"),
        ({"report": "continuous", "horizons": ["2 minutes"]}, "bursts with horizons"),
    ):
        other = fl.over(df, fl.MultiGranular(*LENGTHS, **more), time="ts")
        refused(lambda other=other: other.bursts(2, agg.count()), said)
    for spec in ([fl.Sliding("4 minutes"), fl.Sliding("9 minutes")],
                 fl.Sliding("4 minutes")):  # fmt: skip
        single = fl.over(df, spec, time="ts")
        refused(lambda single=single: single.bursts, "no 'bursts'", "fl.MultiGranular(…)")
    rate = classic.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    rows = fl.MultiGranular([fl.Rows(4), fl.Rows(9)], [fl.Rows(2), fl.Rows(3)])
    counted = fl.over(rate, rows, time="timestamp")
    refused(lambda: counted.bursts(2, agg.count()), "bursts of levels counted in rows")
