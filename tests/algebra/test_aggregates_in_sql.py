"""Every aggregate as Spark runs it: the laws, the types it gives, and what it refuses."""

from __future__ import annotations

import pytest

import fanlight as fl
from fanlight import algebra
from fanlight.engine.algebra.registry import Entry, sample
from tests.algebra.in_sql import complaints
from tests.helpers.aggregates import EVERYTHING, REGISTRY, Asked, call, compared_samples, of_rows
from tests.helpers.dataframes import frame

ASKED = [one for one in compared_samples() if of_rows(one)]


@pytest.fixture(scope="module")
def told(classic):
    """What the laws say of every sample; in a few queries for all, which takes a fraction."""
    return complaints(classic, ASKED)


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[one.name for one in ASKED])
def test_laws_in_sql(told, number):
    assert told[number] == []


def test_results_are_of_the_types_that_the_samples_say(spark):
    windows = fl.over(frame(spark, []), fl.Sliding("1 minute"), time="ts")
    result = windows.agg(**{name: call(request) for name, request in EVERYTHING.items()})
    assert dict(result.drop("window").dtypes) == {one.name: one.sample.gives for one in ASKED}


@pytest.mark.parametrize("name", REGISTRY)
def test_what_an_aggregate_cannot_take_is_refused(classic, name):
    entry = REGISTRY[name]
    one = Asked(entry, entry.samples[-1])
    windows = fl.over(frame(classic, []), fl.Sliding("1 minute"), time="ts")
    options = dict(one.sample.options)
    missing = one.entry.function(*["absent"] * len(one.sample.types), **options)
    wanted = missing.aggregate
    if wanted.arity:
        with pytest.raises(fl.FanlightError, match="absent"):
            windows.agg(missing)
    odd = {
        "numeric": "s",
        "string": "v",
        "orderable": "m",
        "groupable": "m",
        "boolean": "s",
        "integral": "v",
        "floating": "n",
        "float": "v",
        "hashable": "v",
        "thetable": "d",
    }.get(wanted.accepts)
    if wanted.arity and odd:
        df = frame(classic, []).selectExpr("*", "map(1, 2) as m")
        windows = fl.over(df, fl.Sliding("1 minute"), time="ts")
        with pytest.raises(fl.FanlightError, match=rf"'{odd}' is of type"):
            windows.agg(one.entry.function(*[odd] * len(one.sample.types), **options))


# A test that cannot fail is worth nothing: aggregates that are wrong.


def _claimed(name, fields, lower, kind="double"):
    """An aggregate that claims to be the one called ``name``."""

    def function(*columns):
        return algebra.Aggregate(name, fields, lower, accepts="any")(*columns)

    function.__name__ = name
    return Asked(Entry(function, (sample(kind, gives=kind),)), sample(kind, gives=kind))


class WithoutNull(algebra.Max):
    """Takes a piece without values for a piece with a 0."""

    def lift(self, v, **more):
        return f"coalesce({super().lift(v, **more)}, 0D)"


class LastOnly(algebra.Sum):
    """Forgets all pieces but one."""

    _combine_all = "max({p}){over}"


WRONG = [
    (_claimed("max", {"p": WithoutNull()}, "{p}"), "negative values"),
    (_claimed("sum", {"p": LastOnly()}, "{p}"), "at once"),
    (_claimed("max", {"p": algebra.Min()}, "{p}"), "in one piece"),
    (_claimed("count", {"p": algebra.Count()}, "{p}"), "without rows"),
    (_claimed("avg", {"p": algebra.Sum()}, "{p}"), "finite values"),
    (_claimed("min_count", {"p": algebra.Count()}, "coalesce({p}, 0L)"), "finite values"),
]


def test_a_wrong_aggregate_is_seen(classic):
    found = complaints(classic, [one for one, _ in WRONG])
    for number, (_, seen) in enumerate(WRONG):
        assert seen in "\n".join(found[number]), number
