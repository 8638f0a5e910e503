"""Trailing windows: what there was up to each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fanlight.engine.algebra.sql_text import in_backticks
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
from fanlight.engine.kinds.placed import write_calendar_length, write_zone
from fanlight.engine.spec.calendar import has_months
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.trailing import Trailing, read_labelled


def _read(reader: Reader, node: Node) -> Trailing | dict[str, Trailing]:
    ones = reader.parts(node)
    labels = [_read_label(reader, one) for one in ones]
    if labels == [None]:
        return _read_window(reader, ones[0])
    labelled: dict[str, Trailing] = {}
    for one, label in zip(ones, labels, strict=True):
        with reader.translate_errors(one):
            if not label:
                raise refuse("one of these windows", "has no label", _EXAMPLE)
            if label in labelled:
                raise refuse(label, "is the label of two windows", _EXAMPLE)
            labelled[label] = _read_window(reader, one)
    return labelled


def _read_label(reader: Reader, node: Node) -> str | None:
    named = [part for part in reader.parts(node) if reader.rule(part) == "label"]
    return reader.name_parts(named[0])[0] if named else None


def _read_window(reader: Reader, node: Node) -> Trailing:
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
    length = next(part for rule, part in parts.items() if rule not in ("delay", "label", "zone"))
    reader.add_span("range", length)
    if "zone" in parts:
        reader.add_span("zone", parts["zone"])
        more["zone"] = reader.string(parts["zone"])
    local = "zone" in parts or has_months("range", reader.length(length, calendar=True))
    return Trailing(reader.length(length, calendar=local), **more)


def _write(writer: Writer, spec: Trailing | Mapping[str, Trailing]) -> str:
    if isinstance(spec, Mapping):
        labelled = read_labelled(spec)
        pairs = zip(labelled.windows, labelled.labels, strict=True)
        return ", ".join(
            f"{_write(writer, window)} AS {writer.name(in_backticks(label))}"
            for window, label in pairs
        )
    length = "ALL"
    if spec.range is not None:
        write = write_calendar_length if spec.by_calendar else writer.length
        length = write(spec.range) + write_zone(spec.zone)
    delay = f" DELAY {writer.length(spec.delay)}" if spec.delay else ""
    closed = f" CLOSED {spec.closed.upper()}" if spec.closed != "right" else ""
    return f"TRAILING {length}{delay}{closed}{'' if spec.include_self else ' EXCLUDE SELF'}"


_EXAMPLE = "write for example TRAILING 1 HOUR AS hour, TRAILING 1 DAY AS day"

TRAILING = Kind(
    Trailing,
    TRAILED,
    Trailing("1 hour"),
    (Feature("features as of a row", WORKERS, STATE),),
    Words(
        "trailing",
        "TRAILING",
        'trailed ("," trailed)*',
        _read,
        _write,
        rules=(
            "trailed: TRAILING (length zone? | ALL) delay? CLOSED? EXCLUDE_SELF? (AS label)?\n"
            "delay: DELAY length\n"
            "label: NAME | QUOTED\n"
        ),
        terminals=(
            "TRAILING.3: /trailing\\b(?=\\s*['\"\\d.]|\\s+(interval|all)\\b)/i\n"
            "ALL.3: /all\\b/i\n"
            "DELAY.3: /delay\\b/i\n"
            "CLOSED.3: /closed\\s+(left|right|both|neither)\\b/i\n"
            "EXCLUDE_SELF.3: /exclude\\s+self\\b/i\n"
        ),
        terminal_names={"CLOSED": "CLOSED LEFT", "EXCLUDE_SELF": "EXCLUDE SELF"},
        examples={"TRAILING": "TRAILING 1 HOUR"},
        arguments={"delay": "DELAY", "zone": "ZONE"},
    ),
    other_names={
        ("rolling", "rollingby", "rangebetween", "lookback"):
            "fl.over(df, fl.Trailing('1 hour'), time='ts')",
    },
)  # fmt: skip

register(TRAILING)
