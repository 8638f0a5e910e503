"""Each database behind one face: rows are written, and looked at as they lie there."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import pyarrow as pa

from fanlight.io.upsert import delta_folder, postgresql, sqlite


@dataclass
class Base:
    """A database; ``table`` is the one that is written."""

    where: str
    table: str = "busy"

    def read(self, columns):
        """The rows with these columns, in order."""
        listed = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        table = '"' + self.table.replace('"', '""') + '"'
        return sorted(self.ask(f"SELECT {listed} FROM {table}"))


class Sqlite(Base):
    def write(self, key, rows, stream=None, batch=0, gone=None):
        sqlite.write(self.where, self.table, key, rows, stream, batch, gone)

    def ask(self, text):
        base = sqlite3.connect(self.where, isolation_level=None)
        try:
            return base.execute(text).fetchall()
        finally:
            base.close()


class Postgresql(Base):
    def write(self, key, rows, stream=None, batch=0, gone=None):
        postgresql.write(self.where, self.table, key, rows, stream, batch, gone)

    def ask(self, text):
        import psycopg

        with psycopg.connect(self.where, autocommit=True) as base:
            found = base.execute(text)
            return found.fetchall() if found.description else []


class Lake(Base):
    def write(self, key, rows, stream=None, batch=0, gone=None):
        delta_folder.write(self.where, key, rows, stream, batch, gone)

    def read(self, columns):
        from deltalake import DeltaTable

        found = DeltaTable(self.where).to_pyarrow_table().select(columns).to_pylist()
        return sorted(tuple(row.values()) for row in found)


KINDS = ("sqlite", "postgresql", "delta")


def base(request, tmp_path):
    """The database that a test's parameter names."""
    if request.param == "sqlite":
        return Sqlite(str(tmp_path / "tests.db"))
    if request.param == "delta":
        return Lake(str(tmp_path / "lake"))
    made = Postgresql(request.getfixturevalue("server"), f"busy {tmp_path.name}")
    made.ask('DROP TABLE IF EXISTS "fanlight_batches"')
    return made


def rows_of(found, key="k", value="v"):
    """Rows from pairs."""
    return pa.table({key: pa.array([k for k, _ in found], pa.string()),
                     value: pa.array([v for _, v in found], pa.int64())})  # fmt: skip
