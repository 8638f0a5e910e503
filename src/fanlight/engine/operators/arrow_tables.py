"""Helpers for Arrow tables: to arrays, bytes and key codes, and times to numbers and back."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.algebra.ordering import spark_key
from fanlight.engine.spec.errors import FanlightError

Ints = NDArray[np.int64]
_LENGTH = struct.Struct("<Q")


def ints(column: Any) -> Ints:
    """A column of whole numbers as a numpy array."""
    values: Ints = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def flags(column: Any) -> NDArray[np.bool_]:
    """A column of flags, none of them null, as a numpy array."""
    return np.asarray(as_array(column))


def as_array(column: Any) -> pa.Array:
    """A column, chunked or not, as one Arrow array."""
    combined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def to_arrow_stream(table: pa.Table) -> bytes:
    """A table as the bytes of an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_arrow_stream(data: Any) -> pa.Table:
    """The table in the bytes of an Arrow stream; its columns are views of ``data``."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


def pack(tables: Sequence[pa.Table]) -> bytes:
    """Tables as bytes: of each the length, then a record batch without its schema."""
    parts = []
    for table in tables:
        batches = table.combine_chunks().to_batches()
        data = batches[0].serialize().to_pybytes() if batches else b""
        parts += [_LENGTH.pack(len(data)), data]
    return b"".join(parts)


def unpack(data: Any, schemas: Sequence[pa.Schema]) -> list[pa.Table]:
    """The tables that were packed; their columns are views of ``data``."""
    try:
        return list(_unpack_each(memoryview(data), schemas))
    except (struct.error, pa.ArrowInvalid, OSError) as error:
        raise FanlightError(
            f"packed rows cannot be read ({error}): the workers, or the checkpoint, have other "
            "versions of fanlight or pyarrow than the query; install the same ones"
        ) from error


def _unpack_each(view: memoryview, schemas: Sequence[pa.Schema]) -> Any:
    at = 0
    for schema in schemas:
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size
        if length:
            part = pa.py_buffer(view[at : at + length])
            batch = pa.ipc.read_record_batch(part, schema)
            yield pa.Table.from_batches([batch], schema)
        else:
            yield schema.empty_table()
        at += length


def join_batches(batches: Iterable[pa.RecordBatch], size: Callable[[], int]) -> Iterator[pa.Table]:
    """Join record batches to tables, each of ``size`` rows or more, but for the last one."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= size():
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)


