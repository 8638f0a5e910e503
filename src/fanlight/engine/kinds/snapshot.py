"""Snapshot windows: each time in which the same events are running."""

from __future__ import annotations

from typing import Any

from fanlight.engine.kinds.kind import (
    SNAPPED,
    STATE,
    WORKERS,
    Feature,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.spec.snapshot import Snapshot


def _read(reader: Reader, node: Node) -> Snapshot:
    more: dict[str, Any] = {"merge_equal": "MERGE_EQUAL" in reader.words(node)}
    for length in reader.parts(node):
        reader.add_span("min_duration", length)
        more["min_duration"] = reader.length(length)
    with reader.translate_errors(node):
        return Snapshot(**more)


def _write(writer: Writer, spec: Snapshot) -> str:
    least = f" MIN {writer.length(spec.min_duration)}" if spec.min_duration else ""
    return f"SNAPSHOT{least}{' MERGE EQUAL' if spec.merge_equal else ''}"


SNAPSHOT = Kind(
    Snapshot,
    SNAPPED,
    Snapshot(),
    (Feature("snapshots of events that last", WORKERS, STATE),),
    Words(
        "snapshot",
        "SNAPSHOT",
        "SNAPSHOT (MIN length)? MERGE_EQUAL?",
        _read,
        _write,
        terminals="SNAPSHOT.3: /snapshot\\b/i\nMERGE_EQUAL.3: /merge\\s+equal\\b/i\n",
        terminal_names={"MERGE_EQUAL": "MERGE EQUAL"},
        examples={"SNAPSHOT": "SNAPSHOT MIN 5 MINUTES"},
        arguments={"min_duration": "MIN", "merge_equal": "MERGE EQUAL"},
    ),
)

register(SNAPSHOT)
