"""The examples in the docstrings, run as they stand."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import fanlight as fl
from fanlight import agg
from fanlight.engine.algebra.registry import AGGREGATES
from tests.helpers.sparks import configured

WALK = pkgutil.walk_packages(fl.__path__, "fanlight.")
MODULES = sorted(found.name for found in WALK if not found.name.endswith("__main__"))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(module, name) if test.examples]


@pytest.mark.usefixtures("time_zone_of_docs")
@pytest.mark.parametrize("name", ["fanlight", *MODULES])
def test_examples(name, classic):
    told = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in examples(name):
        test.globs.update(spark=classic, fl=fl, agg=agg)
        runner.run(test, out=told.append)
    assert runner.failures == 0, "".join(told)


@pytest.fixture
def time_zone_of_docs(classic):
    """Examples show times in UTC."""
    with configured(classic, "spark.sql.session.timeZone", "UTC"):
        yield


def test_every_aggregate_has_an_example():
    rooms = [name for name in MODULES if name.startswith("fanlight.engine.algebra")]
    tested = {test.name.rpartition(".")[2] for name in rooms for test in examples(name)}
    others = AGGREGATES.names  # of another name its aggregate has the example
    assert {*agg.__all__} - {*others} <= tested


def test_a_wrong_example_is_seen():
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(wrong, out=lambda _: None).failed == 1
