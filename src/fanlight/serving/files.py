"""Tables of pieces as Arrow tables: from Parquet, from Arrow, or from a DataFrame."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from fanlight.engine.algebra.stored import NOTE
from fanlight.engine.arrow import is_of_spark, to_arrow
from fanlight.engine.operators.arrow_tables import as_array
from fanlight.engine.spec.errors import FanlightError, refuse

_LOG = "_spark_metadata"  # where a stream lists the files that are complete


def read_table(pieces: Any) -> pa.Table:
    """The pieces, whose schema carries that of Spark."""
    if isinstance(pieces, pa.Table):
        return pieces
    if is_of_spark(pieces):
        if pieces.isStreaming:
            raise refuse(
                "serve(pieces) of a stream", "has no end", "write it, and serve its folder"
            )
        return to_arrow(pieces).replace_schema_metadata({SCHEMA: pieces.schema.json().encode()})
    if not isinstance(pieces, (str, os.PathLike)):
        raise refuse(
            f"serve({type(pieces).__name__})",
            "is neither a folder of Parquet, nor a table, nor a DataFrame",
            "write fl.serve('pieces', fl.Trailing('30 days'))",
        )
    try:
        return _read_files(Path(pieces))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise refuse(
            f"serve({str(pieces)[:200]!r})",
            f"is no folder of Parquet that can be read: {str(error).splitlines()[0]}",
            "write pieces there first: pieces(…).write.parquet(…)",
        ) from error


def _read_files(path: Path) -> pa.Table:
    """The table in a folder of Parquet files, in one file, or in a Delta folder."""
    if (path / "_delta_log").is_dir():
        return _read_delta(path)
    times = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
    files: Any = path if not (path / _LOG).is_dir() else _list_complete(path)
    kind = ds.ParquetFileFormat(read_options=times)
    return ds.dataset(files, format=kind, partitioning="hive").to_table()


def _read_delta(path: Path) -> pa.Table:
    try:
        from deltalake import DeltaTable
    except ModuleNotFoundError as error:
        msg = (
            "serve of a Delta folder needs deltalake, which is not installed; write: "
            "pip install 'fanlight[delta]'"
        )
        raise FanlightError(msg) from error
    found: pa.Table = DeltaTable(path).to_pyarrow_table()
    return found


def _list_complete(path: Path) -> list[str]:
    """The files of a folder that a stream wrote, without those of a batch that it did not end."""
    logs = {log.name: log for log in (path / _LOG).iterdir() if log.name[0].isdigit()}
    numbers = {name: int(name.split(".")[0]) for name in logs}
    compact = [name for name in logs if name.endswith(".compact")]
    since = max((numbers[name] for name in compact), default=-1)
    kept = [n for n in logs if numbers[n] > since or n == f"{since}.compact"]
    files = []
    for name in sorted(kept, key=numbers.__getitem__):
        for line in logs[name].read_text().splitlines()[1:]:
            told = json.loads(line)
            if told["action"] == "add":
                files.append(str(path / Path(told["path"]).name))
    return files


SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"

_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


@dataclass(frozen=True)
class Described:
    """A table, with the metadata and Spark types of its columns.

    Files of Spark's tell it in a schema of its own, other tables with their columns, whose types
    are then as they are.
    """

    table: pa.Table
    notes: Mapping[str, str]
    types: Mapping[str, Any]

    @classmethod
    def of(cls, table: pa.Table) -> Described:
        """Read the metadata of the columns."""
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
