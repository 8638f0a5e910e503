"""Sums, means and variances of distinct values: each value once, however many rows have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fanlight.engine.algebra import lowering_values
from fanlight.engine.algebra.aggregate import Aggregate, Call, Partials, base_type, digits_of
from fanlight.engine.algebra.collections import Values
from fanlight.engine.algebra.lowering import let
from fanlight.engine.algebra.lowering_values import LowerValues
from fanlight.engine.algebra.split_sums import mean_sql, mean_type
from fanlight.engine.spec.arguments import check_flag
from fanlight.engine.spec.errors import refuse

_ONCE = "array_distinct(transform({p}, e -> e.v))"
_NUMBER = "cast(size(once) as bigint)"
_MOST = 27  # digits, so that a sum of 10**10 decimals has 37: Spark's + is exact to 38
_FLOATS = ("float", "double")
_DOUBLE = "cast({x} as double)"


@dataclass(frozen=True)
class Once:
    """What is read off distinct numbers of a type: SQL over their array ``once``, and in Python.

    ``value`` is what is kept of a row.
    """

    sql: Callable[[str], str]
    in_python: Callable[[str], LowerValues]
    value: Callable[[str], str] = lambda _: _DOUBLE

    def make(self, name: str) -> Aggregate:
        """The aggregate of this name that reads it."""

        def recipe(types: tuple[str, ...]) -> Partials:
            (kind,) = types
            value = self.value(kind)
            return Partials(
                {"p": Values(value)},
                let("once", _ONCE, self.sql(kind)),
                native=f"{name}(distinct {value})",
                lower_values=self.in_python(kind),
            )

        return Aggregate(name, recipe=recipe, algebra="holistic")


def call_of(every: Aggregate, once: Aggregate, column: Any, distinct: object) -> Call:
    """A call of an aggregate of a number, or of the one that takes each value ``once``."""
    if not check_flag(f"{every.name}: distinct", distinct):
        return Call(every, (column,))
    usual = f"{every.name}(DISTINCT {column})" if isinstance(column, str) else ""
    return Call(once, (column,), usual=usual)


def _add(kind: str) -> str:
    """SQL: the sum of the array ``once`` of values of a type."""
    base = base_type(kind)
    if base in _FLOATS:
        return "aggregate(sort_array(once), 0D, (sum, e) -> sum + e)"
    if base != "decimal":
        wide = "decimal(30,0)"
        total = f"aggregate(once, cast(0 as {wide}), (sum, e) -> cast(sum + e as {wide}))"
        return f"cast({total} as bigint)"
    precision, scale = digits_of(kind)
    if precision > _MOST:
        raise refuse(
            f"a sum of distinct values of {kind}",
            f"may have more than 38 digits, as these have more than {_MOST}",
            f"cast the column, for example to decimal({_MOST},{min(scale, _MOST)})",
        )
    wide = f"decimal({precision + 10},{scale})"
    return f"aggregate(once, cast(0 as {wide}), (sum, e) -> cast(sum + e as {wide}))"


def _sum(kind: str) -> str:
    return f"if(size(once) = 0, null, {_add(kind)})"


def _is_added_as_double(kind: str) -> bool:
    """Whether means are of sums of doubles, as those of longs are in Spark."""
    return base_type(kind) in (*_FLOATS, "bigint")


def _mean(kind: str) -> str:
    if base_type(kind) == "decimal":
        return mean_sql(_sum(kind), _NUMBER, kind)
    total = _add("double" if _is_added_as_double(kind) else kind)
    return f"if(size(once) = 0, null, cast({total} as double) / size(once))"


def _read_mean(kind: str) -> LowerValues:
    digits = digits_of(mean_type(kind))[1] if base_type(kind) == "decimal" else None
    return lowering_values.mean_of_distinct(digits)


SUM = Once(
    _sum,
    lambda _: lowering_values.sum_of_distinct,
    lambda kind: _DOUBLE if base_type(kind) in _FLOATS else "{x}",
)
MEAN = Once(_mean, _read_mean, lambda kind: _DOUBLE if _is_added_as_double(kind) else "{x}")


def spread(*, sample: bool, root: bool) -> Once:
    """The variance or the standard deviation."""
    taken = 1 if sample else 0
    squares = "aggregate(once, 0D, (sum, e) -> sum + (e - mean) * (e - mean))"
    variance = f"{squares} / (size(once) - {taken})"
    found = f"sqrt({variance})" if root else variance
    found = let("mean", f"{_add('double')} / size(once)", found)
    read = lowering_values.spread_of_distinct(sample=sample, root=root)
    return Once(lambda _: f"if(size(once) < {taken + 1}, null, {found})", lambda _: read)
