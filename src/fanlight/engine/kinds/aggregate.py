"""Aggregate frames: until a running value reaches a limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from fanlight.engine.algebra.library.totals import sum as summed
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
from fanlight.engine.plan.frames import (
    MOST,
    InputColumn,
    Scheme,
    number_input,
    scale_to_input,
    sizes_of,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.aggregate import AggregateFrame
from fanlight.engine.spec.running_values import RUNNING

_LIMIT = 3.0


def _make_scheme(spec: AggregateFrame, types: Sequence[str], time_kind: str) -> Scheme:
    inputs: list[InputColumn] = []
    watched: list[str] = []
    numbers: list[float | int] = []
    at = 0
    for call, limit in zip(spec.aggregates, spec.limits, strict=True):
        follows = call.aggregate.watched
        kinds = types[at : at + len(call.columns)]
        at += len(call.columns)
        if follows == "distinct":
            inputs.extend(InputColumn(column, "any") for column in call.columns)
            watched.append(f"distinct {len(call.columns)}")
            numbers.append(min(math.ceil(limit), MOST))
            continue
        if follows == "count":
            read = InputColumn(call.columns[0] if call.columns else None, "there")
        else:
            read = number_input(call.label, call.columns[0], kinds[0])
            if spec.below:  # of the negated column the negated limit is reached from below
                follows, limit = RUNNING[follows].below, -limit  # noqa: PLW2901
                read = replace(read, negated=True)
            if follows not in ("sum", "max") and read.type == "whole":
                read = replace(read, type="real", scale=0)
        inputs.append(read)
        watched.append(follows)
        numbers.append(
            min(math.ceil(limit), MOST) if follows == "count" else scale_to_input(limit, read)
        )
    distinct = any(name.startswith("distinct") for name in watched)
    return Scheme(
        "distinct" if distinct else "limits",
        tuple(inputs),
        tuple(numbers),
        watched=tuple(watched),
        crossing=spec.include_crossing,
        **sizes_of(spec, time_kind),
    )


def _read(reader: Reader, node: Node) -> AggregateFrame:
    parts, sizes = reader.sizes(node)
    calls = [reader.aggregate(reader.parts(one)[0]) for one in parts]
    limits = [reader.number(reader.parts(one)[1]) for one in parts]
    for call, limit, one in zip(calls, limits, parts, strict=True):
        place, number = reader.parts(one)
        reader.add_span(call.label, place, whole=False)
        reader.add_span(f"AggregateFrame({call.label}, {limit!r})", place)
        reader.add_span(f"limit={limit!r} of {call.label}", number)
    falls, below = "MAY_FALL" in reader.words(node), "FALLS_TO" in reader.words(parts[0])
    for one in parts[1:]:
        if ("FALLS_TO" in reader.words(one)) != below:
            with reader.translate_errors(one):
                raise refuse(
                    "FRAME AGGREGATE",
                    "has one limit that is reached from below and one from above",
                    "write REACHES for all of them, or FALLS TO",
                )
    more = reader.crossing(node)
    return AggregateFrame(calls, limits, **more, below=below, may_fall=falls, **sizes)


def _write(writer: Writer, spec: AggregateFrame) -> str:
    pairs = zip(spec.aggregates, spec.limits, strict=True)
    word = "FALLS TO" if spec.below else "REACHES"
    limits = ", ".join(
        f"{writer.aggregate(call, spec)} {word} {writer.number(limit)}" for call, limit in pairs
    )
    crossing = "" if spec.include_crossing else " EXCLUDE CROSSING"
    falls = any(RUNNING[call.aggregate.watched].falls for call in spec.aggregates)
    more = crossing + " MAY FALL" * falls + writer.sizes(spec)
    return f"FRAME AGGREGATE {limits}{more}"


def _draw_example(_: Any) -> Example:
    return Example(split_values(lambda run, _: sum(run) >= _LIMIT), (), VALUES)


AGGREGATE = Kind(
    AggregateFrame,
    FRAMED,
    AggregateFrame(summed("bytes"), 1_000_000),
    FRAMES,
    Words(
        "aggregate",
        "FRAME AGGREGATE",
        'AGGREGATE reach ("," reach)* CROSSING? MAY_FALL? _size*',
        _read,
        _write,
        rules='reach: call (REACHES | FALLS_TO) number\ncall: NAME "(" _within* ")"\n',
        terminals=(
            "AGGREGATE.3: /aggregate\\b/i\n"
            "REACHES.3: /reaches\\b/i\n"
            "FALLS_TO.3: /falls\\s+to\\b/i\n"
            "MAY_FALL.3: /may\\s+fall\\b/i\n"
        ),
        called={"MAY_FALL": "MAY FALL", "FALLS_TO": "FALLS TO"},
        examples={"MAY": "MAY FALL"},
    ),
    _make_scheme,
    right=({"aggregate": summed("x"), "limit": 1},),
    drawn=_draw_example,
)  # fmt: skip

register(AGGREGATE)
