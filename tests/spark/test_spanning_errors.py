"""Every mistake with a pair of times is a FanlightError before Spark runs, and names it."""

from __future__ import annotations

import re

import pytest

import fanlight as fl
from fanlight import agg
from tests.helpers.dataframes import frame
from tests.helpers.refusals import refused
from tests.helpers.streams import stream_of

ROW = {"case": 0, "k": "a", "ts": 5, "began": 0, "i": 5, "i0": 0, "x": 0.5, "x0": 0.0, "v": 1.0}
TIME = fl.Sliding("4 minutes", "1 minute")
PAIR = ("began", "ts")


@pytest.fixture(scope="module")
def df(classic):
    return frame(classic, [ROW])


@pytest.mark.parametrize(
    ("spec", "time", "named"),
    [
        (TIME, ("nowhere", "ts"), ("nowhere",)),
        (TIME, ("began", "nowhere"), ("nowhere",)),
        (TIME, ("ts", "ts"), ("('ts', 'ts')", "one column", "time='ts'")),
        (TIME, ("began", "i"), ("('began', 'i')", "timestamp", "bigint")),
        (TIME, ("i0", "ts"), ("('i0', 'ts')", "timestamp", "bigint")),
        (TIME, ("i0", "i"), ("'i'", "duration")),
        (fl.Sliding(4), ("began", "ts"), ("'ts'", "number")),
        (TIME, ("began", "ts", "v"), ("pair",)),
        (TIME, ("began",), ("pair",)),
        (TIME, (), ("pair",)),
        (TIME, (1, 2), ("pair",)),
        (TIME, ("s", "d"), ("string", "decimal")),
        (fl.Sliding(fl.Rows(4)), PAIR, ("Rows(4)", "('began', 'ts')", "durations")),
        (fl.Sliding("4 minutes", fl.Rows(1)), PAIR, ("Rows(1)", "('began', 'ts')")),
        (fl.Sliding("2000 weeks", "1 second"), PAIR, ("slide",)),
        (fl.Sliding("4 minutes", offset="4000000 weeks"), PAIR, ("offset",)),
    ],
    ids=str,
)
def test_pairs_that_cannot_be(df, spec, time, named):
    refused(lambda: fl.over(df, spec, time=time), *named)
    refused(lambda: fl.over(df, spec, time=time).rejected(), *named)


@pytest.mark.parametrize(
    ("how", "named"),
    [
        ({"strategy": "pairs"}, ("'pairs'", "'levels'", "'se-slicing'")),
        ({"strategy": "se-ml-slicing", "height": 0}, ("height=0", "at least 1")),
        ({"height": 1.5}, ("height=1.5",)),
        ({"height": True}, ("height=True",)),
        ({"rate": 0}, ("rate=0",)),
        ({"groups": "many"}, ("groups='many'",)),
        ({"duration": "0 minutes"}, ("duration",)),
        ({"duration": 5}, ("duration=5", "time='ts' is a timestamp")),
        ({"duration": "1 month"}, ("duration",)),
    ],
    ids=str,
)
def test_hints_that_cannot_be(df, how, named):
    refused(lambda: fl.over(df, TIME, time=PAIR).using(**how), *named)


@pytest.mark.parametrize(
    ("strategy", "wanted", "named"),
    [
        ("cumulative-sweeping", agg.max("v"), ("max(v)", "no inverse")),
        ("cumulative-sweeping", agg.sum("v"), ("sum(v)", "rounding")),
        ("cumulative-sweeping", agg.median("i"), ("median(i)", "holistic")),
        ("selective-sweeping", agg.count(), ("count(1)", "minimum")),
        ("selective-sweeping", agg.median("i"), ("median(i)",)),
        ("selective-sweeping", agg.collect_list("i"), ("collect_list(i)",)),
    ],
    ids=str,
)
def test_techniques_that_cannot_do_the_aggregate(df, strategy, wanted, named):
    windows = fl.over(df, TIME, time=PAIR).using(strategy)
    refused(lambda: windows.agg(wanted), strategy, "auto", *named)
    refused(lambda: windows.explain(wanted), strategy)


def test_streams_without_the_right_watermark(classic, tmp_path):
    unmarked = classic.readStream.schema("a timestamp, b timestamp, i int, j int, x timestamp_ntz, "
        "y timestamp_ntz").parquet(str(tmp_path))  # fmt: skip
    refused(lambda: fl.over(unmarked, TIME, time=("a", "b")), "('a', 'b')", "watermark", "TTP")
    early = unmarked.withWatermark("a", "1 hour")
    refused(lambda: fl.over(early, TIME, time=("a", "b")), "on 'a'", "withWatermark('b'", "TTP")
    refused(lambda: fl.over(unmarked, fl.Sliding(4), time=("i", "j")), "numbers", "watermark")
    refused(lambda: fl.over(unmarked, TIME, time=("x", "y")), "time zone")
    marked = fl.over(stream_of(classic, tmp_path, [[ROW]], "90 minutes"), TIME, time=PAIR)
    marked.agg(agg.count())
    assert "90 minutes (TTP) after a window's end" in marked.explain()


