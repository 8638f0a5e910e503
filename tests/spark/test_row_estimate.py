"""What Spark's optimizer knows of how many rows there are decides between much and little."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.spark.row_estimate import estimated_rows

THIRDS = fl.Sliding("60 minutes", "20 minutes")


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


def test_an_aggregate_may_be_named_verbose(classic):
    windows = fl.over(classic.range(5).selectExpr("timestamp_seconds(id) as ts"), THIRDS, time="ts")
    page = windows.explain(verbose=agg.count())
    assert "computes    verbose" in page
    assert "<- chosen" not in page


class Frame:
    """A DataFrame whose plan says ``told``."""

    def __init__(self, told):
        self.told = told

    def explain(self, extended=None, mode=None):
        assert (extended, mode) == (None, "cost")
        print(f"Range, Statistics({self.told})")


def test_nothing_is_printed_and_other_threads_print_as_ever(capsys):
    """Also into the standard output that they took hold of meanwhile."""
    taken = []

    class Slow(Frame):
        def explain(self, **_):
            other = Thread(target=lambda: (taken.append(sys.stdout), print("other")))
            other.start()
            other.join()
            print(f"Statistics({self.told})")

    before = sys.stdout
    assert estimated_rows(Slow("sizeInBytes=78.1 KiB, rowCount=1.00E+4")) == 10_000
    assert sys.stdout is before
    print("later", file=taken[0], flush=True)
    assert taken[0].encoding == before.encoding
    assert capsys.readouterr().out == "other\nlater\n"


def test_many_threads_ask_at_once(capsys):
    before, asked = sys.stdout, [f"rowCount={n}" for n in range(1, 50)]
    with ThreadPoolExecutor(8) as threads:
        known = list(threads.map(estimated_rows, [Frame(f"sizeInBytes=1.0 B, {n}") for n in asked]))
    assert known == list(range(1, 50))
    assert sys.stdout is before
    assert capsys.readouterr().out == ""


def test_without_a_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert estimated_rows(Frame("sizeInBytes=80.0 B")) == 10
    assert sys.stdout is None


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


def test_a_spark_that_explains_otherwise_knows_nothing():
    class Quiet(Frame):
        def explain(self, **_):
            return self.told

    assert estimated_rows(Quiet("sizeInBytes=80.0 B")) is None
