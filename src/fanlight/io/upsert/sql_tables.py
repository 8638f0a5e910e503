"""SQL and checks of upserts that SQLite and PostgreSQL share; checks for Delta, too."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from fanlight.engine.spec.errors import refuse
from fanlight.io.upsert.flat_rows import check_key, flatten, flatten_key

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
