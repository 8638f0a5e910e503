"""What follows from the registry: exports, the page, the oracle, and what docstrings say."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import pytest
from pyspark.sql import functions

import fanlight.engine.algebra.library
from fanlight import agg, algebra
from fanlight.engine.algebra.aggregate import ARGUMENTS
from fanlight.engine.algebra.registry import Registry, sample
from fanlight.engine.algebra.suggestions import OF_SPARK, OTHERWISE
from fanlight.engine.spec.errors import FanlightError
from scripts import aggregates as written
from tests.algebra.explained import unexplained
from tests.helpers.aggregates import (
    EVERYTHING,
    FEW,
    REGISTRY,
    call,
    compared_samples,
    requests,
)
from tests.helpers.public import checked
from tests.oracle.aggregates import FUNCTIONS
from tests.oracle.carried import CARRIED

COMPARED = {one.entry.name for one in compared_samples()}


def left_out(registry, names):
    """What of a registry is missing from names, or is there without an entry."""
    return set(registry) ^ set(names)


def found_functions():
    """Every public function of the library that makes an aggregate, by name."""
    home = fanlight.engine.algebra.library
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.iter_modules(home.__path__, f"{home.__name__}.")
    ]
    return {
        name: thing
        for module in modules
        for name, thing in inspect.getmembers(module, inspect.isfunction)
        if thing.__annotations__.get("return") == "Call" and not name.startswith("_")
    }


def test_every_function_is_entered():
    assert left_out(REGISTRY, found_functions()) == set()


def test_every_entry_is_exported():
    assert left_out({*REGISTRY, *REGISTRY.others}, agg.__all__) == set()
    assert sorted(name for name in dir(agg) if not name.startswith("_")) == sorted(agg.__all__)
    for name, entry in REGISTRY.items():
        assert getattr(agg, name) is entry.function


@pytest.mark.parametrize(("other", "name"), REGISTRY.others.items())
def test_other_names_are_those_of_spark_and_mean_the_same(other, name):
    function, usual = getattr(agg, other), getattr(agg, name)
    assert hasattr(functions, other)
    assert function.__name__ == other
    assert function.__doc__ == f"Another name for agg.{name}."
    assert inspect.signature(function) == inspect.signature(usual)
    for one in REGISTRY[name].samples:
        given = (ARGUMENTS[: len(one.types)], dict(one.options))
        asked, same = function(*given[0], **given[1]), usual(*given[0], **given[1])
        assert asked.aggregate.partials(one.types) == same.aggregate.partials(one.types)
        assert asked.label.removeprefix(other) == same.label.removeprefix(same.aggregate.name) or (
            asked.label == same.label
        )
    with pytest.raises(FanlightError, match=rf"{other}\(.*; write agg.{other}\('x'"):
        function()


def test_names_that_only_sql_has_are_not_in_agg():
    for other in {*REGISTRY.names} - {*REGISTRY.others}:
        assert not hasattr(functions, other)
        with pytest.raises(FanlightError, match=f"write agg.{REGISTRY.names[other]}"):
            getattr(agg, other)


def of_spark():
    """The aggregates in ``pyspark.sql.functions``, as its source lists them since Spark 4.0."""
    listed = inspect.getsource(functions).partition("# Aggregate Functions")[2]
    return re.findall(r'^    "(\w+)",$', listed.partition(" Functions")[0], re.MULTILINE)


@pytest.mark.skipif(len(of_spark()) < 60, reason="an older Spark lists none")
@pytest.mark.parametrize("name", of_spark())
def test_every_aggregate_of_spark_is_there_or_says_what_to_write(name):
    if name in agg.__all__:
        assert {*inspect.signature(getattr(agg, name)).parameters}
        return
    with pytest.raises(FanlightError, match=r"; write (agg\.|F\.|df\.)") as caught:
        getattr(agg, name)
    assert name in {*OTHERWISE, *OF_SPARK}, caught.value


def test_every_entry_has_an_oracle_and_every_oracle_an_entry():
    assert left_out(COMPARED, FUNCTIONS) == set()


def test_every_sample_is_a_request_of_its_own():
    assert len(requests()) == len(compared_samples())
    assert set(FEW) < set(EVERYTHING)
    for one in compared_samples():
        given = one.entry.function(*one.columns, **dict(one.sample.options))
        asked_for = call(one.request)
        assert asked_for.label == given.label
        assert asked_for.columns == one.columns
        # recipes are closures, which equal only themselves; what they make can be compared
        made = [c.aggregate.partials(one.sample.types) for c in (asked_for, given)]
        assert made[0] == made[1]


@pytest.mark.parametrize("name", REGISTRY)
def test_every_parameter_of_an_aggregate_is_given_by_a_sample(name):
    """An argument that no sample gives is not tested."""
    entry = REGISTRY[name]
    given = {option for one in entry.samples for option, _ in one.options}
    columns = max(len(one.types) for one in entry.samples)
    parameters = list(inspect.signature(entry.function).parameters)
    asked = {"carry"} if name in CARRIED else set()  # of windows that time places (law/carried.py)
    assert set(parameters[columns:]) - asked <= given


def test_the_module_and_the_page_are_up_to_date():
    entries = list(REGISTRY.values())
    what_to_do = "run `python -m scripts.aggregates`"
    assert written.MODULE.read_text("utf-8") == written.module(entries), what_to_do
    assert written.PAGE.read_text("utf-8") == written.page(entries), what_to_do


@pytest.mark.parametrize("name", REGISTRY)
def test_every_docstring_is_complete(name):
    assert unexplained(REGISTRY[name].function) == set()


@pytest.mark.parametrize("name", algebra.__all__)
def test_what_aggregates_are_made_of_is_explained(name):
    said = written.sections(getattr(algebra, name).__doc__)
    assert len(said[""]) > 20
    assert ">>> " in said["Examples"]


USER = """
from fanlight import agg
from fanlight.agg import max
from fanlight.algebra import Call

