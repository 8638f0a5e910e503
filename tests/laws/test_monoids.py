"""The laws of every monoid that an aggregate of the library is made of, in plain Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fanlight import agg
from fanlight.algebra.collections import HyperLogLog, Quantiles
from fanlight.algebra.monoids import Comoments
from fanlight.reference.values import rank
from fanlight.spec.errors import FanlightError

NAN, INF = float("nan"), float("inf")

# A call of every aggregate, with the argument types it is asked for.
CALLS = [
    (agg.count(), ()),
    (agg.count("x"), ("double",)),
    *((agg.sum("x"), (kind,)) for kind in ("double", "bigint", "decimal(12,2)")),
    *((agg.avg("x"), (kind,)) for kind in ("double", "bigint", "int")),
    (agg.mean("x"), ("double",)),
    (agg.min("x"), ("double",)),
    (agg.max("x"), ("string",)),
    (agg.var_samp("x"), ("double",)),
    (agg.var_pop("x"), ("double",)),
    (agg.stddev_samp("x"), ("double",)),
    (agg.stddev_pop("x"), ("double",)),
    (agg.min_by("x", "y"), ("string", "double")),
    (agg.max_by("x", "y"), ("string", "double")),
    (agg.first("x"), ("double",)),
    (agg.first("x", ignorenulls=True), ("double",)),
    (agg.last("x"), ("double",)),
    (agg.last("x", ignorenulls=True), ("double",)),
    (agg.count_distinct("x"), ("double",)),
    (agg.count_distinct("x", "y"), ("string", "double")),
    (agg.count_distinct("x", "y", "z"), ("string", "double", "bigint")),
    (agg.approx_count_distinct("x"), ("string",)),
    (agg.collect_list("x"), ("double",)),
    (agg.concat("x", ", "), ("string",)),
    (agg.median("x"), ("double",)),
    (agg.percentile("x", [0.1, 0.9]), ("double",)),
    (agg.approx_percentile("x", 0.5), ("double",)),
    (agg.mode("x"), ("string",)),
    (agg.heavy_hitters("x", 0.1), ("string",)),
    (agg.max_count("x"), ("double",)),
    (agg.min_count("x"), ("double",)),
    (agg.nth_smallest("x", 3), ("double",)),
    (agg.nth_youngest("x", 2), ("double",)),
    (agg.linear_fit("x"), ("double",)),
]
MONOIDS = {
    monoid for call, types in CALLS for monoid in call.aggregate.partials(types).fields.values()
}
IN_SPARK_ONLY = (HyperLogLog, Quantiles)
JOINED = sorted((m for m in MONOIDS if not isinstance(m, IN_SPARK_ONLY)), key=repr)

doubles = st.sampled_from((0.0, -0.0, 1.0, -2.5, 1e15, 1e-3, 0.1, INF, -INF, NAN))
finite = st.sampled_from((0.0, 1.0, -2.5, 1e15, 1e-3, 0.1, 7.0))
scalars = st.one_of(doubles, st.integers(-5, 5).map(float))
orders = st.tuples(st.integers(-3, 3), st.none() | st.integers(0, 2))


def elements(monoid):
    """What a row may contribute to a monoid of this kind: a partial of one row, or None."""
    if isinstance(monoid, agg.Sum):
        exact = st.integers(-(2**40), 2**40) | st.decimals(-999, 999, places=2).map(Fraction)
        one = st.just(1) if isinstance(monoid, agg.Count) else exact
    elif isinstance(monoid, (agg.Min, agg.Max)):
        one = (
            st.one_of(scalars) if monoid.value == "{x}" else st.tuples(orders, st.none() | scalars)
        )
    elif isinstance(monoid, agg.Moments):
        one = finite.map(lambda value: (1, value, 0.0))
    elif isinstance(monoid, Comoments):
        times = st.integers(1_700_000_000_000_000, 1_700_000_000_000_099)
        one = st.tuples(times, finite).map(lambda p: (1, p[0], 0.0, p[1], 0.0, 0.0, 0.0))
    elif isinstance(monoid, agg.ExtremeCount):
        one = scalars.map(lambda value: (value, 1))
    elif isinstance(monoid, agg.Values):
        one = scalars.map(lambda value: [(value, 1)])
    elif isinstance(monoid, agg.Collect):
        one = st.tuples(orders, scalars).map(lambda entry: [entry])
    elif isinstance(monoid, agg.Extremes):
        one = scalars.map(lambda value: [value])
    else:
        one = st.integers()
    return st.none() | one


def fold(monoid, units):
    found = None
    for unit in units:
        found = monoid.join(found, unit)
    return found


def meaning(monoid, partial):
    """What a partial stands for, however it was come by."""
    if partial is None:
        return None
    if isinstance(monoid, agg.Values):
        counts = {}
        for value, count in partial:
            counts[rank(value)] = counts.get(rank(value), 0) + count
        return sorted(item for item in counts.items() if item[1])
    if isinstance(monoid, agg.Collect):
        return sorted(map(rank, partial))
    if isinstance(monoid, Comoments):
        n, t0, mx, *rest = partial
        return (n, Fraction(t0) + Fraction(mx), *rest)
    return partial


def alike(monoid, a, b):
    a, b = meaning(monoid, a), meaning(monoid, b)
    if isinstance(monoid, (agg.Moments, Comoments)) and None not in (a, b):
        # Sizes of the values above bound what each step may lose.
        if isinstance(monoid, agg.Moments):
            sizes = (0, 1e15, 1e30)
        else:
            sizes = (0, 100, 1e15, 1e4, 1e17, 1e30)
        pairs = zip(a, b, sizes, strict=True)
        return all(abs(one - two) <= 1e-12 * size for one, two, size in pairs)
    return rank(a) == rank(b)


def check_laws(monoid, a, b, c):
    """Identity, associativity, commutativity, inverse and idempotence, as the monoid promises."""

    def holds(law, one, two):
        assert alike(monoid, one, two), f"{law}: {one!r} is not {two!r}"

    join = monoid.join
    holds("left identity", join(None, a), a)
    holds("right identity", join(a, None), a)
    holds("associativity", join(join(a, b), c), join(a, join(b, c)))
    holds("commutativity", join(a, b), join(b, a))
    if monoid.idempotent:
        holds("idempotence", join(a, a), a)
    if hasattr(monoid, "without") and None not in (a, b):
        holds("inverse", join(monoid.without(join(a, b), b), b), join(a, b))
        taken = monoid.without(join(a, b), b)
        holds("inverse", taken, a)


def partials(monoid):
    return st.lists(elements(monoid), max_size=5).map(lambda units: fold(monoid, units))


@pytest.mark.parametrize("kind", ["decimal(12,2)", "decimal(38,18)", "decimal(1,0)"])
def test_the_mean_of_decimals_has_known_monoids(kind):
    assert set(agg.avg("x").aggregate.partials((kind,)).fields.values()) <= MONOIDS


@pytest.mark.parametrize("monoid", JOINED, ids=repr)
def test_laws(monoid):
    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(partials(monoid), partials(monoid), partials(monoid))
    def run(a, b, c):
        check_laws(monoid, a, b, c)

    run()


def test_every_aggregate_is_asked():
    functions = {name for name in agg.__all__ if name[0].islower()}
    assert functions == {call.aggregate.name for call, _ in CALLS} | {"mean"}


def test_no_monoid_is_forgotten():
    """A new monoid must say here what its partials are, or that they live in Spark only."""
    for monoid in JOINED:
        drawn = fold(monoid, [])
        assert drawn is None
        assert elements(monoid) is not None
    for monoid in MONOIDS:
        if isinstance(monoid, IN_SPARK_ONLY):
            assert monoid.join(None, "sketch") == "sketch"
            with pytest.raises(AttributeError):
                monoid.join("one", "other")


def test_moments_do_not_cancel():
    values = [1e9 + step for step in (4.0, 7.0, 13.0, 16.0)]
    monoid = agg.Moments()
    for parts in itertools.permutations([(1, value, 0.0) for value in values]):
        n, mean, m2 = fold(monoid, parts)
        assert (n, mean) == (4, 1e9 + 10)
        assert math.isclose(m2, 90.0, rel_tol=1e-9)


# A test that cannot fail is worth nothing: monoids that break one law each.


@dataclass(frozen=True)
class Difference(agg.Monoid):
    """Not associative."""

    def _join(self, a, b):
        return a - b


@dataclass(frozen=True)
class MeanOfMeans(agg.Monoid):
    """Not associative, though commutative."""

    def _join(self, a, b):
        return (a + b) / 2


@dataclass(frozen=True)
class Leftmost(agg.Monoid):
    """Not commutative, though associative."""

    def _join(self, a, b):
        del b
        return a


@dataclass(frozen=True)
class TakenBackMax(agg.Max):
    """Claims an inverse that a maximum has not."""

    def without(self, a, b):
        return a if b < a else None


@dataclass(frozen=True)
class IdempotentSum(agg.Sum):
    """Claims that a row may be counted twice."""

    idempotent = True


@dataclass(frozen=True)
class ZeroBased(agg.Sum):
    """Whose identity is not None: it loses what stands alone."""

    def join(self, a, b):
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
    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
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
    spread = agg.Aggregate("spread", {"hi": agg.Max(), "lo": agg.Min()}, "{hi} - {lo}")
    for monoid in spread.partials(("double",)).fields.values():
        check_laws(monoid, 1.0, NAN, None)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: agg.Aggregate("not a name", {"p": agg.Sum()}, "{p}"), "not a name"),
        (lambda: agg.Aggregate("f", {"p": "sum"}, "{p}"), "'p'"),
        (lambda: agg.Aggregate("f", {"p": agg.Sum()}, "{q}"), "lower"),
        (lambda: agg.Aggregate("f", {"p": agg.Sum()}, "{p}")("a", "b"), "2 arguments"),
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
