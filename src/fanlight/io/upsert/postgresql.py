"""Upserts into PostgreSQL, by psycopg 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from fanlight.engine.spec.errors import FanlightError, refuse
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
    insert_sql,
    is_bytes,
    is_text,
    make_json_writer,
    quote_name,
    remember_batch_sql,
)

LONGEST = 63  # bytes of a name: PostgreSQL cuts longer ones off, and two may become the same
_UNIQUES = """
SELECT array_agg(a.attname::text)
FROM pg_index AS i
CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS part (attnum, place)
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = part.attnum
WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL AND part.place <= i.indnkeyatts
GROUP BY i.indexrelid
"""
_COLUMNS = """
SELECT attname::text FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""


def without_password(url: str) -> str:
    """A URL for messages: passwords are replaced by stars.

    >>> without_password("postgresql://writer:secret@db/lake?password=secret")
    'postgresql://writer:***@db/lake?password=***'
    """
    hidden = re.sub(r"(://[^/@:]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", hidden)


def write(
    url: str,
    table: str,
    key: Sequence[str],
    result: pa.Table,
    stream: str | None,
    batch: int,
    gone: str | None = None,
) -> None:
    """Write rows by key into a table, in one transaction; delete those that are ``gone``."""
    psycopg = _import_psycopg()
    flat, keys = flatten_and_check(result, key)
    rows, deleted = divide_gone(flat, keys, gone)
    names = rows.column_names
    target = _quote_table(table)
    for name in names:
        _check_length(name)
    columns = [(field.name, _column_type(field.type)[0]) for field in rows.schema]
    try:
        with psycopg.connect(url) as base, base.cursor() as cursor:
            cursor.execute("SET TIME ZONE 'UTC'")
            if cursor.execute("SELECT to_regclass(%s)", (target,)).fetchone()[0] is None:
                # Without a lock, the second of two writers that make the table at once would fail.
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (target,))
                cursor.execute(create_table_sql(target, columns, keys))
            columns_there = cursor.execute(_COLUMNS, (target,)).fetchall()
            check_columns(table, [name for (name,) in columns_there], names)
            uniques = cursor.execute(_UNIQUES, (target,)).fetchall()
            check_unique(table, [one for (one,) in uniques], keys)
            if stream is not None and not _remember_batch(cursor, table, stream, batch):
                return
            # A raw cursor, because others would take a % in a name for a placeholder.
            statement = insert_sql(target, names, keys, [f"${at + 1}" for at in range(len(names))])
            with psycopg.RawCursor(base) as raw:
                for batch_of_rows in batches_of_rows(rows, lambda kind: _column_type(kind)[1]):
                    raw.executemany(statement, batch_of_rows)
                if deleted is not None:
                    statement = delete_sql(target, keys, [f"${at + 1}" for at in range(len(keys))])
                    for some in batches_of_rows(deleted, lambda kind: _column_type(kind)[1]):
                        raw.executemany(statement, some)
    except psycopg.Error as error:
        raise refuse(
            f"upsert into {table!r} of {without_password(url)!r}",
            f"fails: {str(error).strip()}",
            "no row of this micro-batch was written; correct it and start again",
        ) from error


def _import_psycopg() -> Any:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        msg = (
            "upsert into PostgreSQL needs psycopg, which is not installed where the driver runs; "
            "write: pip install 'fanlight[postgresql]'"
        )
        raise FanlightError(msg) from error
    return psycopg


def _remember_batch(cursor: Any, table: str, stream: str, batch: int) -> bool:
    """Record a micro-batch as written; false if it, or a later one, has been written before."""
    cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (BATCHES,))
    cursor.execute(create_batches_sql(BATCHES))
    cursor.execute(remember_batch_sql(BATCHES, "%s"), (stream, table, batch))
    return bool(cursor.rowcount)


def _quote_table(table: str) -> str:
    """The quoted name of a table, with its schema if there is a dot."""
    return ".".join(quote_name(_check_length(part)) for part in table.split(".", 1))


def _check_length(name: str) -> str:
    if len(name.encode()) > LONGEST:
        raise refuse(
            f"the name {name!r}",
            f"is longer than the {LONGEST} bytes that PostgreSQL allows",
            "rename the column: agg(shorter=…)",
        )
    return name


def _keep(value: Any) -> Any:
    return value


_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "smallint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "integer"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_float32, "real"),
    (pa.types.is_floating, "double precision"),
    (pa.types.is_date, "date"),
    (pa.types.is_duration, "interval"),
    (pa.types.is_null, "text"),
    (is_text, "text"),
    (is_bytes, "bytea"),
)


def _column_type(kind: pa.DataType) -> tuple[str, Callable[[Any], Any]]:
    """The type of a column in the database, and the function that converts its values."""
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})", _keep
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp", _keep
    if pa.types.is_nested(kind):
        return "jsonb", make_json_writer(kind)
    for is_kind, name in _KINDS:
        if is_kind(kind):
            return name, _keep
    raise refuse(f"a column of type {kind}", "has no form in PostgreSQL", "cast it to a string")
