"""Mistakes in a call of detect are errors before Spark runs; those in a detector say where."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

import fanlight as fl
from tests.helpers.dataframes import frame
from tests.helpers.refusals import refused
from tests.helpers.sparks import DEFAULT, PROVIDER, configured
from tests.helpers.streams import source, write_files
from tests.helpers.widened import fails, nothing, returns_none

SPEC = fl.ProgressiveWidening("1 second", max_duration="8 seconds", max_rows=5)
ROWS = [
    {"case": 0, "k": "a", "ts": n * 700_000, "i": n, "x": 0.5, "seq": n, "v": 1.0, "n": n, "s": "x"}
    for n in range(8)
]


@pytest.fixture(scope="module")
def df(spark):
    return frame(spark, ROWS)


def windows(df, spec=SPEC, **more):
    return fl.over(df, spec, **{"time": "ts", "by": ["k"], **more})


NUMBERS = fl.ProgressiveWidening(1, max_duration=8, max_rows=5)


@pytest.mark.parametrize(
    ("spec", "more", "named"),
    [
        (SPEC, {"time": ("ts", "i")}, ("pair",)),
        (SPEC, {"time": "i"}, ("first='1 second' is a duration", "'i'", "bigint")),
        (SPEC, {"time": "x"}, ("'x'", "double")),
        (NUMBERS, {}, ("first=1 is a number", "'ts'", "timestamp")),
        (NUMBERS, {"time": "x"}, ("'x'", "double")),
        (SPEC, {"time": "nowhere"}, ("nowhere",)),
        (SPEC, {"by": "nowhere"}, ("nowhere",)),
    ],
    ids=str,
)
def test_what_cannot_be_widened(df, spec, more, named):
    refused(lambda: windows(df, spec, **more), *named)


@pytest.mark.parametrize("name", ["window", "level", "found_at", "Level"])
def test_keys_that_clash(df, name):
    refused(lambda: windows(df.withColumnRenamed("s", name), by=name), f"{name!r}")


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"function": 5}, ("5", "function")),
        ({"function": None}, ("None",)),
        ({"schema": None}, ("schema=None",)),
        ({"schema": ""}, ("schema=''",)),
        ({"schema": "what"}, ("schema='what'",)),
        ({"schema": "what nonsense"}, ("schema='what nonsense'",)),
        ({"schema": 5}, ("schema=5",)),
        ({"schema": "k string"}, ("'k'",)),
        ({"schema": "Level int"}, ("'Level'",)),
        ({"schema": "error string", "on_error": "record"}, ("'error'",)),
        ({"schema": "m map<string,int>"}, ("map",)),
        ({"columns": ["nowhere"]}, ("nowhere",)),
        ({"rows_as": "polars"}, ("rows_as='polars'",)),
        ({"on_error": "ignore"}, ("on_error='ignore'",)),
        ({"across_cuts": 1}, ("across_cuts=1", "True or False")),
        ({"span": "what"}, ("span='what'",)),
        ({"span": ("what", "ended")}, ("'ended'",)),
        ({"schema": "a int, b timestamp", "span": ("a", "b")}, ("'a'", "timestamp")),
        ({"once": "nowhere"}, ("once='nowhere'",)),
        (
            {"schema": "a timestamp, b timestamp", "span": ("a", "b"), "once": "a"},
            ("once=", "span="),
        ),
    ],
    ids=str,
)
def test_what_detect_cannot_do(df, how, named):
    asked = {"function": nothing, "schema": "what string", **how}
    refused(lambda: windows(df).detect(**asked), *named)


def test_columns_that_a_detector_cannot_be_given(spark):
    maps = spark.sql("select timestamp_seconds(1) as ts, map('a', 1) as m, 5 as n")
    windowed = fl.over(maps, SPEC, time="ts")
    refused(lambda: windowed.detect(nothing, "what int"), "'m'", "map", "columns=")
    assert windowed.detect(nothing, "what int", columns=["n"]).count() == 0


def test_episodes_that_do_not_fit(df):
    windowed = windows(df)
    refused(lambda: windowed.detect(fl.Episode("a")), "'event'")
    refused(lambda: windowed.detect(fl.Episode("a n='x'", event="s")), "'n'")
    refused(lambda: windowed.detect(fl.Episode("a n=k", event="s")), "'k'")
    refused(lambda: windowed.detect(fl.Episode("a n=x", event="s"), "x int"), "episode")


def test_strategies_and_aggregates(df):
    refused(lambda: windows(df).using("panes"), "'panes'", "auto")
    refused(lambda: windows(df).using(rate=-1), "rate=-1")
    assert not hasattr(windows(df), "agg")  # rows are left out of the middle of windows
    with pytest.warns(RuntimeWarning, match="about 1,000 rows"):
        assert "about 1,000 rows" in windows(df).using(rate=1000).explain()


def test_a_stream_needs_a_watermark_and_rocksdb(spark, tmp_path):
    write_files(tmp_path, ROWS)
    plain = spark.readStream.schema("k string, ts timestamp").parquet(str(tmp_path))
    refused(lambda: windows(plain), "withWatermark")
    refused(lambda: windows(source(spark, tmp_path, "1 second"), NUMBERS, time="i"), "'i'")
    with configured(spark, PROVIDER, DEFAULT):
        marked = source(spark, tmp_path, "1 second")
        refused(lambda: windows(marked).detect(nothing, "what int"), PROVIDER)


def test_a_detector_that_fails_names_key_level_and_window(df):
    with pytest.raises(PySparkException) as caught:
        windows(df).detect(fails, "what bigint").collect()
    said = str(caught.value)
    assert "k='a', level 0" in said
    assert "[1970-01-01T00:00:01+00:00, 1970-01-01T00:00:03+00:00)" in said
    assert "KeyError" in said


def test_a_failure_is_recorded_and_nothing_else_is_lost(df):
    found = windows(df).detect(fails, "what bigint", on_error="record").collect()
    # The first windows that end at 3 and at 4 seconds hold row 3, and would report rows 3 to 5.
    assert {row["what"] for row in found if row["error"] is None} == {0, 1, 2, 6, 7}
    bad = [row for row in found if row["error"] is not None]
    assert bad
    assert all("KeyError" in row["error"] and row["what"] is None for row in bad)


def test_a_detector_that_returns_nothing(df):
    with pytest.raises(PySparkException, match=r"returned nothing \(None\)"):
        windows(df).detect(returns_none, "what bigint").collect()
