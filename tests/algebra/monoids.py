"""Every monoid of the library, and the laws that one must obey, in plain Python."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fanlight import algebra
from fanlight.engine.algebra.library.held import Readings
from fanlight.engine.algebra.library.overlaps import AtOnce, RunningParts, United
from fanlight.engine.algebra.moments import Comoments, Covariances, HigherMoments
from fanlight.engine.algebra.monoids import Area, BitAnd, BitOr, BitXor, Product, WholeArea
from tests.helpers.aggregates import REGISTRY, compared_samples
from tests.helpers.shown import shown
from tests.oracle.values import rank

NAN, INF = float("nan"), float("inf")


def monoids_of(one):
    """The fields of an aggregate's partial, also of the one that stands in for a sketch."""
    exact = one.entry.call(one.sample).exact
    instead = exact.partials(one.sample.types).fields.values() if exact else ()
    return [*one.monoids, *instead]


def in_python(registry):
    """Every monoid of a registry whose partials are combined in Python, each once."""
    found = {
        monoid
        for one in compared_samples(registry)
        for monoid in monoids_of(one)
        if monoid.in_python
    }
    return sorted(found, key=repr)


IN_PYTHON = in_python(REGISTRY)
doubles = st.sampled_from((0.0, -0.0, 1.0, -2.5, 1e15, 1e-3, 0.1, INF, -INF, NAN))
finite = st.sampled_from((0.0, 1.0, -2.5, 1e15, 1e-3, 0.1, 7.0))
scalars = st.one_of(doubles, st.integers(-5, 5).map(float))
orders = st.tuples(st.integers(-3, 3), st.none() | st.integers(0, 2))


whole = st.integers(-(2**40), 2**40)
exact = st.integers(-(2**40), 2**40) | st.decimals(-999, 999, places=2).map(Fraction)
times = st.integers(1_700_000_000_000_000, 1_700_000_000_000_099)


def _ordered(monoid):
    return scalars if monoid.value == "{x}" else st.tuples(orders, st.none() | scalars)


# What a row may contribute to a monoid: its partial. A new monoid needs a line here.
PARTS = {
    algebra.Sum: lambda _: exact,
    algebra.Count: lambda _: st.just(1),
    Area: lambda _: exact,
    WholeArea: lambda _: whole,
    algebra.Min: _ordered,
    algebra.Max: _ordered,
    algebra.Moments: lambda _: finite.map(lambda value: (1, value, 0.0)),
    HigherMoments: lambda _: finite.map(lambda value: (1, value, 0.0, 0.0, 0.0)),
    Covariances: lambda _: st.tuples(finite, finite).map(
        lambda pair: (1, 0, pair[0], pair[1], 0.0, 0.0, 0.0)
    ),
    BitAnd: lambda _: whole,
    BitOr: lambda _: whole,
    BitXor: lambda _: whole,
    Product: lambda _: st.sampled_from((0.0, 1.0, -2.5, 1e3, 0.1)),
    Comoments: lambda _: st.tuples(times, finite).map(
        lambda point: (1, point[0], 0.0, point[1], 0.0, 0.0, 0.0)
    ),
    algebra.ExtremeCount: lambda _: scalars.map(lambda value: (value, 1)),
    algebra.Values: lambda _: scalars.map(lambda value: [(value, 1)]),
    algebra.Collect: lambda _: st.tuples(orders, scalars).map(lambda entry: [entry]),
    AtOnce: lambda _: st.tuples(times, times, st.just(1)).map(lambda part: [part]),
    RunningParts: lambda _: st.tuples(times, times, whole).map(lambda part: [part]),
    United: lambda _: st.tuples(times, times, st.just(1)).map(lambda part: [part]),
    Readings: lambda _: st.tuples(times, orders, scalars).map(lambda entry: [entry]),
    algebra.Extremes: lambda _: scalars.map(lambda value: [value]),
}


def elements(monoid):
    """What a row may contribute to a monoid of this kind: a partial of one row, or None."""
    return st.none() | PARTS[type(monoid)](monoid)


def fold(monoid, units):
    found = None
    for unit in units:
        found = monoid.combine_values(found, unit)
    return found


def meaning(monoid, partial):
    """What a partial stands for, however it was come by."""
    if partial is None:
        return None
    if isinstance(monoid, algebra.Values):
        counts = {}
        for value, count in partial:
            counts[rank(value)] = counts.get(rank(value), 0) + count
        return sorted(item for item in counts.items() if item[1])
    if isinstance(monoid, algebra.Collect):
        return sorted(map(rank, partial))
    if isinstance(monoid, Comoments):
        n, t0, mx, *rest = partial
        return (n, Fraction(t0) + Fraction(mx), *rest)
    return partial


# Sizes of the values above bound what each step may lose.
SIZES = {
    algebra.Moments: (0, 1e15, 1e30),
    HigherMoments: (0, 1e15, 1e30, 1e45, 1e60),
    Comoments: (0, 100, 1e15, 1e4, 1e17, 1e30),
    Covariances: (0, 1e15, 1e15, 1e30, 1e30, 1e30),
}


def alike(monoid, a, b):
    a, b = meaning(monoid, a), meaning(monoid, b)
    if None not in (a, b) and isinstance(monoid, Product):
        return abs(a - b) <= 1e-12 * abs(a)
    if None not in (a, b) and type(monoid) in SIZES:
        pairs = zip(a, b, SIZES[type(monoid)], strict=True)
        return all(abs(one - two) <= 1e-12 * size for one, two, size in pairs)
    return rank(a) == rank(b)


def check_laws(monoid, a, b, c):
    """Identity, associativity, commutativity, inverse and idempotence, as the monoid promises."""

    def holds(law, one, two):
        assert alike(monoid, one, two), f"{law}: {one!r} is not {two!r}"

    join = monoid.combine_values
    holds("left identity", join(None, a), a)
    holds("right identity", join(a, None), a)
    holds("associativity", join(join(a, b), c), join(a, join(b, c)))
    if monoid.commutative:
        holds("commutativity", join(a, b), join(b, a))
    if monoid.idempotent:
        holds("idempotence", join(a, a), a)
    if hasattr(monoid, "without") and None not in (a, b):
        holds("inverse", join(monoid.without(join(a, b), b), b), join(a, b))
        taken = monoid.without(join(a, b), b)
        holds("inverse", taken, a)


def partials(monoid):
    return st.lists(elements(monoid), max_size=5).map(lambda units: fold(monoid, units))


def check_monoid(monoid, count=150):
    """The laws on that many drawn triples of partials."""

    @shown(count)
    @given(partials(monoid), partials(monoid), partials(monoid))
    def run(a, b, c):
        check_laws(monoid, a, b, c)

    run()
