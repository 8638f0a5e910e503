"""Tables to bytes and back, without their schema, which the reader must know."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from fanlight.engine.spec.errors import FanlightError

_LENGTH = struct.Struct("<Q")


def pack(tables: Sequence[pa.Table]) -> bytes:
    """Tables as bytes: of each the length, then a record batch without its schema."""
    parts = []
    for table in tables:
        batches = table.combine_chunks().to_batches()
        data = batches[0].serialize().to_pybytes() if batches else b""
        parts += [_LENGTH.pack(len(data)), data]
    return b"".join(parts)


def unpack(data: Any, schemas: Sequence[pa.Schema]) -> list[pa.Table]:
    """The tables that were packed; their columns are views of ``data``."""
    try:
        return list(_unpack_each(memoryview(data), schemas))
    except (struct.error, pa.ArrowInvalid, OSError) as error:
        raise FanlightError(
            f"packed rows cannot be read ({error}): the workers, or the checkpoint, have other "
            "versions of fanlight or pyarrow than the query; install the same ones"
        ) from error


def _unpack_each(view: memoryview, schemas: Sequence[pa.Schema]) -> Any:
    at = 0
    for schema in schemas:
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size
        if length:
            part = pa.py_buffer(view[at : at + length])
            batch = pa.ipc.read_record_batch(part, schema)
            yield pa.Table.from_batches([batch], schema)
        else:
            yield schema.empty_table()
        at += length
