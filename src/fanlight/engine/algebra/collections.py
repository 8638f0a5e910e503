"""Monoids whose partials are lists or sketches: what holistic aggregates keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import explain_wrong_calls, refuse

MOST = 100_000  # values that a partial keeps, at most


def _over_clause(over: str) -> str:
    return over and " " + over


@explain_wrong_calls("algebra.Values('{x}')")
@dataclass(frozen=True)
class Values(Monoid):
    """Each distinct value and how many rows have it: the pane's hash table of the paper's Query 4.

    Rows are first counted by value, so a pane keeps one entry a distinct value. Combined
    partials may have several entries of a value; ``lower`` adds them up.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Values().combine_values([("ann", 1), ("bob", 2)], [("ann", 3)])
    [('ann', 4), ('bob', 2)]

    """

    bounded: ClassVar[bool] = False
    running: ClassVar[bool] = False
    by_value: ClassVar[bool] = True
    _unit = "if({v} is null, null, array(named_struct('v', {v}, 'n', 1L)))"
    _lift = "collect_list(if({v} is null, null, named_struct('v', {v}, 'n', {n})))"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return f"flatten(collect_list({p}){_over_clause(over)})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        counts: dict[Any, list[Any]] = {}
        for value, count in (*a, *b):
            entry = counts.setdefault(spark_key(value), [value, 0])
            entry[1] += count
        return [(value, count) for value, count in counts.values()]

    def without(self, a: Any, b: Any) -> Any:
        """Partial ``a`` without ``b``, in Python: counts are taken back (pseudo-differential)."""
        counts = self._combine_values(a, [(value, -count) for value, count in b])
        return [(value, count) for value, count in counts if count] or None


@explain_wrong_calls("algebra.Collect('{x}')")
@dataclass(frozen=True)
class Collect(Monoid):
    """Every value, each with its place in the order of rows.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Collect().combine_values([(1, "ann")], [(0, "bob")])
    [(1, 'ann'), (0, 'bob')]

    """

    value: str = "if({x} is null, null, named_struct('o', {order}, 'v', {x}))"
    bounded: ClassVar[bool] = False
    running: ClassVar[bool] = False
    _unit = "if({v} is null, null, array({v}))"
    _lift = "collect_list({v})"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return f"flatten(collect_list({p}){_over_clause(over)})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return [*a, *b]


@explain_wrong_calls("algebra.Extremes('{x}', count=2)")
@dataclass(frozen=True)
class Extremes(Monoid):
    """The ``count`` least (or greatest) values, in order.

    Parameters
    ----------
    value
        SQL text for what a row contributes, as in :class:`Monoid`.
    count
        How many values are kept.
    largest
        Whether the greatest are, not the least.

    Examples
    --------
    >>> from fanlight import algebra
    >>> algebra.Extremes(count=2).combine_values([1, 4], [2, 3])
    [1, 2]

    """

    count: int = 1
    largest: bool = False
    running: ClassVar[bool] = False
    since: ClassVar[tuple[int, int]] = (4, 2)  # min_by and max_by with a number of values
    _unit = "if({v} is null, null, array({v}))"

    @property
    def compares(self) -> bool:
        """Whether a partial depends on which values are equal, or on their order."""
        return True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("Extremes: largest", self.largest)
        if type(self.count) is not int or not 1 <= self.count <= MOST:
            raise refuse(
                f"Extremes(count={self.count!r})",
                f"is not a number of values from 1 to {MOST}",
                "write for example algebra.Extremes('{x}', count=3, largest=True)",
            )

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a partial that never holds more than ``count`` values."""
        del n, origin, scale
        word = "max" if self.largest else "min"
        return f"{word}_by({v}, {v}, {self.count})"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        ascending = "false" if self.largest else "true"
        every = f"sort_array(flatten(collect_list({p}){_over_clause(over)}), {ascending})"
        return f"slice({every}, 1, {self.count})"

    def _combine_values(self, a: Any, b: Any) -> Any:
        return sorted((*a, *b), key=spark_key, reverse=self.largest)[: self.count]


@dataclass(frozen=True)
class HyperLogLog(Monoid):
    """A HyperLogLog sketch of 2**log_size registers (Apache DataSketches, as Spark ships it)."""

    value: str = "if({x} is null, null, xxhash64({x}))"
    log_size: int = 12
    idempotent: ClassVar[bool] = True
    registered: ClassVar[bool] = True
    _combine_all = "hll_union_agg({p}){over}"
    _combine = "coalesce(hll_union({a}, {b}), {a}, {b})"

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a sketch."""
        del n, origin, scale
        return f"hll_sketch_agg({v}, {self.log_size})"

    @property
    def sketch_size(self) -> int:
        """The bytes that a sketch has room for."""
        return 1 << self.log_size


@dataclass(frozen=True)
class Theta(Monoid):
    """A theta sketch of up to 2**log_size hashes (Apache DataSketches, as Spark ships it)."""

    since: ClassVar[tuple[int, int]] = (4, 1)  # the first with these sketches
    log_size: int = 12
    idempotent: ClassVar[bool] = True

    @property
    def sketch_size(self) -> int:
        """The bytes that a sketch has room for."""
        return 8 << self.log_size

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a sketch."""
        del n, origin, scale
        return f"theta_sketch_agg({v}, {self.log_size})"

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return f"theta_union_agg({p}, {self.log_size}){_over_clause(over)}"

    def combine(self, a: str, b: str) -> str:
        """SQL scalar: two partials to one."""
        return f"coalesce(theta_union({a}, {b}, {self.log_size}), {a}, {b})"


@dataclass(frozen=True)
class Quantiles(Monoid):
    """A KLL sketch of doubles, bigints or floats (Apache DataSketches, as Spark ships it)."""

    since: ClassVar[tuple[int, int]] = (4, 1)  # the first with these sketches
    value: str = "cast({x} as double)"
    size: int = 200
    kind: str = "double"

    def lift(self, v: str, *, n: str = "1L", origin: str = "", scale: str = "1D") -> str:
        """SQL aggregate: rows to a sketch."""
        del n, origin, scale
        return f"kll_sketch_agg_{self.kind}({v}, {self.size})"

    @property
    def sketch_size(self) -> int:
        """The bytes that a sketch has room for: all of its first level, from the beginning."""
        return 8 * self.size

    def combine_all(self, p: str, over: str = "") -> str:
        """SQL aggregate: partials to a partial."""
        return f"kll_merge_agg_{self.kind}({p}){_over_clause(over)}"

    def combine(self, a: str, b: str) -> str:
        """SQL scalar: two partials to one."""
        return f"coalesce(kll_sketch_merge_{self.kind}({a}, {b}), {a}, {b})"
