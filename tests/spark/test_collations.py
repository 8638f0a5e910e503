"""Keys and values by a collation: equal as Spark says, or refused."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import collected, frame
from tests.helpers.streams import stream_of
from tests.law.data import SOME_MINUTE

KEYED = "collate(if(n % 2 = 0, 'A', 'a'), 'UNICODE_CI')"
LOW = "collate(if(n % 2 = 0, 'A', 'a'), 'UTF8_LCASE')"
ZERO = "if(n % 2 = 0, 0.0D, -0.0D)"
ROWS = [
    {"case": 0, "ts": SOME_MINUTE + at * 1_000_000, "seq": at, "n": at, "v": 2.0,
     "began": SOME_MINUTE + (at - 2) * 1_000_000}
    for at in range(10)
]  # fmt: skip
LEVELS = fl.MultiGranular(["5 seconds", "10 seconds"], ["5 seconds", "10 seconds"])
WIDE = fl.Sliding("1 hour")


def test_a_pass_through_python_finds_one_key_and_shows_it_under_its_type(classic):
    df = frame(classic, ROWS).selectExpr("*", f"{LOW} as low", f"array({ZERO}) as zero")
    for by in ("low", "zero"):
        found = fl.over(df, fl.Session("5 seconds"), time="ts", by=by).using("arrow").frames()
        assert found.schema[by].dataType.simpleString() == dict(df.dtypes)[by]
        assert [row["rows"] for row in collected(found)] == [10]


def test_frames_are_not_filled_by_a_key_of_another_collation(classic):
    df = frame(classic, ROWS).selectExpr("*", f"{LOW} as low")
    frames = fl.over(df, fl.Session("5 seconds"), time="ts", by="low")
    with pytest.raises(fl.FanlightError, match="give both the same collation"):
        frames.fill(df, time="ts", by="k").agg(agg.count())


def test_values_that_python_compares_are_those_of_spark(classic):
    df = frame(classic, ROWS).selectExpr("*", f"{LOW} as low")
    windows = fl.over(df, WIDE, time=("began", "ts")).using("se-slicing")
    found = collected(windows.agg(d=agg.count_distinct("low"), most=agg.max_count("low")))
    assert max((row["d"], row["most"]) for row in found) == (1, 10)


@pytest.fixture
def rows(classic):
    return keyed(frame(classic, ROWS))


def keyed(df):
    return df.selectExpr("*", f"{KEYED} as icu")


@pytest.mark.parametrize(
    ("spec", "ways"),
    [
        (WIDE, ("auto", "panes", "pairs", "expand")),
        (fl.Sliding("1 hour", fl.Rows(1)), ("auto",)),
        (fl.ThresholdFrame("n >= 0"), ("auto", "native")),
        (fl.Session("5 seconds"), ("auto", "native")),
        (LEVELS, ("auto", "separate")),
    ],
    ids=repr,
)
def test_by_a_collation_of_icu_spark_alone_finds_one_key(rows, spec, ways):
    for way in ways:
        found = fl.over(rows, spec, time="ts", by="icu").using(way)
        found = collected(found.agg(n=agg.count(), d=agg.count_distinct("icu")))
        assert max(row["n"] for row in found) == 10, way
        assert {row["d"] for row in found} == {1}


@pytest.mark.parametrize("by", [(), "icu"], ids=["values", "keys"])
def test_trailing_windows_of_a_collation_of_icu_are_those_of_spark(rows, by):
    windows = fl.over(rows, fl.Trailing("1 hour"), time="ts", by=by)
    found = collected(windows.attach(many=agg.count(), most=agg.max("icu")))
    assert max(row["many"] for row in found) == 10
    with pytest.raises(fl.FanlightError, match="UNICODE_CI, which only Spark's own SQL"):
        windows.using("arrow").attach(agg.max("icu"))


REFUSED = {
    "arrow": lambda df: fl.over(df, fl.Session("5 seconds"), time="ts", by="icu").using("arrow"),
    "delta": lambda df: fl.over(df, fl.DeltaFrame({"n": 5}), time="ts", by="icu").frames(),
    "distinct": lambda df: fl.over(
        df, fl.AggregateFrame(agg.count_distinct("icu"), 2), time="ts"
    ).frames(),
    "technique": lambda df: fl.over(df, WIDE, time=("began", "ts"), by="icu")
    .using("se-slicing").agg(agg.count()),
    "values in a technique": lambda df: fl.over(df, WIDE, time=("began", "ts"))
    .using("se-slicing").agg(agg.max("icu")),
    "looked back at": lambda df: fl.over(df, fl.Trailing("5 seconds"), time="ts")
    .attach(agg.count_distinct("icu")),
    "sketch": lambda df: fl.over(df, WIDE, time="ts").agg(agg.approx_count_distinct("icu")),
    "widening": lambda df: fl.over(
        df,
        fl.ProgressiveWidening("1 second", max_duration="8 seconds", max_rows=9),
        time="ts",
        by="icu",
    ).detect(lambda rows: rows[:0], "n int", columns=["n"]),
}  # fmt: skip
REFUSED_STREAMS = {
    "key": lambda df: fl.over(df, WIDE, time="ts", by="icu"),
    "key of events": lambda df: fl.over(df, WIDE, time=("began", "ts"), by="icu"),
    "key of frames": lambda df: fl.over(df, fl.Session("5 seconds"), time="ts", by="icu"),
    "counted": lambda df: fl.over(df, WIDE, time="ts").agg(agg.mode("icu")),
    "chain": lambda df: fl.over(df, LEVELS, time="ts").using("chain").agg(agg.max("icu")),
    "over rows": lambda df: fl.over(df, fl.Sliding(fl.Rows(3)), time="ts").agg(agg.max("icu")),
    "in frames": lambda df: fl.over(df, fl.Session("5 seconds"), time="ts").agg(agg.max("icu")),
    "items": lambda df: fl.over(df, LEVELS, time="ts").recurring("icu"),
}


@pytest.mark.parametrize("asked", REFUSED.values(), ids=REFUSED)
def test_what_python_would_compare_is_refused(rows, asked):
    with pytest.raises(fl.FanlightError, match=r"UNICODE_CI.*collate\(…, 'UTF8_LCASE'\)"):
        asked(rows)


@pytest.mark.parametrize("advice", ["collate(…, 'UTF8_LCASE')", "collate(lower(…), 'UTF8_BINARY')"])
def test_what_the_refusal_says_to_write_is_taken(rows, advice):
    with pytest.raises(fl.FanlightError) as told:
        REFUSED["looked back at"](rows)
    assert advice in str(told.value)
    followed = rows.selectExpr("*", f"{advice.replace('…', 'icu')} as alike")
    windows = fl.over(followed, fl.Session("5 seconds"), time="ts")
    assert windows.agg(agg.max("alike")).count()


@pytest.mark.parametrize("asked", REFUSED_STREAMS.values(), ids=REFUSED_STREAMS)
def test_a_stream_is_refused_before_it_starts(classic, tmp_path, asked):
    df = keyed(stream_of(classic, tmp_path, [ROWS], "1 second"))
    with pytest.raises(
        fl.FanlightError, match=r"UNICODE_CI, which only Spark's own SQL can compare"
    ):
        asked(df)