def test_explain_says_why(classic, df):
    many = classic.range(10**10).selectExpr(
        "timestamp_seconds(id) as began",
        "timestamp_seconds(id + 60) as ts",
        "id % 9 as k",
        "id as v",
    )
    assert "aggregate-buckets" in fl.over(df, TIME, time=PAIR, by="k").explain()  # a few events
    windows = fl.over(many, TIME, time=PAIR, by="k")
    known = windows.using(rate=1000, groups=1000, duration="1 hour")
    told = known.explain(agg.max("v"), verbose=True)
    assert "events from 'began' to 'ts' by k, batch" in told
    assert "each event makes two entries" in told
    assert re.search(r"strategy +levels, the cheapest of \d+ ways", told)
    assert "an event lasts 60.0 SLIDEs, as given" in told
    assert re.search(r"cumulative-sweeping.*does not fit: max\(v\)", told)
    assert len(re.findall(r"<- chosen", told)) == 1
    rare = windows.using(rate=0.001, groups=1000, duration="1 second").explain()
    assert re.search(r"strategy +aggregate-buckets", rare)
    forced = windows.using("se-ml-slicing", height=5).explain(verbose=True)
    assert "5 levels" in forced
    assert "as requested" in forced


def test_it_is_frozen_and_shown(df):
    windows = fl.over(df, TIME, time=PAIR)
    assert "('began', 'ts')" in repr(windows)
    assert windows.using("cells") is not windows


LEVELS = fl.MultiGranular(["4 minutes", "1 hour"], ["1 minute", "4 minutes"])


@pytest.mark.parametrize(
    ("spec", "time", "named"),
    [
        (LEVELS, ("ts", "ts"), ("('ts', 'ts')", "one column")),
        (LEVELS, ("began", "i"), ("('began', 'i')", "timestamp", "bigint")),
        (LEVELS, ("i0", "i"), ("'i'", "duration")),
        (
            fl.MultiGranular([fl.Rows(2), fl.Rows(4)], [fl.Rows(1), fl.Rows(2)]),
            PAIR,
            ("('began', 'ts')", "counts rows", "time='ts'"),
        ),
        (
            fl.MultiGranular(["2 minutes", "4 minutes"], ["1 minute"] * 2, weights=[1, 0.5]),
            PAIR,
            ("weights=[1.0, 0.5]", "several", "leave weights out"),
        ),
        ([fl.Sliding("1 hour"), fl.Sliding("1 hour")], PAIR, ("query 1", "repeats query 0")),
        ([], PAIR, ("lists no window",)),
        ([fl.Sliding("2000 weeks", "1 second"), TIME], PAIR, ("slide",)),
        ([fl.Sliding("4 minutes", offset="4000000 weeks"), TIME], PAIR, ("offset",)),
    ],
    ids=str,
)
def test_several_windows_that_cannot_be(df, spec, time, named):
    refused(lambda: fl.over(df, spec, time=time), *named)


def test_what_several_windows_over_events_do_not_have(df, classic, tmp_path):
    windows = fl.over(df, LEVELS, time=PAIR)
    assert not {"fit", "recurring"} & set(dir(windows))
    refused(lambda: windows.using("se-slicing"), "'se-slicing'", "one kind", "fl.Sliding")
    refused(lambda: windows.using("pairs"), "'pairs'", "'levels'", "'separate'")
    refused(lambda: windows.using("panes").agg(agg.count()), "count(1) is not the sum", "'auto'")
    refused(lambda: windows.using(duration=5), "duration=5", "time='ts' is a")
    refused(lambda: windows.agg(agg.count().alias("level")), "'level'", "clashes")
    refused(lambda: fl.over(df.withColumnRenamed("k", "level"), LEVELS, time=PAIR, by="level"),
        "level")  # fmt: skip
    begun = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute"] * 2, offset="1 minute")
    apart = fl.over(df, begun, time=PAIR).using("separate")
    refused(lambda: apart.agg(agg.count()), "separate", "initiation time", "auto")
    marked = stream_of(classic, tmp_path, [[ROW]], "1 hour")
    changes = fl.MultiGranular(["1 minute", "4 minutes"], ["1 minute"] * 2, changes_only=True)
    refused(lambda: fl.over(marked, changes, time=PAIR), "changes_only", "stream", "leave it out")
    fl.over(df, changes, time=PAIR).agg(agg.count())
    levels = fl.over(marked, LEVELS, time=PAIR).using("levels")
    refused(lambda: levels.agg(agg.count()), "levels", "auto")


def test_explain_says_what_is_shared(df):
    windows = fl.over(df, LEVELS, time=PAIR, by="k")
    known = windows.using(rate=1000, groups=10, duration="1 hour")
    told = known.explain(agg.max("v"), verbose=True)
    assert "events from 'began' to 'ts' by k, batch" in told
    assert re.search(r"load of 0 +60,000 events per SLIDE.*60.0 SLIDEs", told)
    assert re.search(r"load of 1 +240,000 events per SLIDE.*15.0 SLIDEs", told)
    assert len(re.findall(r"<- chosen", told)) == 1
    assert "EventWindows(MultiGranular" in repr(windows)
