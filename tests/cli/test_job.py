"""The job's cases, and the comparison on which the demo's verdict rests."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest

import fanlight as fl
from fanlight.cli import job


def table(*rows):
    names = ("origin", "start", "end", "departures", "mean_delay")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


ROWS = (("JFK", 0, 6, 3, 0.1), ("JFK", 6, 12, 1, None), ("LGA", 0, 6, 2, -4.0))


def test_equal_tables_have_no_difference():
    assert job.different(table(*ROWS), table(*ROWS)) == 0


@pytest.mark.parametrize(
    "other",
    [
        ROWS[:-1],  # a window is missing
        (*ROWS, ("LGA", 6, 12, 1, 0.0)),  # one too many
        (*ROWS[:-1], ("LGA", 0, 6, 2, -4.0000000001)),  # equal, not close
        (*ROWS[:-1], ("LGA", 0, 6, 2, None)),
        (*ROWS[:-1], ("LGA", 0, 6, 3, -4.0)),
    ],
)
def test_each_different_window_counts_once(other):
    assert job.different(table(*ROWS), table(*other)) == 1
    assert job.different(table(*other), table(*ROWS)) == 1


def test_windows_that_are_another_count_on_both_sides():
    other = (*ROWS[:-1], ("LGA", 1, 7, 2, -4.0))
    assert job.different(table(*ROWS), table(*other)) == 2


def test_cases_are_several_kinds_of_windows():
    names = [case.name for case in job.CASES]
    assert names == ["1 h every 20 min", "90 min every 1 h", "6 h every 30 min", "24 h every 1 h"]
    assert job.CASES[1].spec == fl.Sliding("90 minutes", "1 hour")
    for case in (*job.CASES, job.AIRPORTS):
        assert case.spec == fl.Sliding(timedelta(hours=case.hours), case.slide)


def test_the_technique_is_read_off_a_plan():
    text = "Sliding(…)\n  cut         slices\n  strategy    pairs: each window scans\n"
    assert job.technique(text) == "pairs"
    assert job.technique("nothing of the kind") == ""


@pytest.mark.parametrize(
    ("known", "technique"),
    [(None, "panes"), (job.Known(0.01, 35), "expand"), (job.Known(1_000.0, 35), "panes")],
)
def test_what_is_known_reaches_the_cost_model(classic, known, technique):
    df = classic.createDataFrame(
        [], "departed timestamp, origin string, carrier string, delay bigint"
    )
    assert job.technique(job.plan(df, job.CASES[2], known)) == technique


def test_the_reader_is_told_if_spark_does_not_start(monkeypatch, tmp_path):
    from pyspark.errors import PySparkRuntimeError

    class Builder:
        def __getattr__(self, name):
            return lambda *_: self

        def getOrCreate(self):  # noqa: N802 - Spark's name
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    class Session:
        builder = Builder()

    monkeypatch.setattr(job, "SparkSession", Session)
    with (
        pytest.raises(fl.FanlightError, match="Java 17 or newer"),
        job.session(tmp_path / "spark.log"),
    ):
        pass
