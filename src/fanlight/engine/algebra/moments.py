"""Centred moments of doubles: what variances, shapes, covariances and lines are read off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fanlight.engine.algebra.monoids import Monoid, fold_in_order
from fanlight.engine.spec.errors import explain_wrong_calls


@explain_wrong_calls("algebra.Moments('{x}')")
@dataclass(frozen=True)
class Moments(Monoid):
    """Count, mean and centred second moment of a double, combined as Chan, Golub and LeVeque do.

    Sums of squares would cancel for values far from zero; centred moments do not. The mean of equal
    values is that value, to the last bit, so that equal values never seem to vary.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Moments().combine_values((1, 2.0, 0.0), (1, 4.0, 0.0))
    (2, 3.0, 2.0)

    """

    running: ClassVar[bool] = False
    # v - v is 0, or NaN where v is not finite: then there is no variance, as in Spark.
    _unit = "if({v} is null, null, named_struct('n', 1L, 'mean', {v}, 'm2', {v} - {v}))"
    _lift = (
        "case when count({v}) > 0 then named_struct("
        "'n', count({v}), 'mean', if(var_pop({v}) = 0D, min({v}), avg({v})), "
        "'m2', var_pop({v}) * count({v})) end"
    )

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: fold partials into a partial."""
        step = (
            "case when a.n = 0L then b else named_struct('n', a.n + b.n, "
            "'mean', a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)), "
            "'m2', a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean)"
            " * (a.n * (b.n / (a.n + b.n)))) end"
        )
        fold = fold_in_order(p, over, "named_struct('n', 0L, 'mean', 0D, 'm2', 0D)", step)
        return f"nullif({fold}, named_struct('n', 0L, 'mean', 0D, 'm2', 0D))"

    def _combine_values(self, a: Any, b: Any) -> Any:
        n = a[0] + b[0]
        delta, share = b[1] - a[1], b[0] / n
        return (n, a[1] + delta * share, a[2] + b[2] + delta * delta * (a[0] * share))


