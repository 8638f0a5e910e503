"""Compares two answers, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = np.ndarray[Any, Any]


def count_differences(one: pa.Table, other: pa.Table, keys: Sequence[str]) -> int:
    """How many rows differ, or are in one table only; both tables are sorted by the keys."""
    one, other = one.flatten(), other.flatten()
    if set(one.column_names) != set(other.column_names):
        raise AssertionError(f"{one.column_names} are not the columns {other.column_names}")
    other = other.select(one.column_names)
    if one.num_rows == other.num_rows and all(one[name].equals(other[name]) for name in keys):
        wrong = np.zeros(one.num_rows, dtype=bool)
        for name in one.column_names:
            wrong |= _differs(one[name], other[name])
        return int(wrong.sum())
    rows = [set(zip(*table.to_pydict().values(), strict=True)) for table in (one, other)]
    places = [one.column_names.index(name) for name in keys]
    return len({tuple(row[place] for place in places) for row in rows[0] ^ rows[1]})


def _differs(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Array:
    """Compare two columns: true for each row in which they differ."""
    missing = [column.is_null().to_numpy() for column in (one, other)]
    equal = pc.equal(one, other).fill_null(True)  # noqa: FBT003
    differs: Array = ~equal.to_numpy() | (missing[0] != missing[1])
    return differs
