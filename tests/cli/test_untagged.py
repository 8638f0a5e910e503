"""A batch job in a session without tags, as the classic ones of Spark 3.5 are."""

from __future__ import annotations

import os
import signal
from threading import Event
from types import SimpleNamespace

import pytest

from fanlight.cli import running

ONLY_CONNECT = "is only supported with Spark Connect"


class Context:
    """What is asked of the context of a session."""

    def __init__(self):
        self.descriptions, self.cancelled = [], Event()

    def setJobDescription(self, text):  # noqa: N802
        self.descriptions.append(text)

    def cancelAllJobs(self):  # noqa: N802
        self.cancelled.set()


class Untagged:
    """A session that has the names of Spark 3.5, and refuses them as it does."""

    def __init__(self):
        self.sparkContext = Context()

    def addTag(self, _):  # noqa: N802
        raise RuntimeError(f"SparkSession.addTag {ONLY_CONNECT}")

    def interruptAll(self):  # noqa: N802
        raise RuntimeError(f"SparkSession.interruptAll {ONLY_CONNECT}")


def job(write):
    """A job whose sink writes so."""
    sink = SimpleNamespace(format="console", fit_columns=lambda found: found, write=write)
    query = SimpleNamespace(text="SELECT\n  1")
    return SimpleNamespace(
        name="busy", query=query, sink=sink, result=lambda _, *, stream: ["rows", stream]
    )


def test_it_runs_to_its_end_and_describes_its_jobs():
    spark, written = Untagged(), []
    ran = running.run_batch(job(written.append), spark)
    assert written == [["rows", False]]
    assert not ran.interrupted
    assert spark.sparkContext.descriptions == ["busy: SELECT 1 to console"]
    assert not spark.sparkContext.cancelled.is_set()


def test_ctrl_c_cancels_its_jobs():
    spark = Untagged()

    def write(_):
        os.kill(os.getpid(), signal.SIGINT)
        assert spark.sparkContext.cancelled.wait(30)
        raise ValueError("the job was cancelled")

    with pytest.raises(KeyboardInterrupt):
        running.run_batch(job(write), spark)
    assert spark.sparkContext.cancelled.is_set()
