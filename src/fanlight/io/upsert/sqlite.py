"""Upserts into SQLite, by the standard library.

SQLite has no decimals, times or booleans, and turns NaN into null. Decimals, times and NaN are
written as text, so that nothing is lost; times as text sort as times do.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pyarrow as pa

from fanlight.engine.spec.errors import refuse
from fanlight.io.upsert.sql_tables import (
    BATCHES,
    batches_of_rows,
    check_columns,
    check_unique,
    create_batches_sql,
    create_table_sql,
    delete_sql,
    divide_gone,
    flatten_and_check,
    float_text,
    insert_sql,
    is_bytes,
    is_text,
    make_json_writer,
    quote_name,
    remember_batch_sql,
    time_text,
)

PATIENCE = 60.0  # seconds to wait for another writer to finish


def write(
    path: str,
    table: str,
    key: Sequence[str],
    result: pa.Table,
    stream: str | None,
    batch: int,
    gone: str | None = None,
) -> None:
    """Write rows by key into a table, in one transaction; delete those that are ``gone``."""
    flat, keys = flatten_and_check(result, key)
    rows, deleted = divide_gone(flat, keys, gone)
    names = rows.column_names
    columns = [(field.name, _column_type(field.type)[0]) for field in rows.schema]
    target = quote_name(table)
    try:
        with closing(sqlite3.connect(path, PATIENCE, isolation_level=None)) as base:
            base.execute("BEGIN IMMEDIATE")
            base.execute(create_table_sql(target, columns, keys))
            _check_table(base, table, names, keys)
            if stream is not None:
                base.execute(create_batches_sql(BATCHES))
                if not base.execute(
                    remember_batch_sql(BATCHES, "?"), (stream, table, batch)
                ).rowcount:
                    return
            statement = insert_sql(target, names, keys, ["?"] * len(names))
            for batch_of_rows in batches_of_rows(rows, lambda kind: _column_type(kind)[1]):
                base.executemany(statement, batch_of_rows)
            if deleted is not None:
                statement = delete_sql(target, keys, ["?"] * len(keys))
                for batch_of_rows in batches_of_rows(deleted, lambda kind: _column_type(kind)[1]):
                    base.executemany(statement, batch_of_rows)
            base.execute("COMMIT")  # without it, after an error or a return, nothing has changed
    except (sqlite3.Error, OverflowError) as error:
        raise refuse(
            f"upsert into {table!r} of {path!r}",
            f"fails: {error}",
            "no row of this micro-batch was written; correct it and start again",
        ) from error


def _check_table(
    base: sqlite3.Connection, table: str, names: Sequence[str], key: Sequence[str]
) -> None:
    info = base.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    check_columns(table, [name for name, _ in info], names)
    uniques = [[name for name, place in info if place]]
    listed = 'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial'
    for (index,) in base.execute(listed, (table,)).fetchall():
        inner = base.execute("SELECT name FROM pragma_index_info(?)", (index,)).fetchall()
        uniques.append([name for (name,) in inner])
    check_unique(table, uniques, key)


def _keep(value: Any) -> Any:
    return value


def _to_real(value: float) -> float | str:
    return float_text(value) if math.isnan(value) else value  # SQLite turns NaN into null


def _to_micros(value: Any) -> int:
    return (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds  # type: ignore[no-any-return]


_KINDS: tuple[tuple[Callable[[Any], bool], str, Callable[[Any], Any]], ...] = (
    (pa.types.is_boolean, "INTEGER", int),
    (pa.types.is_integer, "INTEGER", _keep),
    (pa.types.is_floating, "REAL", _to_real),
    (pa.types.is_decimal, "TEXT", str),
    (pa.types.is_timestamp, "TEXT", time_text),
    (pa.types.is_date, "TEXT", str),
    (pa.types.is_duration, "INTEGER", _to_micros),
    (pa.types.is_null, "TEXT", _keep),
    (is_text, "TEXT", _keep),
    (is_bytes, "BLOB", _keep),
)


def _column_type(kind: pa.DataType) -> tuple[str, Callable[[Any], Any]]:
    """The type of a column in the database, and the function that converts its values."""
    for is_kind, name, function in _KINDS:
        if is_kind(kind):
            return name, function
    if pa.types.is_nested(kind):
        return "TEXT", make_json_writer(kind)
    raise refuse(f"a column of type {kind}", "has no form in SQLite", "cast it to a string")
