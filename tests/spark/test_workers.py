"""A Python worker of Spark does not look through loaded modules after each task."""

from __future__ import annotations

import ast
import ctypes
import gc
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql.types import LongType, StructField, StructType

import fanlight
from fanlight.engine.spark.ordered import workers
from tests.helpers.streams import patiently

ONE = StructType([StructField("n", LongType())])
IN_PYTHON = {"mapInArrow", "mapInPandas", "applyInArrow", "applyInPandas"}


@pytest.fixture
def unspared(monkeypatch):
    """As in a process that has spared nothing yet."""
    monkeypatch.setattr(workers, "_spared", 0)
    yield
    gc.unfreeze()


@pytest.fixture
def in_a_task(monkeypatch):
    monkeypatch.setattr(TaskContext, "get", staticmethod(object))


def all_spared(some):
    """Whether a collection would pass over all of these."""
    looked_at = {id(one) for one in gc.get_objects()}
    return not looked_at.intersection(map(id, some))


@pytest.mark.usefixtures("unspared", "in_a_task")
def test_what_is_loaded_is_passed_over(monkeypatch):
    some = [[] for _ in range(1_000)]
    workers.freeze_modules()
    assert all_spared(some)
    more = [[] for _ in range(1_000)]
    workers.freeze_modules()
    assert not all_spared(more), "no module more, nothing to do"
    monkeypatch.setitem(sys.modules, "loaded since", sys)
    workers.freeze_modules()
    assert all_spared(more)


@pytest.mark.usefixtures("unspared", "in_a_task")
def test_garbage_is_not_kept():
    gone = []

    class Ring:
        def __init__(self):
            self.own = self

        def __del__(self):
            gone.append(self)

    Ring()
    workers.freeze_modules()
    assert gone


@pytest.mark.usefixtures("unspared")
def test_the_driver_is_left_alone():
    some = [[] for _ in range(1_000)]
    workers.freeze_modules()
    assert not all_spared(some)


def test_a_later_task_finds_it_so(classic):
    """Of the same worker, which is one of a few."""

    def counted(batches):  # nested, so that it goes to workers with its code
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"n": [gc.get_freeze_count()] * batch.num_rows})

    df = workers.run_in_workers(classic.range(1).coalesce(1), counted, ONE)
    assert any(patiently(df.collect)[0].n > 10_000 for _ in range(50))


def calls(path):
    """The functions by which this file has Spark start Python."""
    tree = ast.parse(path.read_text("utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names & IN_PYTHON


def test_all_functions_go_the_same_way():
    root = Path(fanlight.__file__).parent
    found = {path.name for path in root.rglob("*.py") if calls(path)}
    # the doctor's function goes whole, to where fanlight may be missing;
    # and results are packed by functions that go whole, too, where Spark has no toArrow
    assert found == {"workers.py", "doctor.py", "arrow.py"}


def worker_that_ends_by(how):
    """What runs in a worker, by value: workers know no test."""

    def killed(batches):
        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    def at_fault(batches):
        ctypes.string_at(0)
        yield from batches

    return {"kill": killed, "fault": at_fault}[how]


@pytest.mark.parametrize(
    ("how", "tries", "told"),
    [("kill", 5, "unexpectedly"), ("fault", 1, "Segmentation fault")],
)
def test_a_killed_worker_is_told_from_one_at_fault(spark, how, tries, told):
    """A query of a test is asked again only where the machine killed its worker."""
    tried = []

    def act():
        tried.append(how)
        return spark.range(1).mapInArrow(worker_that_ends_by(how), "id long").collect()

    with pytest.raises((PySparkException, Py4JError), match=told):
        patiently(act)
    assert len(tried) == tries
