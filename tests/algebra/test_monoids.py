"""The laws of every monoid that an aggregate of the library is made of, in plain Python."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fanlight import agg, algebra
from fanlight.engine.algebra.library.held import Readings
from fanlight.engine.algebra.library.overlaps import AtOnce, RunningParts, United
from fanlight.engine.algebra.moments import Comoments, Covariances, HigherMoments
from fanlight.engine.algebra.monoids import Area, BitAnd, BitOr, BitXor, Product, WholeArea
from fanlight.engine.spec.errors import FanlightError
from tests.algebra.monoids import (
    IN_PYTHON,
    NAN,
    PARTS,
    SIZES,
    alike,
    check_laws,
    check_monoid,
    fold,
    meaning,
    monoids_of,
)
from tests.helpers.aggregates import REGISTRY, compared_samples
from tests.helpers.shown import shown
from tests.oracle.values import rank


def _of_a_number(entry):
    call = entry.call(entry.samples[0])
    return call.aggregate.accepts == "numeric" and call.aggregate.arity == 1


SKETCHES = {
    monoid for one in compared_samples() for monoid in monoids_of(one) if not monoid.in_python
}


@pytest.mark.parametrize("monoid", IN_PYTHON, ids=repr)
def test_laws(monoid):
    check_monoid(monoid)


def _deviations(one, other):
    """The sum of the products of two series' deviations from their means, exactly."""
    means = [Fraction(sum(map(Fraction, side)), len(side)) for side in (one, other)]
    pairs = zip(one, other, strict=True)
    return sum((Fraction(a) - means[0]) * (Fraction(b) - means[1]) for a, b in pairs)


def _extreme(monoid, values):
    key = (max if monoid.largest else min)(map(rank, values))
    return key, [rank(value) for value in values].count(key)


def _line(values):
    times, numbers = [point[1] for point in values], [point[3] for point in values]
    both = [numbers, times]
    mean = Fraction(sum(map(Fraction, numbers)), len(values))
    return (
        len(values), Fraction(sum(times), len(values)), mean,
        *(_deviations(*pair) for pair in ([times, times], both[::-1], both[:1] * 2)),
    )  # fmt: skip


def _spread(values):
    """Number, mean, and the sums of as many powers of the deviations as there are moments."""
    numbers = [Fraction(point[1]) for point in values]
    mean = sum(numbers) / len(numbers)
    powers = range(2, len(values[0]))
    return len(numbers), mean, *(sum((x - mean) ** power for x in numbers) for power in powers)


def _pairs(values):
    xs, ys = [pair[2] for pair in values], [pair[3] for pair in values]
    means = [sum(map(Fraction, side)) / len(values) for side in (xs, ys)]
    return (len(values), *means, *(_deviations(*pair) for pair in ([xs, xs], [xs, ys], [ys, ys])))


# What partials of single rows come to, by definition, from all of them at once.
DEFINED = {
    algebra.Sum: lambda _, units: sum(map(Fraction, units)),
    Area: lambda _, units: sum(map(Fraction, units)),
    WholeArea: lambda _, units: sum(map(Fraction, units)),
    algebra.Count: lambda _, units: len(units),
    algebra.Min: lambda _, units: min(map(rank, units)),
    algebra.Max: lambda _, units: max(map(rank, units)),
    algebra.Moments: lambda _, units: _spread(units),
    Comoments: lambda _, units: _line(units),
    HigherMoments: lambda _, units: _spread(units),
    Covariances: lambda _, units: _pairs(units),
    BitAnd: lambda _, units: functools.reduce(operator.and_, units),
    BitOr: lambda _, units: functools.reduce(operator.or_, units),
    BitXor: lambda _, units: functools.reduce(operator.xor, units),
    Product: lambda _, units: float(math.prod(map(Fraction, units))),
    algebra.ExtremeCount: lambda monoid, units: _extreme(monoid, [value for value, _ in units]),
    algebra.Values: lambda _, units: meaning(
        algebra.Values(), [one for unit in units for one in unit]
    ),
    algebra.Collect: lambda _, units: sorted(rank(entry) for unit in units for entry in unit),
    Readings: lambda _, units: sorted(rank(entry) for unit in units for entry in unit),
    AtOnce: lambda _, units: sorted(rank(entry) for unit in units for entry in unit),
    RunningParts: lambda _, units: sorted(rank(entry) for unit in units for entry in unit),
    United: lambda _, units: sorted(rank(entry) for unit in units for entry in unit),
    algebra.Extremes: lambda monoid, units: sorted(
        (rank(value) for unit in units for value in unit), reverse=monoid.largest
    )[: monoid.count],
}


