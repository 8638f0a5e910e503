"""Partials of one column in order of keys and pieces, combined over runs of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.operators.python_values import python_values

MOST_KEYS = 10_000  # whose trees are kept


class Run(NamedTuple):
    """The pieces ``[begin, end)`` among those of their key, ``[first, last)``."""

    first: int
    last: int
    begin: int
    end: int


Runs = Callable[[Run], Any]  # the partial of a run; None if it has none


def read_runs(column: pa.Array, monoid: Monoid) -> Runs:
    """What combines the partials of a column: numbers by numpy, others in a tree for each key."""
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if number and monoid.combining:
        return _NumberRuns(column, monoid.combining)
    return _TreeRuns(column, monoid.combine_values)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "least": np.fmin.reduce,
    "greatest": np.max,
}


class _NumberRuns:
    """Runs of numbers. NaN is greater than all other numbers, as in Spark."""

    def __init__(self, column: pa.Array, combining: str) -> None:
        self.valid = np.asarray(column.is_valid())
        self.all_valid = not column.null_count
        filled = column if self.all_valid else column.fill_null(0)
        self.values = filled.to_numpy(zero_copy_only=False)
        self.combine = _OPERATIONS[combining]
        # Sums that do not fit 64 bits were kept in two parts, so that these do.
        self.whole = self.values.dtype.kind == "i"

    def __call__(self, run: Run) -> Any:
        values = self.values[run.begin : run.end]
        if not self.all_valid:
            values = values[self.valid[run.begin : run.end]]
        if not len(values):
            return None
        found = self.combine(values.astype(np.int64) if self.whole else values)
        return found.item()


class _TreeRuns:
    """Runs of any partials: of each key a tree of the partials of 2, 4, 8, … pieces."""

    def __init__(self, column: pa.Array, combine: Callable[[Any, Any], Any]) -> None:
        self.column = column
        self.combine = combine
        self.tree = lru_cache(MOST_KEYS)(self._grow)

    def __call__(self, run: Run) -> Any:
        if run.begin >= run.end:
            return None
        levels = self.tree(run.first, run.last)
        left: Any = None
        right: Any = None
        low, high = run.begin - run.first, run.end - run.first
        for level in levels:
            if low >= high:
                break
            if low & 1:
                left, low = self.combine(left, level[low]), low + 1
            if high & 1:
                high -= 1
                right = self.combine(level[high], right)
            low, high = low >> 1, high >> 1
        return self.combine(left, right)

    def _grow(self, first: int, last: int) -> list[list[Any]]:
        level = python_values(self.column.slice(first, last - first))
        levels = [level]
        while len(level) > 1:
            pairs = range(0, len(level) - 1, 2)
            odd = level[-1:] if len(level) % 2 else []
            level = [self.combine(level[at], level[at + 1]) for at in pairs] + odd
            levels.append(level)
        return levels
