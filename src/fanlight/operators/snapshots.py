"""Snapshots: the state of an operator as bytes of a format version, numbers, Arrow tables.

A host seals a snapshot before it is kept: with a format, and with the fingerprint of the query,
which says what the state means. Only a query with the same fingerprint opens it again.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence

import pyarrow as pa

from fanlight.operators.tables import packed, unpacked
from fanlight.spec.errors import FanlightError, refuse

SEAL = 3  # operators of before wrote their own format, 1 or 2, into the first byte
Fingerprint = Mapping[str, str]  # what is asked for, by what it is about
_LENGTHS = struct.Struct("<BI")  # format, bytes of the fingerprint


def sealed(snapshot: bytes, asked: Fingerprint) -> bytes:
    """The snapshot with the fingerprint of its query."""
    text = json.dumps(dict(asked), ensure_ascii=False).encode()
    return b"".join([_LENGTHS.pack(SEAL, len(text)), text, snapshot])


def opened(kept: bytes, asked: Fingerprint) -> bytes:
    """The snapshot again; a query with another fingerprint is refused."""
    _check_format(kept[0], SEAL)
    _, size = _LENGTHS.unpack_from(kept)
    end = _LENGTHS.size + size
    begun: Fingerprint = json.loads(kept[_LENGTHS.size : end])
    if begun != asked:
        other = [about for about in {**begun, **asked} if begun.get(about) != asked.get(about)]
        other = [about for about in other if about != "columns"] or other  # which follow from these
        raise refuse(
            f"a query with {_told(asked, other)}",
            f"cannot go on from this checkpoint, which was begun with {_told(begun, other)}",
            "write the query as it was begun, or give this one a checkpointLocation of its own",
        )
    return kept[end:]


def older() -> FanlightError:
    """The error of state that is not where this version keeps it."""
    return _of_format("an earlier format", SEAL)


def pack(version: int, tables: Sequence[pa.Table], numbers: Sequence[int] = ()) -> bytes:
    """The state as bytes."""
    parts = [packed(table) for table in tables]
    return b"".join([_header(numbers, parts).pack(version, *numbers, *map(len, parts)), *parts])


def unpack(
    state: bytes, version: int, tables: int, numbers: int = 0
) -> tuple[list[pa.Table], list[int]]:
    """The tables and the numbers again; columns are views of ``state``."""
    _check_format(state[0], version)
    header = _header(range(numbers), range(tables))
    _, *found = header.unpack_from(state)
    at, read = header.size, []
    for length in found[numbers:]:
        read.append(unpacked(memoryview(state)[at : at + length]))
        at += length
    return read, found[:numbers]


def _header(numbers: Sequence[object], tables: Sequence[object]) -> struct.Struct:
    return struct.Struct(f"<B{len(numbers)}q{len(tables)}Q")


def _check_format(found: int, wanted: int) -> None:
    if found != wanted:
        raise _of_format(f"format {found}", wanted)


def _of_format(found: str, wanted: int) -> FanlightError:
    return FanlightError(
        f"the checkpoint has state of {found}, and this version of fanlight reads format {wanted}: "
        "finish the query with the version that began it"
    )


def _told(asked: Fingerprint, about: Sequence[str]) -> str:
    return ", ".join(f"{name}: {asked.get(name) or 'none'}" for name in about)
