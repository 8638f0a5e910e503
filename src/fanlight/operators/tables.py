"""Arrow tables as operators handle them: numbers, bytes, codes of keys, times in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.operators.partials import python_values

Ints = NDArray[np.int64]


def ints(column: Any) -> Ints:
    """A column of whole numbers as an array."""
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def whole(column: Any) -> pa.Array:
    """A column in one piece."""
    combined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def packed(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: Any) -> pa.Table:
    """The table again; its columns are views of ``data``."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def codes_of(table: pa.Table, keys: Sequence[str]) -> tuple[Ints, int]:
    """The number of each row's key, from 0, and how many keys there are."""
    rows = table.num_rows
    codes, count = np.zeros(rows, np.int64), min(rows, 1)
    for name in keys:
        column = whole(table[name])
        if pa.types.is_nested(column.type):
            seen: dict[Any, int] = {}
            values = python_values(column)
            part = np.array([seen.setdefault(_frozen(v), len(seen)) for v in values], np.int64)
            distinct = len(seen)
        else:
            encoded = column.dictionary_encode(null_encoding="encode")
            part, distinct = ints(encoded.indices), len(encoded.dictionary)
        if count * distinct > 2**62:  # far from reached: the codes are made dense before
            msg = "too many distinct keys"
            raise OverflowError(msg)
        found, codes = np.unique(codes * distinct + part, return_inverse=True)
        codes, count = codes.astype(np.int64), len(found)
    return codes, count


def _frozen(value: Any) -> Any:
    """A value that can be hashed; NaN equals itself."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, dict):
        return tuple((name, _frozen(part)) for name, part in value.items())
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def frozen(value: Any) -> Any:
    """A value that can be hashed and compared: equal where Spark would group values together."""
    return _frozen(value)


def retyped(column: Any, to: pa.DataType) -> Any:
    """Whole numbers as the times they stand for, or times as whole numbers; nested ones too."""
    if column.type == to:
        return column
    # Arrow turns dates into 32-bit numbers only, and other times into 64-bit ones.
    between = _dates_as_ints(to) if _has_date(to) else _dates_as_ints(column.type)
    return column.cast(between).cast(to)


def _has_date(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_has_date(kind.field(i).type) for i in range(kind.num_fields))
    return bool(_has_date(kind.value_type) if pa.types.is_list(kind) else pa.types.is_date(kind))


def _dates_as_ints(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        parts = [kind.field(i) for i in range(kind.num_fields)]
        return pa.struct([(part.name, _dates_as_ints(part.type)) for part in parts])
    if pa.types.is_list(kind):
        return pa.list_(_dates_as_ints(kind.value_type))
    return pa.int32() if pa.types.is_date(kind) else kind