def table_of_columns(columns: Mapping[str, Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """A table of ``schema`` from columns by name."""
    return pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema)


def table_of_rows(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    """A table of ``schema`` from rows."""
    if not rows:
        return schema.empty_table()
    return table_of_columns(dict(zip(schema.names, zip(*rows, strict=True), strict=True)), schema)


def with_schema_of(other: pa.Table, rows: pa.Table) -> pa.Table:
    """Rows with the schema of ``other``, which may differ from theirs only in nullability."""
    return pa.table(rows.columns, schema=other.schema)


def starts_of_runs(*codes: Ints) -> Ints:
    """Where each run of rows with equal codes begins, in all of these columns."""
    if not len(codes[0]):
        return np.empty(0, np.int64)
    changes = np.any([column[1:] != column[:-1] for column in codes], axis=0)
    return np.flatnonzero(np.append(True, changes)).astype(np.int64, copy=False)


def positions_in_runs(starts: Ints, size: int) -> Ints:
    """The position of each of ``size`` elements in its run; runs begin at ``starts``."""
    return np.arange(size) - np.repeat(starts, np.diff(np.append(starts, size)))


def numbers_between(owner: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The numbers from ``first`` to ``last``, both included, each with its owner.

    >>> owner, first, last = np.array([7, 8, 9]), np.array([1, 5, 3]), np.array([3, 4, 3])
    >>> [part.tolist() for part in numbers_between(owner, first, last)]
    [[7, 7, 7, 9], [1, 2, 3, 3]]
    """
    count = np.maximum(last - first + 1, 0)
    owners = np.repeat(owner, count)
    steps = positions_in_runs(np.cumsum(count) - count, len(owners))
    return owners, np.repeat(first, count) + steps


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """A table with other values, of the same type, in a column."""
    at = table.schema.get_field_index(name)
    return table.set_column(at, table.schema.field(at), values)


def filter_rows(rows: pa.Table, which: NDArray[np.bool_]) -> pa.Table:
    """The rows for which ``which`` is true; the same table if it is true for all."""
    return rows if which.all() else rows.filter(pa.array(which))


def encode_keys(known: pa.Table, rows: pa.Table) -> tuple[Ints, Ints]:
    """Codes of rows: the index of their key in ``known``; new keys get the next numbers.

    Also returns the first row of each new key. Keys are equal if Spark would group them together.
    """
    if not rows.num_columns:  # one key, known or new
        first = np.arange(min(len(rows), 1 - len(known)))
        return np.zeros(len(rows), np.int64), first
    both = pa.concat_tables([known, with_schema_of(known, rows)])
    codes, count = codes_of_rows([as_array(column) for column in both.columns])
    codes = codes[len(known) :]
    fresh = np.full(count - len(known), len(codes), np.int64)
    new = np.flatnonzero(codes >= len(known))
    np.minimum.at(fresh, codes[new] - len(known), new)
    return codes, fresh


def codes_of_rows(columns: Sequence[pa.Array]) -> tuple[Ints, int]:
    """Number the distinct rows of columns by first appearance: each row's number, how many."""
    first, *others = columns
    codes, count = _codes_of_values(first)
    for column in others:
        part, distinct = _codes_of_values(column)
        encoded = pa.array(codes * distinct + part).dictionary_encode()
        codes, count = ints(encoded.indices), len(encoded.dictionary)
    return codes, count


def _codes_of_values(column: pa.Array) -> tuple[Ints, int]:
    """Number the distinct values of a column by first appearance: each row's number, how many.

    All NaN are one value, and so are -0.0 and 0.0.
    """
    if pa.types.is_floating(column.type):
        plain = column.to_numpy(zero_copy_only=False) + 0.0
        column = pa.array(plain, mask=column.is_null().to_numpy(zero_copy_only=False))
    if pa.types.is_nested(column.type):
        seen: dict[Any, int] = {}
        codes = [seen.setdefault(spark_key(v), len(seen)) for v in python_values(column)]
        return np.array(codes, np.int64), len(seen)
    encoded = column.dictionary_encode(null_encoding="encode")
    return ints(encoded.indices), len(encoded.dictionary)


def to_hashable(value: Any) -> Any:
    """A value that can be hashed, and is equal to another if Spark would group the two together."""
    if isinstance(value, (list, tuple)):
        return tuple(to_hashable(part) for part in value)
    if isinstance(value, dict):
        return tuple((name, to_hashable(part)) for name, part in value.items())
    return "NaN" if isinstance(value, float) and value != value else value  # noqa: PLR0124


def convert_times(column: Any, to: pa.DataType) -> Any:
    """Convert whole numbers to times or times to whole numbers, in nested columns too.

    Fields of structs are matched by position, as types with plain numbers name them differently.
    """
    if column.type == to:
        return column
    # Arrow stores dates in 32 bits, the types with plain numbers in 64.
    return column.view(_storage_type(column.type)).cast(_storage_type(to)).view(to)


def _storage_type(kind: pa.DataType) -> pa.DataType:
    """The type that Arrow stores a type as; struct fields are named by position."""
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


def argsort_rows(
    rows: pa.Table, codes: Ints, ties: Sequence[str], last: Ints | None = None
) -> Ints:
    """The permutation that sorts rows by key code, time, the columns ``ties``, then ``last``.

    Only rows that share key and time are sorted in Python, by their ``ties``.
    """
    times = ints(rows["t"])
    order: Ints = np.lexsort((times, codes) if last is None else (last, times, codes))
    order = order.astype(np.int64, copy=False)
    code, time = codes[order], times[order]
    tied = np.flatnonzero((code[1:] == code[:-1]) & (time[1:] == time[:-1]))
    if not len(tied) or not ties:
        return order
    places = np.union1d(tied, tied + 1)
    involved = order[places]
    rest = rows.select(list(ties)).take(pa.array(involved))
    values = zip(*(python_values(as_array(column)) for column in rest.columns), strict=True)
    ranks = [spark_key(value) for value in values]
    # Python's sort is stable: rows with equal ties stay in the order of ``last``.
    decorated = sorted(
        range(len(involved)), key=lambda at: (code[places[at]], time[places[at]], ranks[at])
    )
    order[places] = involved[decorated]
    return order


def argsort_slots(slots: Ints) -> Ints:
    """The permutation that sorts rows by slot, stably."""
    # NumPy sorts numbers of 16 bits by radix, which is faster.
    short = slots.astype(np.uint16) if len(slots) and slots.max() < 2**16 else slots
    order: Ints = np.argsort(short, kind="stable").astype(np.int64, copy=False)
    return order


def python_values(column: pa.Array) -> list[Any]:
    """A column as Python values, with structs as tuples."""
    shape = _converter_for(column.type)
    values: list[Any] = column.to_pylist()
    return values if shape is None else [shape(value) for value in values]


def python_rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table as Python values."""
    columns = [python_values(column.combine_chunks()) for column in table.columns]
    return list(zip(*columns, strict=True))


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
