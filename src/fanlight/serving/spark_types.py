"""Spark's schema of a table, as its files carry it: types, and what columns are said to have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from fanlight.engine.algebra.stored import NOTE
from fanlight.engine.operators.arrow_tables import as_array
from fanlight.engine.spec.errors import refuse

SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"

_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


@dataclass(frozen=True)
class Described:
    """A table, and what is told of its columns: what they have, and their types in Spark.

    Files of Spark's tell it in a schema of its own, other tables with their columns, whose types
    are then as they are.
    """

    table: pa.Table
    notes: Mapping[str, str]
    types: Mapping[str, Any]

    @classmethod
    def of(cls, table: pa.Table) -> Described:
        """Read what is told of the columns."""
        text = (table.schema.metadata or {}).get(SCHEMA)
        if text is not None:
            fields = json.loads(text)["fields"]
            told = {field["name"]: field["metadata"].get(NOTE) for field in fields}
            types = {field["name"]: field["type"] for field in fields}
        else:
            found = {
                field.name: (field.metadata or {}).get(NOTE.encode()) for field in table.schema
            }
            told = {name: None if note is None else note.decode() for name, note in found.items()}
            types = {}
        notes = {name: note for name, note in told.items() if note is not None}
        if text is None and not notes:
            raise refuse(
                "serve(pieces)",
                "has files without Spark's own schema, which tells what partials they have",
                "pass the folder that pieces(…).write.parquet(…) made, or a DataFrame",
            )
        return cls(table, notes, types)

    def column(self, name: str) -> pa.Array:
        """A column, of the type that Spark has it in; times are in microseconds, UTC."""
        column = self.table[name]
        if name in self.types:
            column = column.cast(arrow_type(self.types[name]))
        return as_array(column)


def arrow_type(kind: Any) -> pa.DataType:
    """The Arrow type of a type of Spark's, as its JSON has it; times are in microseconds, UTC."""
    if isinstance(kind, str):
        if kind.startswith("decimal("):
            precision, scale = kind[len("decimal(") : -1].split(",")
            return pa.decimal128(int(precision), int(scale))
        if kind not in _PLAIN:
            kind = kind.split("(")[0].split(" ")[0]  # texts with a collation or a length
            return _PLAIN["string"] if kind in ("char", "varchar", "string") else _refuse(kind)
        return _PLAIN[kind]
    if kind["type"] == "struct":
        return pa.struct([(part["name"], arrow_type(part["type"])) for part in kind["fields"]])
    if kind["type"] == "array":
        return pa.list_(arrow_type(kind["elementType"]))
    return _refuse(kind["type"])


def _refuse(kind: str) -> pa.DataType:
    raise refuse(f"a column of type {kind}", "cannot be served", "leave it out of the pieces")
