"""Arrow tables as operators handle them: numbers, bytes, codes of keys, times in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.operators.partials import python_values

Ints = NDArray[np.int64]


def ints(column: Any) -> Ints:
    """A column of whole numbers as an array."""
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def whole(column: Any) -> pa.Array:
    """A column as one array."""
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


def typed(columns: Mapping[str, Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Columns by name as a table of a schema."""
    return pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def tabled(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """Rows as a table of a schema."""
    if not rows:
        return schema.empty_table()
    return typed(dict(zip(schema.names, zip(*rows, strict=True), strict=True)), schema)


def like(other: pa.Table, rows: pa.Table) -> pa.Table:
    """Rows with the schema of others of the same types, which may differ in what can be null."""
    return pa.table(rows.columns, schema=other.schema)


def starts_of_runs(codes: Ints) -> Ints:
    """Where each run of equal codes begins."""
    if not len(codes):
        return np.empty(0, np.int64)
    return np.flatnonzero(np.append(True, codes[1:] != codes[:-1])).astype(np.int64, copy=False)


def within_runs(starts: Ints, size: int) -> Ints:
    """The number of each of so many elements in its run; ``starts`` is where the runs begin."""
    return np.arange(size) - np.repeat(starts, np.diff(np.append(starts, size)))


def only(rows: pa.Table, which: NDArray[np.bool_]) -> pa.Table:
    """Some of the rows; the same table if all are wanted."""
    return rows if which.all() else rows.filter(pa.array(which))


def coded(known: pa.Table, rows: pa.Table) -> tuple[Ints, Ints]:
    """Codes of rows: the place of their key among the known ones; new keys get the next numbers.

    Also the first row of each new key. Keys are equal where Spark would group them together.
    """
    if not rows.num_columns:  # one key, known or new
        first = np.arange(min(len(rows), 1 - len(known)))
        return np.zeros(len(rows), np.int64), first
    both = pa.concat_tables([known, like(known, rows)])
    codes: Ints | None = None
    count = 0
    for column in both.columns:
        part, distinct = _codes_of_values(whole(column))
        if codes is None:
            codes, count = part, distinct
            continue
        encoded = pa.array(codes * distinct + part).dictionary_encode()
        codes, count = ints(encoded.indices), len(encoded.dictionary)
    if codes is None:
        raise AssertionError
    codes = codes[len(known) :]
    fresh = np.full(count - len(known), len(codes), np.int64)
    new = np.flatnonzero(codes >= len(known))
    np.minimum.at(fresh, codes[new] - len(known), new)
    return codes, fresh


def _codes_of_values(column: pa.Array) -> tuple[Ints, int]:
    """Equal values as equal numbers, in order of appearance; NaN is NaN, and -0.0 is 0.0."""
    if pa.types.is_floating(column.type):
        plain = column.to_numpy(zero_copy_only=False) + 0.0
        column = pa.array(plain, mask=column.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_nested(column.type):
        seen: dict[Any, int] = {}
        codes = [seen.setdefault(spark_key(v), len(seen)) for v in python_values(column)]
        return np.array(codes, np.int64), len(seen)
    encoded = column.dictionary_encode(null_encoding="encode")
    return ints(encoded.indices), len(encoded.dictionary)


def frozen(value: Any) -> Any:
    """A value that can be hashed and compared: equal where Spark would group values together."""
    if isinstance(value, (list, tuple)):
        return tuple(frozen(part) for part in value)
    if isinstance(value, dict):
        return tuple((name, frozen(part)) for name, part in value.items())
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def retyped(column: Any, to: pa.DataType) -> Any:
    """Whole numbers as the times that they mean, or times as whole numbers; nested ones too.

    Fields of structs are paired by place: plain types have other names for them.
    """
    if column.type == to:
        return column
    # Dates are numbers of 32 bits in Arrow, and of 64 among plain types.
    return column.view(_storage_type(column.type)).cast(_storage_type(to)).view(to)


def _storage_type(kind: pa.DataType) -> pa.DataType:
    """What a type is stored as, with the places of fields for their names."""
    if pa.types.is_struct(kind):
        parts = [_storage_type(kind.field(at).type) for at in range(kind.num_fields)]
        return pa.struct([(str(at), part) for at, part in enumerate(parts)])
    if pa.types.is_list(kind):
        return pa.list_(_storage_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_storage_type(kind.key_type), _storage_type(kind.item_type))
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) else kind
