"""SQL and checks of upserts that SQLite and PostgreSQL share; checks for Delta, too."""

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

from fanlight.engine.spec.errors import list_some, refuse

BATCHES = "fanlight_batches"  # the table with the last micro-batch of each stream


def quote_name(name: str) -> str:
    """Quote a name for SQL, so that no character in it ends the quotes."""
    if not name or "\0" in name:
        raise refuse(f"the name {name!r}", "is empty or has a null character in it", "rename it")
    return '"' + name.replace('"', '""') + '"'


def flatten_and_check(table: pa.Table, key: Sequence[str]) -> tuple[pa.Table, list[str]]:
    """Flatten rows and check their keys; returns the rows and the columns of the key."""
    rows, windows = flatten(table)
    names = flatten_key(key, table.column_names, windows)
    check_key(rows, names)
    return rows, names


def divide_gone(
    rows: pa.Table, key: Sequence[str], gone: str | None
) -> tuple[pa.Table, pa.Table | None]:
    """The rows to write, and the keys of those to delete: where the column ``gone`` is true."""
    if gone is None:
        return rows, None
    deleted = pc.fill_null(rows[gone], fill_value=False)
    return rows.filter(pc.invert(deleted)).drop_columns([gone]), rows.filter(deleted).select(key)


def delete_sql(table: str, key: Sequence[str], marks: Sequence[str]) -> str:
    """SQL that deletes the row with a key; ``marks`` stand for the values of the key."""
    same = " AND ".join(f"{quote_name(n)} = {mark}" for n, mark in zip(key, marks, strict=True))
    return f"DELETE FROM {table} WHERE {same}"


def create_table_sql(table: str, columns: Sequence[tuple[str, str]], key: Sequence[str]) -> str:
    """SQL that makes a table unless it exists; ``table`` is quoted, columns have name and type."""
    lines = [
        f"{quote_name(name)} {kind}{' NOT NULL' if name in key else ''}" for name, kind in columns
    ]
    lines.append(f"PRIMARY KEY ({', '.join(map(quote_name, key))})")
    return f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(lines)})"


def insert_sql(table: str, names: Sequence[str], key: Sequence[str], marks: Sequence[str]) -> str:
    """SQL that inserts a row, or replaces the one with its key; ``marks`` stand for the values."""
    rest = [name for name in names if name not in key]
    if rest:
        changes = ", ".join(f"{quote_name(name)} = excluded.{quote_name(name)}" for name in rest)
        then = f"DO UPDATE SET {changes}"
    else:
        then = "DO NOTHING"
    return (
        f"INSERT INTO {table} ({', '.join(map(quote_name, names))}) "
        f"VALUES ({', '.join(marks)}) "
        f"ON CONFLICT ({', '.join(map(quote_name, key))}) {then}"
    )


def remember_batch_sql(batches: str, mark: str) -> str:
    """SQL that records a micro-batch as written; no row changes if it, or a later one, was before.

    ``mark`` stands for the values: stream, table and number.
    """
    return (
        f"INSERT INTO {batches} (stream, target, batch) VALUES ({mark}, {mark}, {mark}) "
        "ON CONFLICT (stream, target) DO UPDATE SET batch = excluded.batch "
        f"WHERE {batches}.batch < excluded.batch"
    )


def create_batches_sql(batches: str) -> str:
    """SQL that makes the table of micro-batches unless it exists."""
    return (
        f"CREATE TABLE IF NOT EXISTS {batches} (stream TEXT NOT NULL, target TEXT NOT NULL, "
        "batch BIGINT NOT NULL, PRIMARY KEY (stream, target))"
    )


def advise_key(columns: Sequence[str], key: Sequence[str]) -> str:
    """What to write for a key that several rows have."""
    others: list[str] = []
    for name in columns:
        window = name.removesuffix(f"_{ENDS[0]}")
        if window != name and f"{window}_{ENDS[1]}" in columns:
            name = window  # noqa: PLW2901 - one name for its two columns
        told = name in key or f"{name}_{ENDS[0]}" in key
        if not told and name.removesuffix(f"_{ENDS[1]}") not in (*others, *key):
            others.append(name)
    also = f"; the rows also have {list_some(others)}" if others else ""
    return f"name all columns that tell rows apart in key={also}"


def check_columns(table: str, there: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a table that has not exactly these columns."""
    missing = [name for name in wanted if name not in there]
    more = [name for name in there if name not in wanted]
    if missing or more:
        differences = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
        differences += [f"has {', '.join(map(repr, more))}, which no row has"] if more else []
        raise refuse(
            f"upsert into {table!r}",
            "finds a table with other columns: it " + ", and ".join(differences),
            "name another table, or alter this one",
        )


def check_unique(table: str, uniques: Sequence[Sequence[str]], key: Sequence[str]) -> None:
    """Refuse a table without primary key or unique index of exactly the key's columns."""
    if not any(set(one) == set(key) for one in uniques):
        columns = ", ".join(map(quote_name, key))
        raise refuse(
            f"upsert into {table!r}",
            f"finds a table without primary key or unique index of {', '.join(map(repr, key))}",
            f"write ALTER TABLE … ADD UNIQUE ({columns}) or CREATE UNIQUE INDEX, "
            "or give the key that the table has",
        )


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
            advise_key(table.column_names, key),
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
