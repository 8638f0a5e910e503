"""Upserts into PostgreSQL, by psycopg 3."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.io.upsert.flat_rows import batches_of_rows, is_bytes, is_text, make_json_writer
from fanlight.io.upsert.sql_tables import (
    BATCHES,
    check_columns,
    check_unique,
    create_batches_sql,
    create_table_sql,
    flatten_and_check,
    insert_sql,
    quote_name,
    remember_batch_sql,
)

LONGEST = 63  # bytes of a name: PostgreSQL cuts what is longer, and two names may become one
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
    """The URL as messages may show it.

    >>> without_password("postgresql://writer:secret@db/lake?password=secret")
    'postgresql://writer:***@db/lake?password=***'
    """
    shown = re.sub(r"(://[^/@:]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", shown)


def write(
    url: str, table: str, key: Sequence[str], found: pa.Table, stream: str | None, batch: int
) -> None:
    """Write rows by key, in one transaction."""
    psycopg = _import_psycopg()
    rows, keys = flatten_and_check(found, key)
    names = rows.column_names
    target = _quote_table(table)
    for name in names:
        _check_length(name)
    columns = [(field.name, _column_type(field.type)[0]) for field in rows.schema]
    try:
        with psycopg.connect(url) as base, base.cursor() as cursor:
            cursor.execute("SET TIME ZONE 'UTC'")
            if cursor.execute("SELECT to_regclass(%s)", (target,)).fetchone()[0] is None:
                # Two that make it at the same time: the second one would fail, not wait.
                cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (target,))
                cursor.execute(create_table_sql(target, columns, keys))
            there = cursor.execute(_COLUMNS, (target,)).fetchall()
            check_columns(table, [name for (name,) in there], names)
            uniques = cursor.execute(_UNIQUES, (target,)).fetchall()
            check_unique(table, [one for (one,) in uniques], keys)
            if stream is not None and not _remember_batch(cursor, table, stream, batch):
                return
            # To a raw cursor a % is nothing but a letter of a name.
            statement = insert_sql(target, names, keys, [f"${at + 1}" for at in range(len(names))])
            with psycopg.RawCursor(base) as raw:
                for some in batches_of_rows(rows, lambda kind: _column_type(kind)[1]):
                    raw.executemany(statement, some)
    except psycopg.Error as error:
        raise refuse(
            f"upsert into {table!r} of {without_password(url)!r}",
            f"fails: {str(error).strip()}",
            "nothing of this micro-batch is written; mend it and start again",
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
    """Note that this micro-batch is written; no if it, or a later one, was."""
    cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (BATCHES,))
    cursor.execute(create_batches_sql(BATCHES))
    cursor.execute(remember_batch_sql(BATCHES, "%s"), (stream, table, batch))
    return bool(cursor.rowcount)


def _quote_table(table: str) -> str:
    """The table as SQL has it; before a dot stands its schema."""
    return ".".join(quote_name(_check_length(part)) for part in table.split(".", 1))


def _check_length(name: str) -> str:
    if len(name.encode()) > LONGEST:
        raise refuse(
            f"the name {name!r}",
            f"is longer than the {LONGEST} bytes that PostgreSQL keeps",
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
    """The type of a column, and what makes its values of those of Arrow."""
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