def stands_for(monoid, partial):
    """A partial in the words of ``DEFINED``."""
    if isinstance(monoid, (algebra.Min, algebra.Max)):
        return rank(partial)
    if isinstance(monoid, algebra.ExtremeCount):
        return rank(partial[0]), partial[1]
    if isinstance(monoid, algebra.Extremes):
        return [rank(value) for value in partial]
    return meaning(monoid, partial)


def check_definition(monoid):
    """The partials of rows, combined one by one, stand for all of the rows."""

    @shown(150)
    @given(st.lists(PARTS[type(monoid)](monoid), min_size=1, max_size=6))
    def run(units):
        got = stands_for(monoid, fold(monoid, units))
        wanted = DEFINED[type(monoid)](monoid, units)
        if type(monoid) in (*SIZES, Product):
            assert alike(monoid, fold(monoid, units), _back(monoid, wanted)), (got, wanted)
        else:
            assert got == wanted

    run()


def _back(monoid, wanted):
    """What ``alike`` compares: of a line, the mean of the times is apart from an origin."""
    if isinstance(monoid, Comoments):
        n, mean, *rest = wanted
        return (n, mean, 0, *rest)
    return wanted


@pytest.mark.parametrize("monoid", IN_PYTHON, ids=repr)
def test_partials_of_rows_stand_for_all_of_them(monoid):
    check_definition(monoid)


@pytest.mark.parametrize("one", compared_samples(), ids=lambda one: one.name)
def test_every_aggregate_is_made_of_monoids_that_are_tested(one):
    assert monoids_of(one)
    assert set(monoids_of(one)) <= {*IN_PYTHON, *SKETCHES}


@pytest.mark.parametrize("kind", ["int", "decimal(38,18)", "decimal(1,0)", "float"])
@pytest.mark.parametrize("name", [n for n, e in REGISTRY.items() if _of_a_number(e)])
def test_numbers_of_other_types_need_no_other_monoids(name, kind):
    """Samples have a few types; a recipe may look at any."""
    entry = REGISTRY[name]
    made = entry.call(entry.samples[0]).aggregate.partials((kind,)).fields.values()
    assert {monoid for monoid in made if monoid.in_python} <= set(IN_PYTHON)


@pytest.mark.parametrize("monoid", sorted(SKETCHES, key=repr), ids=repr)
def test_a_sketch_is_not_combined_in_python(monoid):
    assert monoid.combine_values(None, "sketch") == "sketch"
    with pytest.raises(AttributeError, match=type(monoid).__name__):
        monoid.combine_values("one", "other")


@pytest.mark.parametrize("monoid", IN_PYTHON, ids=repr)
def test_what_is_invertible_can_be_taken_back(monoid):
    assert hasattr(monoid, "without") or not monoid.invertible


def test_moments_do_not_cancel():
    values = [1e9 + step for step in (4.0, 7.0, 13.0, 16.0)]
    monoid = algebra.Moments()
    for parts in itertools.permutations([(1, value, 0.0) for value in values]):
        n, mean, m2 = fold(monoid, parts)
        assert (n, mean) == (4, 1e9 + 10)
        assert math.isclose(m2, 90.0, rel_tol=1e-9)


# A test that cannot fail is worth nothing: monoids that break one law each.


