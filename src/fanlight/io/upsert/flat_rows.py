"""Results as flat rows for a database: a window as two columns, times in UTC, one row per key."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fanlight.engine.spec.errors import refuse

ENDS = ("start", "end")


def is_window(names: Sequence[str]) -> bool:
    """Whether a struct with these fields is a window."""
    return tuple(names) == ENDS


def flatten_names(names: Sequence[str], windows: Sequence[str]) -> list[str]:
    """The names of flat columns, two for a window; refuses names that differ only in case."""
    flat = []
    for name in names:
        flat += [f"{name}_{end}" for end in ENDS] if name in windows else [name]
    seen: set[str] = set()
    for name in flat:
        if name.lower() in seen:
            raise refuse(
                f"upsert of a column {name!r}",
                "has two columns of that name, which no table has",
                "rename one: result.withColumnRenamed(…)",
            )
        seen.add(name.lower())
    return flat


def flatten_key(key: Sequence[str], names: Sequence[str], windows: Sequence[str]) -> list[str]:
    """The flat columns of the key, two for a window."""
    for name in key:
        if name not in names:
            columns = ", ".join(map(repr, names))
            raise refuse(f"key={list(key)!r}", f"names no column: {name!r}", f"there are {columns}")
    return flatten_names(key, [name for name in windows if name in key])


def flatten(table: pa.Table) -> tuple[pa.Table, list[str]]:
    """A table with windows as two columns and times in UTC; and the names of the windows.

    What is said of a window stays with its start.
    """
    windows, columns, told = [], [], []
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_struct(field.type) and is_window([one.name for one in field.type]):
            windows.append(field.name)
            columns += [pc.struct_field(column, [end]) for end in ENDS]
            told += [field.metadata, None]
        else:
            columns.append(column)
            told.append(field.metadata)
    names = flatten_names(table.column_names, windows)
    flat = [_to_utc(one) for one in columns]
    fields = [
        pa.field(name, column.type, metadata=metadata)
        for name, column, metadata in zip(names, flat, told, strict=True)
    ]
    return pa.Table.from_arrays(flat, schema=pa.schema(fields)), windows


def _to_utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants with UTC as their time zone; from Spark they come with that of the session."""
    kind = _type_in_utc(column.type)
    return column if kind == column.type else column.cast(kind)


def _type_in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC" if kind.tz else None)
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(_type_in_utc(one.type)) for one in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_type_in_utc(kind.value_type)))
    if pa.types.is_map(kind):
        item = kind.item_field.with_type(_type_in_utc(kind.item_type))
        return pa.map_(kind.key_field.with_type(_type_in_utc(kind.key_type)), item)
    return kind


def check_key(table: pa.Table, key: Sequence[str]) -> None:
    """Refuse rows without a key, and several rows of one key."""
    for name in key:
        kind, count = table.schema.field(name).type, table.column(name).null_count
        if pa.types.is_nested(kind):
            raise refuse(
                f"key={name!r}",
                "is a list, map or struct, which cannot be a key",
                "name parts of it instead",
            )
        if count:
            raise refuse(
                f"upsert by {name!r}",
                f"finds {count} rows in which it is null, and a key must not be null",
                f"write result.na.fill({{{name!r}: …}}), or leave them out: "
                f'.where("{name} is not null")',
            )
    counted = table.select(list(key)).group_by(list(key)).aggregate([([], "count_all")])
    if counted.num_rows < table.num_rows:
        twice = counted.filter(pc.greater(counted["count_all"], 1)).slice(0, 1).to_pylist()[0]
        shown = ", ".join(f"{name}={twice[name]!s}" for name in key)
        raise refuse(
            f"upsert by {', '.join(map(repr, key))}",
            f"finds {twice['count_all']} rows with the key {shown}, but can keep only one",
            "name all columns that tell rows apart, such as 'window', 'level' or 'query', in key=",
        )


def batches_of_rows(
    table: pa.Table, converter: Callable[[pa.DataType], Callable[[Any], Any]], count: int = 10_000
) -> Any:
    """The rows as lists of tuples, ``count`` at a time, each value as the database takes it."""
    functions = [converter(field.type) for field in table.schema]
    for batch in table.to_batches(count):
        columns = [
            [None if value is None else function(value) for value in column.to_pylist()]
            for function, column in zip(functions, batch.columns, strict=True)
        ]
        yield list(zip(*columns, strict=True))


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text, whatever its width."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a type is bytes, whatever its width."""
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def make_json_writer(kind: pa.DataType) -> Callable[[Any], str]:
    """A function that writes a list, map or struct of this type as JSON."""

    def text(value: Any) -> str:
        return json.dumps(_to_json_value(value, kind), ensure_ascii=False)

    return text


def _to_json_value(value: Any, kind: pa.DataType) -> Any:
    """A value in the types of JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if pa.types.is_struct(kind):
        return {one.name: _to_json_value(value[one.name], one.type) for one in kind}
    if pa.types.is_map(kind):
        pairs = [
            [_to_json_value(k, kind.key_type), _to_json_value(v, kind.item_type)] for k, v in value
        ]
        return dict(pairs) if is_text(kind.key_type) else pairs
    if isinstance(value, list):
        return [_to_json_value(one, kind.value_type) for one in value]
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _as_text(value, kind)


def _as_text(value: Any, kind: pa.DataType) -> str:
    """The text for a value that JSON has no type for; NaN is one."""
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, (Decimal, date)):
        return str(value)
    raise refuse(f"a value of type {kind}", "has no form in JSON", "cast it to a string")


def float_text(value: float) -> str:
    """NaN and the infinities as Spark writes them."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def time_text(value: datetime) -> str:
    """An instant in UTC, or a time without zone, as text that sorts as times do."""
    return value.isoformat(" ", "microseconds")
