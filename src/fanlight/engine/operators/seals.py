"""Seals: the format and the fingerprint of a query before its state, so that no other one reads it.

The fingerprint says what the state means. Only a query with the same one opens it again.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence

from fanlight.engine.spec.errors import FanlightError, refuse

FORMAT = 5  # the first byte of state has always been its format
Fingerprint = Mapping[str, str]  # what is asked for, by what it is about
_LENGTHS = struct.Struct("<BI")  # format, bytes of the fingerprint


def sealed(state: bytes, asked: Fingerprint) -> bytes:
    """State with the fingerprint of its query."""
    text = json.dumps(dict(asked), ensure_ascii=False).encode()
    return b"".join([_LENGTHS.pack(FORMAT, len(text)), text, state])


def opened(kept: bytes, asked: Fingerprint) -> bytes:
    """The state again; a query with another fingerprint is refused."""
    if kept[0] != FORMAT:
        raise _format_error(f"format {kept[0]}")
    _, size = _LENGTHS.unpack_from(kept)
    end = _LENGTHS.size + size
    begun: Fingerprint = json.loads(kept[_LENGTHS.size : end])
    if begun != asked:
        other = [about for about in {**begun, **asked} if begun.get(about) != asked.get(about)]
        other = [about for about in other if about != "columns"] or other  # which follow from these
        raise refuse(
            f"a query with {_describe(asked, other)}",
            f"cannot go on from this checkpoint, which was begun with {_describe(begun, other)}",
            "write the query as it was begun, or give this one a checkpointLocation of its own",
        )
    return kept[end:]


def older() -> FanlightError:
    """The error of state that is not where this version keeps it."""
    return _format_error("an earlier format")


def _format_error(found: str) -> FanlightError:
    return FanlightError(
        f"the checkpoint has state of {found}, and this version of fanlight reads format {FORMAT}: "
        "finish the query with the version that began it"
    )


def _describe(asked: Fingerprint, about: Sequence[str]) -> str:
    return ", ".join(f"{name}: {asked.get(name) or 'none'}" for name in about)
