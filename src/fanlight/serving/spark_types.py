"""Spark's schema of a table, as its files carry it: types, and what columns are said to have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from fanlight.engine.spec.errors import refuse

SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"

_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


def read_schema(schema: pa.Schema) -> Mapping[str, Mapping[str, Any]]:
    """The columns of a table that Spark wrote, by name, as Spark describes them."""
    text = (schema.metadata or {}).get(SCHEMA)
    if text is None:
        raise refuse(
            "serve(pieces)",
            "has files without Spark's own schema, which tells what partials they have",
            "pass the folder that pieces(…).write.parquet(…) made, or a DataFrame",
        )
    return {field["name"]: field for field in json.loads(text)["fields"]}


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