def middle(column: str) -> Call:
    return agg.median(column).alias("middle")

reveal_type(max("price"))
reveal_type(agg.percentile("price", [0.5]))
reveal_type(agg.stddev("price", distinct=True))
agg.listagg(column="word", delimiter=1)
agg.nothing("x")
"""


WRONG_TYPE = 'has incompatible type "int"; expected "str"  [arg-type]'


@pytest.mark.slow
def test_a_user_s_type_checker_sees_each_aggregate(tmp_path, mypy_cache):
    lines, ran = checked(tmp_path, mypy_cache, USER)
    assert [line.partition(": ")[2] for line in lines] == [
        'note: Revealed type is "fanlight.engine.algebra.aggregate.Call"',
        'note: Revealed type is "fanlight.engine.algebra.aggregate.Call"',
        'note: Revealed type is "fanlight.engine.algebra.aggregate.Call"',
        f'error: Argument "delimiter" to "listagg" {WRONG_TYPE}',
        'error: Module has no attribute "nothing"  [attr-defined]',
    ], ran.stdout + ran.stderr


# A test that cannot fail is worth nothing: each of the above, with something left out.


def test_what_is_left_out_is_seen():
    one_less = {name: entry for name, entry in REGISTRY.items() if name != "mode"}
    assert left_out(one_less, found_functions()) == {"mode"}
    assert left_out(REGISTRY, {*REGISTRY} - {"max"}) == {"max"}
    assert left_out(COMPARED, {**FUNCTIONS, "histogram": sum}) == {"histogram"}
    assert written.MODULE.read_text("utf-8") != written.module(one_less.values())
    assert written.PAGE.read_text("utf-8") != written.page(one_less.values())


def test_a_poor_docstring_is_seen():
    def poor(column, n):
        """The n-th.

        Parameters
        ----------
        column
            A column.

        """

    assert {"n", "Returns", "Raises", "Notes", "Examples"} <= unexplained(poor)


def test_entries_are_checked():
    mine = Registry()
    with pytest.raises(FanlightError, match="no sample"):
        mine.aggregate()(agg.max)
    mine.aggregate(sample("double", gives="double"))(agg.max)
    with pytest.raises(FanlightError, match="there already"):
        mine.aggregate(sample("double", gives="double"))(agg.max)