@dataclass(frozen=True)
class HigherMoments(Monoid):
    """Count, mean and the centred second, third and fourth moments of a double.

    Combined as Chan, Golub and LeVeque do for two moments, and Pébay for any number.
    """

    running: ClassVar[bool] = False
    _unit = (
        "if({v} is null, null, named_struct('n', 1L, 'mean', {v}, "
        "'m2', {v} - {v}, 'm3', {v} - {v}, 'm4', {v} - {v}))"
    )
    # Spark has no skewness where all values are equal: then all moments are 0.
    _lift = (
        "case when count({v}) > 0 then named_struct("
        "'n', count({v}), 'mean', if(var_pop({v}) = 0D, min({v}), avg({v})), "
        "'m2', var_pop({v}) * count({v}), "
        "'m3', coalesce(skewness({v}), 0D) * var_pop({v}) * sqrt(var_pop({v})) * count({v}), "
        "'m4', (coalesce(kurtosis({v}), -3D) + 3D) * var_pop({v}) * var_pop({v}) * count({v})) end"
    )
    _zero = "named_struct('n', 0L, 'mean', 0D, 'm2', 0D, 'm3', 0D, 'm4', 0D)"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: fold partials into a partial."""
        # d: the distance of the means; s, r: the shares of all rows that b and a have.
        d, s, r = "(b.mean - a.mean)", "(b.n / (a.n + b.n))", "(a.n / (a.n + b.n))"
        step = (
            "case when a.n = 0L then b else named_struct('n', a.n + b.n, "
            f"'mean', a.mean + {d} * {s}, "
            f"'m2', a.m2 + b.m2 + {d} * {d} * (a.n * {s}), "
            f"'m3', a.m3 + b.m3 + {d} * {d} * {d} * (a.n * {s} * ({r} - {s})) "
            f"+ 3D * {d} * ({r} * b.m2 - {s} * a.m2), "
            f"'m4', a.m4 + b.m4 + {d} * {d} * {d} * {d} * (a.n * {s} * ({r} * {r} - {r} * {s} "
            f"+ {s} * {s})) + 6D * {d} * {d} * ({r} * {r} * b.m2 + {s} * {s} * a.m2) "
            f"+ 4D * {d} * ({r} * b.m3 - {s} * a.m3)) end"
        )
        return f"nullif({fold_in_order(p, over, self._zero, step)}, {self._zero})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        n = a[0] + b[0]
        d, s, r = b[1] - a[1], b[0] / n, a[0] / n
        return (
            n,
            a[1] + d * s,
            a[2] + b[2] + d * d * (a[0] * s),
            a[3] + b[3] + d * d * d * (a[0] * s * (r - s)) + 3 * d * (r * b[2] - s * a[2]),
            a[4] + b[4] + d * d * d * d * (a[0] * s * (r * r - r * s + s * s))
            + 6 * d * d * (r * r * b[2] + s * s * a[2]) + 4 * d * (r * b[3] - s * a[3]),
        )  # fmt: skip


@dataclass(frozen=True)
class Comoments(Monoid):
    """Centred moments of a double over time, for least squares.

    The mean time is kept as whole microseconds ``t0`` plus a small double ``mx``: near 1.7e15
    microseconds a double alone has lost the fraction that a slope needs.
    """

    value: str = "named_struct('t', {time}, 'y', cast({x} as double))"
    running: ClassVar[bool] = False
    whole_time: ClassVar[bool] = True
    _zero = "named_struct('n', 0L, 't0', 0L, 'mx', 0D, 'my', 0D, 'sxx', 0D, 'sxy', 0D, 'syy', 0D)"
    _unit = (
        "if({v}.y is null, null, named_struct('n', 1L, 't0', {v}.t, 'mx', 0D, 'my', {v}.y, "
        "'sxx', 0D, 'sxy', {v}.y - {v}.y, 'syy', {v}.y - {v}.y))"
    )

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial, relative to the slice's ``origin`` where it has one."""
        del n, scale
        if not origin:
            return self.combine_all(self.unit(v))
        y, x = f"{v}.y", f"({v}.t - {origin})"
        return (
            f"case when count({y}) > 0 then named_struct('n', count({y}), 't0', min({origin}), "
            f"'mx', regr_avgx({y}, {x}), 'my', if(var_pop({y}) = 0D, min({y}), avg({y})), "
            f"'sxx', regr_sxx({y}, {x}), "
            f"'sxy', regr_sxy({y}, {x}), 'syy', var_pop({y}) * count({y})) end"
        )

    @property
    def skips_nulls(self) -> bool:
        """Whether a row without a value contributes nothing: so it is where ``y`` is the value."""
        return self.value == Comoments.value

    def step(self, a: str, b: str) -> str:
        """SQL: two partials, neither of them empty, to one."""
        dx = f"(cast({b}.t0 - {a}.t0 as double) + ({b}.mx - {a}.mx))"
        dy, share = f"({b}.my - {a}.my)", f"({b}.n / ({a}.n + {b}.n))"
        return (
            f"named_struct('n', {a}.n + {b}.n, 't0', {a}.t0, "
            f"'mx', {a}.mx + {dx} * {share}, 'my', {a}.my + {dy} * {share}, "
            f"'sxx', {a}.sxx + {b}.sxx + {dx} * {dx} * ({a}.n * {share}), "
            f"'sxy', {a}.sxy + {b}.sxy + {dx} * {dy} * ({a}.n * {share}), "
            f"'syy', {a}.syy + {b}.syy + {dy} * {dy} * ({a}.n * {share}))"
        )

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: fold partials into a partial."""
        step = f"case when a.n = 0L then b else {self.step('a', 'b')} end"
        return f"nullif({fold_in_order(p, over, self._zero, step)}, {self._zero})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        n = a[0] + b[0]
        share = b[0] / n
        dx, dy, weight = float(b[1] - a[1]) + (b[2] - a[2]), b[3] - a[3], a[0] * share
        return (
            n, a[1], a[2] + dx * share, a[3] + dy * share,
            a[4] + b[4] + dx * dx * weight,
            a[5] + b[5] + dx * dy * weight,
            a[6] + b[6] + dy * dy * weight,
        )  # fmt: skip


@dataclass(frozen=True)
class Covariances(Comoments):
    """Centred moments of two doubles, for what they have to do with each other.

    It is that of a double over time, where the time is the mean ``mx`` by itself.
    """

    value: str = (
        "if({x} is null or {y} is null, null, "
        "named_struct('t', cast({y} as double), 'y', cast({x} as double)))"
    )
    whole_time: ClassVar[bool] = False
    _unit = (
        "if({v} is null, null, named_struct('n', 1L, 't0', 0L, 'mx', {v}.t, 'my', {v}.y, "
        "'sxx', {v}.t - {v}.t, 'sxy', {v}.t - {v}.t, 'syy', {v}.y - {v}.y))"
    )

    @property
    def skips_nulls(self) -> bool:
        """A pair with a null contributes nothing."""
        return self.value == Covariances.value

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial."""
        del n, origin, scale
        y, x = f"{v}.y", f"{v}.t"
        return (
            f"case when count({v}) > 0 then named_struct('n', count({v}), 't0', 0L, "
            f"'mx', if(var_pop({x}) = 0D, min({x}), avg({x})), "
            f"'my', if(var_pop({y}) = 0D, min({y}), avg({y})), "
            f"'sxx', var_pop({x}) * count({v}), "
            f"'sxy', covar_pop({y}, {x}) * count({v}), 'syy', var_pop({y}) * count({v})) end"
        )
