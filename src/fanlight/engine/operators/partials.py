"""Combines columns of partials over ranges.

Kernels combine numbers. All other partials (text, decimals, moments, lists) are Python values,
combined by :meth:`Monoid.combine_values` with two stacks: a value takes part in a constant number
of combines, however many ranges it is in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels import ranges
from fanlight.engine.operators.arrow_tables import Ints, python_values, starts_of_runs


def combine_ranges(column: pa.Array, monoid: Monoid, lo: Ints, hi: Ints) -> pa.Array:
    """Combine each range ``[lo_i, hi_i)`` of a column to a partial; neither end moves back."""
    kernel = _kernel_for(column.type, monoid)
    if kernel is None:
        several = hi - lo > 1  # what is alone in its range stays as it is
        changes = np.zeros(len(column) + 1, np.int64)
        np.add.at(changes, lo[several], 1)
        np.subtract.at(changes, hi[several], 1)
        inside = np.cumsum(changes)[:-1] > 0
        number = np.append(0, np.cumsum(inside))
        made = combine_ranges_of_values(
            python_values(column.filter(pa.array(inside))),
            number[lo[several]], number[hi[several]], monoid.combine_values,
        )  # fmt: skip
        at = lo.copy()
        at[several] = len(column) + np.arange(len(made))
        both = pa.concat_arrays([column, pa.array(made, type=column.type)])
        return both.take(pa.array(at, mask=hi <= lo))
    valid = np.asarray(column.is_valid())
    filled = column.fill_null(0) if column.null_count else column
    wide = np.float64 if pa.types.is_floating(column.type) else np.int64
    values = filled.to_numpy(zero_copy_only=False).astype(wide, copy=False)
    results, present = kernel(values, valid, lo, hi)
    if not len(results):
        return pa.array([], type=column.type)
    return pa.array(results, mask=~present).cast(column.type)


_KERNELS: dict[str, Callable[..., Any]] = {
    "sum": ranges.range_sum,
    "least": ranges.range_min,
    "greatest": ranges.range_max,
}


def _kernel_for(kind: pa.DataType, monoid: Monoid) -> Callable[..., Any] | None:
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    return _KERNELS.get(monoid.combining)


def combine_columns(
    columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
) -> list[pa.Array]:
    """The same of several columns, each with its monoid."""
    pairs = zip(columns, monoids, strict=True)
    return [combine_ranges(column, monoid, lo, hi) for column, monoid in pairs]


def combine_any_ranges(
    columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
) -> list[pa.Array]:
    """Combine ranges that may come in any order and contain each other; see ``combine_ranges``.

    They are divided into as few sequences as there are ranges inside of each other.
    """
    return _combine_sequences(columns, monoids, lo, hi, _sequences_of(lo, hi))


def combine_returning_ranges(
    columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
) -> list[pa.Array]:
    """Combine ranges of which the upper end does not move back, and the lower one seldom does."""
    left, sequences = np.arange(len(lo)), []
    while len(left):
        begins = lo[left]
        forth = begins == np.maximum.accumulate(begins)
        sequences.append(left[forth])
        left = left[~forth]
    return _combine_sequences(columns, monoids, lo, hi, sequences)


def _combine_sequences(
    columns: Sequence[pa.Array],
    monoids: Sequence[Monoid],
    lo: Ints,
    hi: Ints,
    sequences: Sequence[Ints],
) -> list[pa.Array]:
    """Combine ranges in sequences of their places, in which neither end moves back."""
    if not len(lo):
        return [column.slice(0, 0) for column in columns]
    back = pa.array(np.argsort(np.concatenate(sequences)))
    parts = []
    for at in sequences:
        first, last = int(lo[at[0]]), int(hi[at[-1]])
        values = [column.slice(first, last - first) for column in columns]
        parts.append(combine_columns(values, monoids, lo[at] - first, hi[at] - first))
    return [pa.concat_arrays(own).take(back) for own in zip(*parts, strict=True)]


def _sequences_of(lo: Ints, hi: Ints) -> list[Ints]:
    """The places of ranges in sequences in which neither end moves back.

    >>> _sequences_of(np.array([0, 1, 2, 3]), np.array([9, 4, 6, 9]))
    [array([0, 3]), array([1, 2])]
    """
    sequences: list[list[int]] = []
    ends: list[int] = []  # of each sequence, negative: the first one ends last
    for at in np.lexsort((hi, lo)).tolist():
        end = -int(hi[at])
        place = bisect_left(ends, end)
        if place == len(ends):
            sequences.append([])
            ends.append(end)
        sequences[place].append(at)
        ends[place] = end
    return [np.array(places, np.int64) for places in sequences]


def combine_pairs(
    first: Sequence[pa.Array], second: Sequence[pa.Array], monoids: Sequence[Monoid]
) -> list[pa.Array]:
    """Combine each partial of the first columns with that of the second columns after it."""
    size = len(second[0]) if second else 0
    order, lo = pa.array(np.arange(2 * size).reshape(2, size).T.reshape(-1)), 2 * np.arange(size)
    both = [
        pa.concat_arrays([before.cast(after.type), after]).take(order)
        for before, after in zip(first, second, strict=True)
    ]
    return combine_columns(both, monoids, lo, lo + 2)


def combine_covering(
    columns: Sequence[pa.Array], monoids: Sequence[Monoid], lo: Ints, hi: Ints
) -> tuple[Ints, list[pa.Array]]:
    """Combine, for each place, the partials of all ranges ``[lo_i, hi_i)`` that cover it.

    A range is put into the few nodes of a binary tree that together are its places, and what a
    node has goes down to its places. Nothing is subtracted.
    """
    levels, of = [], np.arange(len(lo))
    while len(of):
        left, right = lo & 1 == 1, hi & 1 == 1
        levels.append((np.append(lo[left], hi[right] - 1), np.append(of[left], of[right])))
        lo, hi = (lo + left) >> 1, hi >> 1
        some = lo < hi
        lo, hi, of = lo[some], hi[some], of[some]
    nodes, partials = np.empty(0, np.int64), [column.slice(0, 0) for column in columns]
    for own, rows in reversed(levels):
        number = np.concatenate([own, 2 * nodes, 2 * nodes + 1])
        order = np.argsort(number, kind="stable")
        number, taken = number[order], pa.array(rows)
        begins = starts_of_runs(number)
        ends, at = np.append(begins[1:], len(number)), pa.array(order)
        both = [
            pa.concat_arrays([column.take(taken), above, above]).take(at)
            for column, above in zip(columns, partials, strict=True)
        ]
        partials = combine_columns(both, monoids, begins, ends)
        nodes = number[begins]
    return nodes, partials


def combine_ranges_of_values(
    values: Sequence[Any], lo: Ints, hi: Ints, combine: Callable[[Any, Any], Any]
) -> list[Any]:
    """Combine each range of Python values to a partial, with two stacks.

    The front stack has a partial for every suffix of its values, the back stack a single partial.
    """
    results = []
    front: list[Any] = []  # front[-1] is the partial of values[start:turn]
    back: Any = None
    start = turn = end = 0
    for low, high in zip(lo.tolist(), hi.tolist(), strict=True):
        if low >= turn:
            start, front, back = low, [], None
            turn = end = max(end, low) if end > low else low
            for value in reversed(values[low:end]):
                front.append(combine(value, front[-1] if front else None))
        while start < low:
            front.pop()
            start += 1
        while end < high:
            back = combine(back, values[end])
            end += 1
        results.append(combine(front[-1] if front else None, back) if high > low else None)
    return results