@dataclass(frozen=True)
class Difference(algebra.Monoid):
    """Not associative."""

    def _combine_values(self, a, b):
        return a - b


@dataclass(frozen=True)
class MeanOfMeans(algebra.Monoid):
    """Not associative, though commutative."""

    def _combine_values(self, a, b):
        return (a + b) / 2


@dataclass(frozen=True)
class Leftmost(algebra.Monoid):
    """Not commutative, though associative."""

    def _combine_values(self, a, b):
        del b
        return a


@dataclass(frozen=True)
class TakenBackMax(algebra.Max):
    """Claims an inverse that a maximum has not."""

    def without(self, a, b):
        return a if b < a else None


@dataclass(frozen=True)
class IdempotentSum(algebra.Sum):
    """Claims that a row may be counted twice."""

    idempotent = True


@dataclass(frozen=True)
class ZeroBased(algebra.Sum):
    """Whose identity is not None: it loses what stands alone."""

    def combine_values(self, a, b):
        return (a or 0) * (b is not None) + (b or 0)


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        (Difference(), "associativity"),
        (MeanOfMeans(), "associativity"),
        (Leftmost(), "commutativity"),
        (TakenBackMax(), "inverse"),
        (IdempotentSum(), "idempotence"),
        (ZeroBased(), "identity"),
    ],
)
def test_a_wrong_monoid_is_seen(wrong, law):
    @shown(200)
    @given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
    def run(a, b, c):
        check_laws(wrong, a, b, c)

    with pytest.raises(AssertionError, match=law):
        run()


@pytest.mark.parametrize(
    ("call", "bounded", "differential"),
    [
        (agg.count(), True, "full"),
        (agg.sum("x"), True, "full"),
        (agg.avg("x"), True, "full"),
        (agg.max("x"), True, None),
        (agg.min_by("x", "y"), True, None),
        (agg.heavy_hitters("x", 0.05), False, "pseudo"),
        (agg.median("x"), False, "pseudo"),
        (agg.mode("x"), False, "pseudo"),
        (agg.collect_list("x"), False, None),
    ],
)
def test_classes_of_the_paper(call, bounded, differential):
    """Li et al., 3.2: max is neither full- nor pseudo-differential, heavy hitters are pseudo."""
    assert call.aggregate.bounded is bounded
    assert call.aggregate.differential == differential


def test_a_user_s_aggregate_comes_in_by_the_same_door():
    spread = algebra.Aggregate("spread", {"hi": algebra.Max(), "lo": algebra.Min()}, "{hi} - {lo}")
    for monoid in spread.partials(("double",)).fields.values():
        check_laws(monoid, 1.0, NAN, None)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: algebra.Aggregate("not a name", {"p": algebra.Sum()}, "{p}"), "not a name"),
        (lambda: algebra.Aggregate("f", {"p": "sum"}, "{p}"), "'p'"),
        (lambda: algebra.Aggregate("f", {"p": algebra.Sum()}, "{q}"), "lower"),
        (lambda: algebra.Aggregate("f", {"p": algebra.Sum()}, "{p}")("a", "b"), "2 arguments"),
        (lambda: agg.sum("x").alias(""), "alias"),
        (lambda: agg.percentile("x", 1.5), "percentage"),
        (lambda: agg.percentile("x", [0.1, True]), "percentage"),
        (lambda: agg.approx_percentile("x", 0.5, 0), "accuracy"),
        (lambda: agg.approx_count_distinct("x", 0.9), "rsd"),
        (lambda: agg.heavy_hitters("x", 0), "share"),
        (lambda: agg.nth_smallest("x", 0), "n=0"),
        (lambda: agg.nth_youngest("x", 1.0), "n=1.0"),
        (agg.count_distinct, "0 columns"),
        (lambda: agg.count_distinct("a", "b", "c", "d"), "4 columns"),
    ],
)
def test_bad_aggregates_are_refused(make, named):
    with pytest.raises(FanlightError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert named in str(caught.value)
