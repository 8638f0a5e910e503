"""The header of stored state: its format, and the fingerprint of the query that wrote it.

The fingerprint says what the state means, so only a query with the same one may read it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence

from fanlight.engine.spec.errors import FanlightError, refuse

FORMAT = 5  # the first byte of state, in every format
Fingerprint = Mapping[str, str]  # what the query asks for: topic -> text
_LENGTHS = struct.Struct("<BI")  # format, bytes of the fingerprint


def add_header(state: bytes, fingerprint: Fingerprint) -> bytes:
    """State with a header: format and fingerprint of the query."""
    text = json.dumps(dict(fingerprint), ensure_ascii=False).encode()
    return b"".join([_LENGTHS.pack(FORMAT, len(text)), text, state])


def check_header(data: bytes, fingerprint: Fingerprint) -> bytes:
    """Return state without its header, if format and fingerprint are those of this query."""
    if data[0] != FORMAT:
        raise _format_error(f"format {data[0]}")
    _, size = _LENGTHS.unpack_from(data)
    end = _LENGTHS.size + size
    stored: Fingerprint = json.loads(data[_LENGTHS.size : end])
    if stored != fingerprint:
        topics = {**stored, **fingerprint}
        other = [about for about in topics if stored.get(about) != fingerprint.get(about)]
        # A difference in columns follows from the other differences, if there are any.
        other = [about for about in other if about != "columns"] or other
        raise refuse(
            f"a query with {_describe(fingerprint, other)}",
            f"cannot go on from this checkpoint, which was begun with {_describe(stored, other)}",
            "write the query as it was begun, or give this one a checkpointLocation of its own",
        )
    return data[end:]


def older_format_error() -> FanlightError:
    """The error for state that an older version stored where this one does not."""
    return _format_error("an earlier format")


def _format_error(stored: str) -> FanlightError:
    return FanlightError(
        f"the checkpoint has state of {stored}, and this version of fanlight reads format "
        f"{FORMAT}: finish the query with the version that began it"
    )


def _describe(fingerprint: Fingerprint, about: Sequence[str]) -> str:
    return ", ".join(f"{name}: {fingerprint.get(name) or 'none'}" for name in about)
