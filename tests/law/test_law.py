"""The law: what is asked of the library is answered as the oracle does, wherever it runs."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import ArithmeticException

import fanlight as fl
from tests.helpers.dataframes import frame
from tests.helpers.sparks import VERSION
from tests.law.comparison import agree
from tests.law.limits import as_spark, refused
from tests.law.oracle import wanted
from tests.law.registry import KINDS, everything


def marks(ask):
    """What pytest -m may ask for."""
    found = [pytest.mark.streaming] if ask.streamed else []
    found += [pytest.mark.thorough] if ask.thorough else []
    return found + ([pytest.mark.connect] if ask.session == "connect" else [])


def oracle_of(ask):
    return as_spark(ask, wanted(ask, KINDS[ask.kind].oracles[ask.action]))


def wants_spark_4(ask):
    """Whether a stream has an operator after an aggregation, or two of them."""
    in_python = ask.streamed and KINDS[ask.kind].in_python(ask)
    return in_python and (ask.late == "collect" or ask.strategy == "chain" or ask.action == "fit")


@pytest.mark.parametrize(
    "ask", [pytest.param(ask, id=ask.name, marks=marks(ask)) for ask in everything()]
)
def test_law(answers, ask):
    if VERSION < (4, 0) and wants_spark_4(ask):
        with pytest.raises(fl.FanlightError, match=r"where Spark 3\.5 allows .* Spark 4\.0"):
            answers.of(ask)
        return
    expected = oracle_of(ask)
    assert bool(expected) != ask.about.startswith("no "), "nothing to compare"
    agree(answers.of(ask), expected)
    needed = ask.streamed and (ask.late == "collect" or KINDS[ask.kind].in_python(ask))
    needed &= VERSION >= (4, 0)  # in 3.5 an operator's state is in any store
    assert answers.needed_rocksdb(ask) == needed, "not the state store that its kind promises"


@pytest.mark.parametrize("ask", [pytest.param(ask, id=ask.name) for ask in refused(KINDS.values())])
def test_a_sum_that_is_too_large_is_an_error_of_spark(answers, ask):
    """One of those that Spark's own sums and means raise; which one depends on its plan."""
    kinds = ArithmeticException if VERSION >= (4, 0) else Py4JJavaError  # 3.5: that a job failed
    with pytest.raises(kinds, match=r"\[(ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE)"):
        answers.of(ask)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_strategy_is_in_the_registry(classic, kind):
    """The library names its strategies where it is asked for one that it does not have."""
    spec, time = kind.example
    with pytest.raises(fl.FanlightError) as caught:
        fl.over(frame(classic, []), spec, time=time).using("nonsense")
    named = set(str(caught.value).replace('"', "'").split("'")[1::2]) - {"nonsense"}
    assert named - set(kind.strategies) == set()
