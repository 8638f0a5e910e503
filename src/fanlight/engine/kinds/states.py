"""State frames: runs of equal values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fanlight.engine.algebra.aggregate import contains_type
from fanlight.engine.algebra.sql_text import without_field_names
from fanlight.engine.kinds.examples import VALUES, split_values
from fanlight.engine.kinds.kind import (
    FRAMED,
    FRAMES,
    Example,
    Kind,
    Node,
    Reader,
    Words,
    Writer,
    register,
)
from fanlight.engine.plan.frames import InputColumn, Scheme, sizes_of
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.states import StateFrame

_INCOMPARABLE = ("map<", "variant")
_CALENDAR = re.compile(r"\binterval\b(?! (year|month|day|hour|minute|second))")
_STATES = 3


def _make_scheme(spec: StateFrame, types: Sequence[str], time_kind: str) -> Scheme:
    for read, kind in zip(spec.inputs, types, strict=True):
        if contains_type(kind, _INCOMPARABLE) or _CALENDAR.search(without_field_names(kind)):
            raise refuse(
                f"state={str(read.given)!r}",
                f"is of type {kind}, whose values Spark does not compare",
                "name a field of it, or cast it to string",
            )
    inputs = tuple(InputColumn(read.given, "any") for read in spec.inputs)
    return Scheme("states", inputs, nulls=spec.nulls, **sizes_of(spec, time_kind))


def _read(reader: Reader, node: Node) -> StateFrame:
    parts, sizes = reader.sizes(node)
    states = []
    for part in parts:
        own = reader.rule(part) == "state_sql"
        reader.add_span("state", part, whole=not own)
        states.append(reader.sql(part))
    nulls = reader.words(node).get("NULLS", "NULLS STATE").split()[1].lower()
    return StateFrame(states, nulls=nulls, **sizes)  # type: ignore[arg-type]


def _write(writer: Writer, spec: StateFrame) -> str:
    states = ", ".join(f"({writer.sql(one, spec)})" for one in spec.states)
    nulls = "" if spec.nulls == "state" else f" NULLS {spec.nulls.upper()}"
    return f"FRAME STATE {states}{nulls}{writer.sizes(spec)}"


def _draw_example(_: Any) -> Example:
    return Example(
        split_values(lambda run, value: int(run[0] * _STATES) != int(value * _STATES)),
        (),
        [int(value * _STATES) / _STATES + 0.15 for value in VALUES],
    )


STATE = Kind(
    StateFrame,
    FRAMED,
    StateFrame("status"),
    FRAMES,
    Words(
        "state",
        "FRAME STATE",
        'STATE state_part ("," state_part)* NULLS? _size*',
        _read,
        _write,
        rules=(
            "?state_part: name                   -> state_column\n"
            '           | "(" _within* ")"       -> state_sql\n'
        ),
        terminals=(
            "STATE.3: /state\\b(?=\\s*[\\w`(])/i\nNULLS.3: /nulls\\s+(state|skip|end|carry)\\b/i\n"
        ),
        terminal_names={"NULLS": "NULLS STATE, NULLS SKIP, NULLS END or NULLS CARRY"},
        examples={"STATE": "STATE status", "NULLS": "NULLS SKIP"},
        arguments={"state": "STATE"},
    ),
    _make_scheme,
    make_example=_draw_example,
    other_names={("state_window", "runs"): "fl.over(df, fl.StateFrame('status'), time='ts')"},
)

register(STATE)
