"""Delta frames: as long as a value has changed by less than a delta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
from fanlight.engine.plan.frames import Scheme, number_inputs, scale_to_input, sizes_of
from fanlight.engine.spec.frames.delta import DeltaFrame

_DELTA = 0.35


def _make_scheme(spec: DeltaFrame, types: Sequence[str], time_kind: str) -> Scheme:
    inputs = number_inputs(spec, types)
    return Scheme(
        "deltas",
        inputs,
        tuple(
            scale_to_input(delta, read, beyond=spec.strict)
            for (_, delta), read in zip(spec.deltas, inputs, strict=True)
        ),
        against_first=spec.against == "first",
        crossing=spec.include_crossing,
        **sizes_of(spec, time_kind),
    )


def _read(reader: Reader, node: Node) -> DeltaFrame:
    parts, sizes = reader.sizes(node)
    more = {**sizes, **reader.crossing(node)}
    if reader.rule(parts[-1]) == "against":
        more["against"] = reader.words(parts.pop())["AGAINST_WHAT"].lower()
    if "STRICT" in reader.words(node):
        more["strict"] = True
    deltas = reader.by_column("deltas", parts, lambda one: reader.number(reader.parts(one)[1]))
    return DeltaFrame(deltas, **more)


def _write(writer: Writer, spec: DeltaFrame) -> str:
    deltas = ", ".join(
        f"{writer.name(name)} BY {writer.number(delta)}" for name, delta in spec.deltas
    )
    against = " AGAINST FIRST" if spec.against == "first" else ""
    more = " STRICT" * spec.strict + " INCLUDE CROSSING" * spec.include_crossing
    return f"FRAME DELTA {deltas}{against}{more}{writer.sizes(spec)}"


def _draw_example(_: Any) -> Example:
    return Example(
        split_values(lambda run, value: max(*run, value) - min(*run, value) >= _DELTA), (), VALUES
    )


DELTA = Kind(
    DeltaFrame,
    FRAMED,
    DeltaFrame({"signal": 0.2}),
    FRAMES,
    Words(
        "delta",
        "FRAME DELTA",
        'DELTA change ("," change)* against? STRICT? CROSSING? _size*',
        _read,
        _write,
        rules="change: name BY number\nagainst: AGAINST AGAINST_WHAT\n",
        terminals=(
            "DELTA.3: /delta\\b/i\n"
            "STRICT.3: /strict\\b/i\n"
            "AGAINST.3: /against\\b/i\n"
            "AGAINST_WHAT: /range\\b|first\\b/i\n"
        ),
        terminal_names={"AGAINST_WHAT": "RANGE or FIRST"},
        arguments={"deltas": "DELTA"},
    ),
    _make_scheme,
    make_example=_draw_example,
)  # fmt: skip

register(DELTA)
