"""Series filled in to have a value at every instant, to which trend lines are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.moments import Comoments
from fanlight.engine.algebra.monoids import Monoid


def moments_of_run(first: str, end: str, value: str) -> str:
    """SQL: the centred moments of one value at each instant of ``[first, end)``; null if none."""
    n = f"cast({end} - {first} as double)"
    return (
        f"if({end} > {first}, named_struct('n', {end} - {first}, 't0', {first}, "
        f"'mx', ({n} - 1D) / 2D, 'my', {value}, 'sxx', {n} * ({n} * {n} - 1D) / 12D, "
        "'sxy', 0D, 'syy', 0D), null)"
    )


def combined_moments(a: str, b: str) -> str:
    """SQL: the moments of two stretches of a series, combined; null is an empty one."""
    inner = Comoments().step("p.a", "p.b")
    whole = f"if(p.a is null, p.b, if(p.b is null, p.a, {inner}))"
    return let("p", f"struct({a} as a, {b} as b)", whole)


@dataclass(frozen=True)
class Filled(Monoid):
    """A stretch of a series: each instant without a value has the one before it.

    A partial is a struct: ``f`` the first instant with a value, ``e`` the end of what is covered,
    ``v`` the latest value, ``c`` the value before ``f`` where one is known, ``m`` the centred
    moments over the instants of ``[f, e)``. The order of two partials matters: what lies between
    them is filled with the latest value of the earlier one.
    """

    running: ClassVar[bool] = False
    commutative: ClassVar[bool] = False

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: values at instants (structs of ``i`` and ``y``) to a partial.

        Two passes over the instants: means first, then centred moments; each instant counts until
        the next. Values enter as differences from the first, so that equal ones do not vary at all.
        """
        del n, origin, scale
        weighed = (
            "transform(every, (p, k) -> named_struct('x', cast(p.i - one.i as double), 'y', p.y, "
            "'n', cast(coalesce(get(every, k + 1).i, p.i + 1L) - p.i as double)))"
        )
        total = "cast(last.i + 1L - one.i as double)"
        mean = "one.y + aggregate(parts, 0D, (s, p) -> s + p.n * (p.y - one.y)) / size"
        x = "(p.x + ((p.n - 1D) - (size - 1D)) / 2D)"
        moments = (
            "named_struct('n', last.i + 1L - one.i, 't0', one.i, 'mx', (size - 1D) / 2D, "
            "'my', mean, 'sxx', size * (size * size - 1D) / 12D, "
            f"'sxy', aggregate(parts, 0D, (s, p) -> s + p.n * {x} * (p.y - mean)), "
            "'syy', aggregate(parts, 0D, (s, p) -> s + p.n * (p.y - mean) * (p.y - mean)))"
        )
        partial = (
            "named_struct('f', one.i, 'e', last.i + 1L, 'v', last.y, 'c', cast(null as double), "
            f"'m', {moments})"
        )
        for name, value in (
            ("mean", mean), ("parts", weighed), ("size", total),
            ("last", "element_at(every, -1)"), ("one", "every[0]"),
        ):  # fmt: skip
            partial = let(name, value, partial)
        listed = f"sort_array(collect_list({v}))"
        return let("every", listed, f"if(size(every) = 0, null, {partial})")

    def _combine_values(self, a: Any, b: Any) -> Any:
        gap = b[0] - a[1]
        m = Comoments()
        moments = a[4] if gap <= 0 else m.combine_values(a[4], _moments_of_run(a[1], b[0], a[2]))
        return (a[0], b[1], b[2], a[3], m.combine_values(moments, b[4]))

    @staticmethod
    def with_earlier_value(value: float | None, partial: Any) -> Any:
        """The partial with ``value`` as the latest value before it."""
        return (*partial[:3], value, partial[4])

    @staticmethod
    def latest_value(partial: Any) -> float:
        """The latest value of a partial."""
        value: float = partial[2]
        return value


def _moments_of_run(first: int, end: int, value: float) -> tuple[Any, ...]:
    n = float(end - first)
    return (end - first, first, (n - 1) / 2, value, n * (n * n - 1) / 12, 0.0, 0.0)
