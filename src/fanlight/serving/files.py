"""Tables of pieces as Arrow tables: from Parquet, from Arrow, or from a DataFrame."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from fanlight.engine.arrow import is_of_spark, to_arrow
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.serving.spark_types import SCHEMA

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
