"""Snapshots: the state of an operator as bytes of a format version, numbers, Arrow tables."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from fanlight.operators.tables import packed, unpacked


def pack(version: int, tables: Sequence[pa.Table], numbers: Sequence[int] = ()) -> bytes:
    """The state as bytes."""
    parts = [packed(table) for table in tables]
    return b"".join([_header(numbers, parts).pack(version, *numbers, *map(len, parts)), *parts])


def unpack(
    state: bytes, version: int, tables: int, numbers: int = 0
) -> tuple[list[pa.Table], list[int]]:
    """The tables and the numbers again; columns are views of ``state``."""
    if state[0] != version:
        msg = (
            f"the checkpoint has state of format {state[0]}, and this version of fanlight reads "
            f"format {version}: finish the query with the version that began it"
        )
        raise ValueError(msg)
    header = _header(range(numbers), range(tables))
    _, *found = header.unpack_from(state)
    at, read = header.size, []
    for length in found[numbers:]:
        read.append(unpacked(memoryview(state)[at : at + length]))
        at += length
    return read, found[:numbers]


def _header(numbers: Sequence[object], tables: Sequence[object]) -> struct.Struct:
    return struct.Struct(f"<B{len(numbers)}q{len(tables)}Q")
