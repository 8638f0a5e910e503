"""Values that Spark calls equal are equal in every way: rows spelled otherwise answer the same.

Each question is asked twice: over rows whose keys and values are spelled in many ways that are
equal to Spark (by a collation, as -0.0, as another NaN), and over the same rows spelled in one.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.streams import stream
from tests.law.data import SOME_MINUTE

SECOND = 1_000_000
WRITTEN = "if(d = 1, upper({0}), {0})"
ZERO, NAN = "if(d = 1, -0.0D, 0.0D)", "if(d = 1, -double('NaN'), double('NaN'))"
LETTER, NUMBER = "substr('xyz', cast(n % 3 as int) + 1, 1)", f"if(n % 3 = 0, {ZERO}, 1.0D)"


def collated(text, name):
    spaced = f"concat({WRITTEN.format(text)}, if(d = 1, '  ', ''))"
    return f"collate({spaced if 'RTRIM' in name else WRITTEN.format(text)}, '{name}')"


COLUMNS = {
    "low": collated("k", "UTF8_LCASE"),
    "trimmed": collated("k", "UTF8_LCASE_RTRIM"),
    "zeros": f"array(if(k = 'a', {ZERO}, 1.0D))",
    "nans": f"named_struct('not a number', array({NAN}), 'k', {collated('k', 'UTF8_LCASE')})",
    "a_low": collated(LETTER, "UTF8_LCASE"),
    "a_trimmed": collated(LETTER, "UTF8_LCASE_RTRIM"),
    "some_zeros": f"array({NUMBER})",
    "both": f"named_struct('a b', {NUMBER}, 'c', {collated(LETTER, 'UTF8_LCASE')})",
}
KEYS = ["case", "low", "trimmed", "zeros", "nans"]
ROWS = [
    {"case": 0, "k": "ab"[at % 2], "ts": SOME_MINUTE + at * SECOND, "seq": at, "n": at, "v": 2.0,
     "began": SOME_MINUTE + (at - 3) * SECOND, "d": Decimal(at // 2 % 2)}
    for at in range(24)
]  # fmt: skip
PLAIN = [{**row, "d": Decimal(0)} for row in ROWS]
COUNTED = {"d_low": agg.count_distinct("a_low"), "mode": agg.mode("both")}
ASKED = {
    **COUNTED,
    "n": agg.count(),
    "mode_zeros": agg.mode("some_zeros"),
    "pairs": agg.count_distinct("a_trimmed", "some_zeros"),
    "least": agg.min("a_trimmed"),
    "most": agg.max_count("a_low"),
    "second": agg.nth_smallest("both", 2),
    "hits": agg.heavy_hitters("a_trimmed", 0.1),
    "by": agg.max_by("n", "a_low"),
    "with": agg.min_by("a_low", "a_trimmed"),
    "end": agg.last("a_low"),
    "list": agg.collect_list("a_trimmed"),
    "about": agg.approx_count_distinct("a_low"),
}
LEVELS = fl.MultiGranular(["6 seconds", "12 seconds"], ["6 seconds", "12 seconds"])
SLIDING, TUMBLING = fl.Sliding("12 seconds", "6 seconds"), fl.Sliding("12 seconds")
LIMIT = fl.AggregateFrame(agg.count_distinct("a_low", "some_zeros"), 2)
STATE = fl.StateFrame(["a_low", "some_zeros"])
OVERLAPPING = fl.BoundaryFrame({"n": 5}, overlapping=True)
COPIED = ("expand", "aggregate-buckets")  # in a stream they give late rows to open windows
WIDENING = fl.ProgressiveWidening("3 seconds", max_duration="12 seconds", max_rows=50)
SPANNING = ("levels", "cells", "tuple-buckets", "aggregate-buckets", "se-slicing", "se-ml-slicing")


def summed(df, spec, way, **more):
    """All aggregates."""
    time = more.pop("time", "ts")
    asked = more.pop("asked", ASKED)
    late = "open" if df.isStreaming and way in COPIED else "drop"
    windows = fl.over(df, spec, time=time, by=KEYS, tiebreak="seq", late=late)
    return windows.using(way).agg(**asked)


def lasting(df, spec, way):
    return summed(df, spec, way, time=("began", "ts"))


def counted(df, spec, way):
    return summed(df, spec, way, asked=COUNTED)


def numbers(df, spec, way):
    return summed(df, spec, way, asked={"n": agg.count(), "s": agg.sum("n")})


def numbered(df, spec, way):
    found = fl.over(df, spec, time="ts", by=KEYS, tiebreak="seq").using(way).rows()
    return found.select("case", "seq", "frame_id")


def filled(df, spec, way):
    frames = fl.over(df, spec, time="ts", by=KEYS).using(way)
    return frames.fill(df, time="ts", max_duration="1 minute").agg(agg.count(), agg.mode("a_low"))


def recurring(df, spec, way):
    return fl.over(df, spec, time="ts", by=KEYS).using(way).recurring("a_low", counts=True)


def fitted(df, spec, way):
    return fl.over(df, spec, time="ts", by=KEYS).using(way).fit("n", filled=True)


def detected(df, spec, way):
    del way
    windows = fl.over(df, spec, time="ts", by=KEYS, tiebreak="seq")
    found = windows.detect(lambda rows: [{"n": len(rows["n"])}], "n bigint", columns=["n"])
    return found.drop("found_at")


ASKS = [
    *((summed, SLIDING, way) for way in ("auto", "panes", "pairs", "expand")),
    *((summed, TUMBLING, way) for way in ("auto", "expand")),
    *((counted, spec, way) for spec in (SLIDING, LEVELS) for way in ("ranks", "auto")),
    *((summed, fl.Sliding("12 seconds", fl.Rows(1)), way) for way in ("auto", "expand")),
    (summed, fl.Sliding(fl.Rows(6), fl.Rows(3)), "auto"),
    (numbers, SLIDING, "differential"),
    *((summed, LEVELS, way) for way in ("granules", "separate")),
    *((lasting, SLIDING, way) for way in SPANNING),
    *((asked, fl.ThresholdFrame("n % 8 > 0"), way)
      for asked in (summed, numbers, numbered, filled) for way in ("arrow", "native")),
    *((summed, fl.Session("1 second"), way) for way in ("arrow", "native")),
    *((asked, LIMIT, "arrow") for asked in (summed, numbers)),
    (summed, OVERLAPPING, "arrow"),
    (summed, fl.DeltaFrame({"n": 5}), "arrow"),
    *((asked, STATE, way) for asked in (numbers, numbered) for way in ("arrow", "native")),
    (recurring, LEVELS, "auto"),
    (fitted, LEVELS, "auto"),
    (detected, WIDENING, "auto"),
]  # fmt: skip
STREAMED = [
    *((summed, SLIDING, way) for way in ("panes", "pairs", "expand")),
    (summed, TUMBLING, "auto"),
    (summed, fl.Sliding("12 seconds", fl.Rows(1)), "auto"),
    (summed, fl.Sliding(fl.Rows(6), fl.Rows(3)), "auto"),
    *((summed, LEVELS, way) for way in ("granules", "chain", "separate")),
    *((lasting, SLIDING, way) for way in SPANNING),
    (summed, fl.ThresholdFrame("n % 8 > 0"), "auto"),
    (numbered, fl.ThresholdFrame("n % 8 > 0"), "auto"),
    (filled, fl.ThresholdFrame("n % 8 > 0"), "auto"),
    (summed, fl.Session("1 second"), "auto"),
    (summed, LIMIT, "auto"),
    (summed, OVERLAPPING, "auto"),
    (numbers, STATE, "auto"),
    (recurring, LEVELS, "auto"),
    (fitted, LEVELS, "auto"),
    (detected, WIDENING, "auto"),
]


def name_of(ask):
    asked, spec, way = ask
    return f"{asked.__name__} | {spec!r} | {way}"


def spelled(df):
    return df.selectExpr("*", *(f"{text} as {name}" for name, text in COLUMNS.items()))


def in_one_spelling(value):
    """A value of a result, as all that are equal to it."""
    if isinstance(value, str):
        return value.lower().rstrip(" ")
    if isinstance(value, dict):
        return {name: in_one_spelling(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_one_spelling(part) for part in value]
    return value + 0.0 if isinstance(value, float) else value


def answers(rows):
    assert rows
    return sorted(repr(in_one_spelling(row)) for row in rows)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("ask", ASKS, ids=name_of)
def test_a_batch(classic, ask):
    asked, spec, way = ask
    found, plain = (
        answers(collected(asked(spelled(frame(classic, rows)), spec, way)))
        for rows in (ROWS, PLAIN)
    )
    assert found == plain


@pytest.mark.streaming
@pytest.mark.parametrize("ask", STREAMED, ids=name_of)
def test_a_stream(classic, tmp_path, ask):
    asked, spec, way = ask
    found, plain = (
        answers(
            stream(
                classic, tmp_path, [rows[:7], rows[7:15], rows[15:]],
                lambda df: asked(spelled(df), spec, way), delay="3 seconds",
            )
        )
        for rows in (ROWS, PLAIN)
    )  # fmt: skip
    assert found == plain


def test_the_rows_have_two_keys_by_spark(classic):
    assert spelled(frame(classic, ROWS)).groupBy(*KEYS).count().count() == 2
