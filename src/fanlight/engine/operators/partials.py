"""Combines columns of partials over ranges.

Kernels combine numbers. All other partials (text, decimals, moments, lists) are Python values,
combined by :meth:`Monoid.combine_values` with two stacks: a value takes part in a constant number
of combines, however many ranges it is in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.kernels import ranges

Ints = NDArray[np.int64]


def combine_ranges(column: pa.Array, monoid: Monoid, lo: Ints, hi: Ints) -> pa.Array:
    """Combine each range ``[lo_i, hi_i)`` of a column to a partial; neither end moves back."""
    kernel = _kernel_for(column.type, monoid)
    if kernel is None:
        values = python_values(column)
        return pa.array(
            combine_ranges_of_values(values, lo, hi, monoid.combine_values), type=column.type
        )
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


def python_values(column: pa.Array) -> list[Any]:
    """A column as Python values, with structs as tuples."""
    shape = _converter_for(column.type)
    values: list[Any] = column.to_pylist()
    return values if shape is None else [shape(value) for value in values]


def _converter_for(kind: pa.DataType) -> Callable[[Any], Any] | None:
    if pa.types.is_struct(kind):
        parts = [
            (kind.field(i).name, _converter_for(kind.field(i).type)) for i in range(kind.num_fields)
        ]

        def as_tuple(value: Any) -> Any:
            if value is None:
                return None
            return tuple(shape(value[name]) if shape else value[name] for name, shape in parts)

        return as_tuple
    if pa.types.is_list(kind):
        inner = _converter_for(kind.value_type)
        if inner is None:
            return None
        return lambda value: None if value is None else [inner(part) for part in value]
    return None
