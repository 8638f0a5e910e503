"""What Spark's optimizer knows of how many rows there are decides between much and little."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from shutil import rmtree

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark import row_estimate
from fanlight.engine.spark.row_estimate import estimated_rows

THIRDS = fl.Sliding("60 minutes", "20 minutes")
FORCED = [
    (THIRDS, "ts", ("expand", "panes", "pairs")),
    (THIRDS, ("ts", "stop"), ("levels", "cells", "aggregate-buckets", "se-slicing")),
    (fl.ThresholdFrame("v > 1"), "ts", ("arrow", "native", "chunks")),
    (fl.Session("1 minute"), "ts", ("arrow", "native", "chunks")),
    (fl.Trailing("1 hour"), "ts", ("arrow", "native")),
]


def test_what_is_known(spark):
    assert estimated_rows(spark.range(1000)) == 1000


def test_what_is_not_known(classic):
    """What Python has made of rows says nothing of how many there are."""
    made = classic.range(5).mapInArrow(lambda found: found, "id bigint").rdd.toDF("id bigint")
    assert estimated_rows(made) is None


def test_a_file_tells_its_size(classic, tmp_path):
    classic.range(100_000).write.parquet(str(tmp_path / "rows"))
    assert 10_000 < estimated_rows(classic.read.parquet(str(tmp_path / "rows"))) < 1_000_000


@pytest.mark.parametrize(("rows", "strategy"), [(10_000, "expand"), (10**9, "panes")])
def test_little_data_is_spark_s(spark, rows, strategy):
    df = spark.range(rows).selectExpr("timestamp_seconds(id) as ts", "id as v")
    text = fl.over(df, THIRDS, time="ts").explain(agg.sum("v"))
    assert f"strategy    {strategy}, the cheapest" in text
    estimate = re.search("about ([0-9,]+) rows in all, as Spark estimates", text)[1]
    assert rows <= int(estimate.replace(",", "")) <= 4 * rows


@pytest.mark.parametrize("rows", [10_000, 10**9])
@pytest.mark.parametrize(("spec", "time", "strategies"), FORCED, ids=lambda one: str(one)[:20])
def test_what_auto_would_choose_is_what_it_chooses(spark, spec, time, strategies, rows):
    df = spark.range(rows).selectExpr("timestamp_seconds(id) as ts", "id as v")
    windows = fl.over(df.selectExpr("*", "ts + interval 1 hour as stop"), spec, time=time)
    chosen = re.search(r"strategy +([\w-]+), the ", windows.explain(agg.sum("v")))[1]
    for forced in strategies:
        page = windows.using(forced).explain(agg.sum("v"), verbose=True)
        assert len(re.findall("<- chosen", page)) == 1
        said = re.search(r"as requested; 'auto' would choose ([\w-]+)", page)
        assert (said[1] if said else forced) == chosen


def test_an_aggregate_may_be_named_verbose(classic):
    windows = fl.over(classic.range(5).selectExpr("timestamp_seconds(id) as ts"), THIRDS, time="ts")
    page = windows.explain(verbose=agg.count())
    assert "computes    verbose" in page
    assert "<- chosen" not in page


class Frame:
    """A DataFrame whose plan says ``told``; it is its own session."""

    def __init__(self, told, plan=None):
        self.told, self.sparkSession, self.asked = told, self, 0
        self.plan = id(self) if plan is None else plan

    def semanticHash(self):  # noqa: N802 - as Spark calls it
        return self.plan

    def where(self, _):
        return self

    def sql(self, text, **_):
        assert text.startswith("EXPLAIN COST ")
        self.asked += 1
        return self

    def collect(self):
        return [(f"Range, Statistics({self.told})",)]


def tables(spark):
    """The tables and views of the session; Spark's listTables fails beside some of other tests."""
    return sorted(row.tableName for row in spark.sql("show tables").collect())


def test_many_threads_ask_at_once_and_print_nothing(spark, capfd):
    """Nor is anything left in the catalog."""
    before, known = (sys.stdout, sys.stderr), tables(spark)
    asked = [spark.range(n) for n in range(1, 13)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(estimated_rows, asked)) == list(range(1, 13))
    assert (sys.stdout, sys.stderr) == before
    assert capfd.readouterr().out == ""
    assert tables(spark) == known


def test_what_spark_cannot_plan_is_not_known_and_leaves_nothing(spark, capfd, tmp_path):
    spark.range(3).write.parquet(str(tmp_path / "rows"))
    df = spark.read.parquet(str(tmp_path / "rows"))
    rmtree(tmp_path / "rows")
    known = tables(spark)
    estimated_rows(df)
    estimated_rows(df.select("id", "id"))
    assert tables(spark) == known
    assert capfd.readouterr() == ("", "")


def test_what_is_cached_stays_cached(spark):
    df = spark.range(7).selectExpr("id", "id % 2 as odd").cache()
    assert df.count() == 7
    try:
        assert estimated_rows(df) == 7
        assert df.storageLevel.useMemory
    finally:
        df.unpersist()


def test_no_job_runs(classic):
    jobs = classic.sparkContext.statusTracker()
    before = jobs.getJobIdsForGroup(None)
    assert estimated_rows(classic.range(9).groupBy("id").count()) is not None
    assert jobs.getJobIdsForGroup(None) == before


@pytest.mark.parametrize(
    ("told", "rows"),
    [
        ("sizeInBytes=8.0 EiB", None),
        ("sizeInBytes=3.6E+5 YiB", None),
        ("sizeInBytes=80.0 B", 10),
        ("sizeInBytes=8.0 EiB, rowCount=7", 7),
        ("nothing", None),
    ],
)
def test_what_spark_says(told, rows):
    assert estimated_rows(Frame(told)) == rows


def test_equal_plans_are_asked_of_spark_once_in_a_while(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(row_estimate.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(row_estimate, "_kept", {})
    frames = [Frame(f"sizeInBytes={8 * rows}.0 B", plan=5) for rows in (10, 20, 30)]
    assert [estimated_rows(one) for one in frames[:2]] == [10, 10]
    assert estimated_rows(Frame("sizeInBytes=320.0 B", plan=6)) == 40
    now[0] = row_estimate.KEPT
    assert estimated_rows(frames[2]) == 30
    assert [one.asked for one in frames] == [1, 0, 1]
