"""State as a host stores it: values by variable and number, of which the first has a header.

The header has the format, the release that wrote the state, and the fingerprint of the query, which
says what the state means, so only a query with the same one may read it. Every format since 5
begins with it, so that a release can say who wrote a format that it does not know.

It loads neither numpy nor pyarrow: Spark starts a worker only to ask what state there will be.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.formats import RELEASE, format_error

# The first byte of state, in every format. It is counted up whenever state is laid out otherwise:
# this header, a group's head, its waiting rows, its keys, or what any operator keeps of a key.
FORMAT = 5
Fingerprint = Mapping[str, str]  # what the query asks for: topic -> text
LAYOUT = "layout"  # the topic of a number for one operator alone, of whose state nothing else tells
_WRITER = "fanlight"  # the topic, of no query, under which the release stands
_FIRST, _EARLY = 5, "a fanlight before 0.1.0"  # formats before this one do not say who wrote them
_LENGTHS = struct.Struct("<BI")  # format, bytes of the fingerprint
HEAD, WAITING, KEYS = "head", "waiting", "keys"  # the variables


class Store(Protocol):
    """Values that a host stores between micro-batches."""

    def get(self, variable: str, number: int) -> bytes | None:
        """The value, if there is one."""

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Store a value, replacing the one before."""

    def remove(self, variable: str, number: int) -> None:
        """Remove a value that exists."""


def add_header(state: bytes, fingerprint: Fingerprint) -> bytes:
    """State with a header: format, release, and fingerprint of the query."""
    text = json.dumps({_WRITER: RELEASE, **fingerprint}, ensure_ascii=False).encode()
    return b"".join([_LENGTHS.pack(FORMAT, len(text)), text, state])


def check_header(data: bytes, fingerprint: Fingerprint) -> bytes:
    """Return state without its header, if format and fingerprint are those of this query."""
    if data[0] != FORMAT:
        raise format_error(f"format {data[0]}", _writer_of(data), f"format {FORMAT}")
    stored, end = _read(data)
    stored.pop(_WRITER, None)
    if stored != fingerprint:
        topics = {**stored, **fingerprint}
        other = [about for about in topics if stored.get(about) != fingerprint.get(about)]
        # A difference in columns follows from the other differences, if there are any.
        other = [about for about in other if about != "columns"] or other
        if other == [LAYOUT]:
            read = f"layout {fingerprint[LAYOUT]}"
            raise format_error(f"layout {stored.get(LAYOUT, '1')}", _writer_of(data), read)
        raise refuse(
            f"a query with {_describe(fingerprint, other)}",
            f"cannot go on from this checkpoint, which was begun with {_describe(stored, other)}",
            "write the query as it was begun, or give this one a checkpointLocation of its own",
        )
    return data[end:]


def older_format_error() -> FanlightError:
    """The error for state that an older version stored where this one does not."""
    return format_error("an earlier format", _EARLY, f"format {FORMAT}")


def _read(data: bytes) -> tuple[dict[str, str], int]:
    """The topics of a header, the release among them, and where it ends."""
    _, size = _LENGTHS.unpack_from(data)
    end = _LENGTHS.size + size
    return json.loads(data[_LENGTHS.size : end]), end


def _writer_of(data: bytes) -> str:
    """The release that wrote state of another format."""
    if data[0] < _FIRST:
        return _EARLY
    try:
        return f"fanlight {_read(data)[0][_WRITER]}"
    except (struct.error, ValueError, LookupError, TypeError):
        return "an unknown release of fanlight"


def _describe(fingerprint: Fingerprint, about: Sequence[str]) -> str:
    return ", ".join(f"{name}: {fingerprint.get(name) or 'none'}" for name in about)
