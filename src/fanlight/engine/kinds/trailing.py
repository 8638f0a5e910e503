"""Trailing windows: what there was up to each row."""

from __future__ import annotations

from typing import Any

from fanlight.engine.kinds.kind import (
    STATE,
    TRAILED,
    WORKERS,
    Feature,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.spec.trailing import Trailing


def _read(reader: Reader, node: Node) -> Trailing:
    parts = {reader.rule(part): part for part in reader.parts(node)}
    words = reader.words(node)
    more: dict[str, Any] = {}
    if "delay" in parts:
        (length,) = reader.parts(parts["delay"])
        reader.add_span("delay", length)
        more["delay"] = reader.length(length)
    if "CLOSED" in words:
        more["closed"] = words["CLOSED"].split()[-1].lower()
    if "EXCLUDE_SELF" in words:
        more["include_self"] = False
    if "ALL" in words:
        return Trailing(**more)
    length = next(part for rule, part in parts.items() if rule != "delay")
    reader.add_span("range", length)
    return Trailing(reader.length(length), **more)


def _write(writer: Writer, spec: Trailing) -> str:
    length = writer.length(spec.range) if spec.range else "ALL"
    delay = f" DELAY {writer.length(spec.delay)}" if spec.delay else ""
    closed = f" CLOSED {spec.closed.upper()}" if spec.closed != "right" else ""
    return f"TRAILING {length}{delay}{closed}{'' if spec.include_self else ' EXCLUDE SELF'}"


TRAILING = Kind(
    Trailing,
    TRAILED,
    Trailing("1 hour"),
    (Feature("features as of a row", WORKERS, STATE),),
    Words(
        "trailing",
        "TRAILING",
        "TRAILING (length | ALL) delay? CLOSED? EXCLUDE_SELF?",
        _read,
        _write,
        rules="delay: DELAY length\n",
        terminals=(
            "TRAILING.3: /trailing\\b(?=\\s*['\"\\d.]|\\s+(interval|all)\\b)/i\n"
            "ALL.3: /all\\b/i\n"
            "DELAY.3: /delay\\b/i\n"
            "CLOSED.3: /closed\\s+(left|right|both|neither)\\b/i\n"
            "EXCLUDE_SELF.3: /exclude\\s+self\\b/i\n"
        ),
        called={"CLOSED": "CLOSED LEFT", "EXCLUDE_SELF": "EXCLUDE SELF"},
        examples={"TRAILING": "TRAILING 1 HOUR"},
    ),
    right=({"range": "1 hour"}, {"range": 1}),
)

register(TRAILING)
