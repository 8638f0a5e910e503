"""Aggregate frames: until a running value reaches a limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
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
    LimitOf,
    Scheme,
    limit_input,
    number_input,
    scale_to_input,
    sizes_of,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.aggregate import AggregateFrame
from fanlight.engine.spec.frames.limits import RUNNING, Formula

_LIMIT = 3.0


def _make_scheme(spec: AggregateFrame, types: Sequence[str], time_kind: str) -> Scheme:
    inputs: list[InputColumn] = []
    watched: list[str] = []
    numbers: list[float | int] = []
    firsts: list[InputColumn] = []  # of each aggregate the only input, or the first of several
    kinds = iter(types)
    for call, limit in zip(spec.aggregates, spec.limits, strict=True):
        follows, read = _watch(spec, call, [next(kinds) for _ in call.columns])
        inputs.extend(read)
        firsts.append(read[0])
        watched.append(follows)
        numbers.append(0 if isinstance(limit, Formula) else _scale_limit(spec, limit, read[0]))
    limits: list[LimitOf | None] = []
    for limit, first in zip(spec.limits, firsts, strict=True):
        own: list[InputColumn] = []
        if isinstance(limit, Formula):
            own = _limit_inputs(spec, limit, first, [next(kinds) for _ in limit.rows])
        limits.append(_limit_of(spec, limit, first, len(inputs)))
        inputs.extend(own)
    kind = "distinct" if any(name.startswith("distinct") for name in watched) else "limits"
    return Scheme(
        "calculated" if spec.formulas else kind,
        tuple(inputs),
        tuple(numbers),
        watched=tuple(watched),
        limits=tuple(limits) if spec.formulas else (),
        crossing=spec.include_crossing,
        **sizes_of(spec, time_kind),
    )


def _watch(
    spec: AggregateFrame, call: Any, kinds: Sequence[str]
) -> tuple[str, tuple[InputColumn, ...]]:
    """What is watched of an aggregate, and of which inputs."""
    follows = call.aggregate.watched
    if follows == "distinct":
        inputs = tuple(InputColumn(column, "any") for column in call.columns)
        return f"distinct {len(call.columns)}", inputs
    if follows == "count":
        return follows, (InputColumn(call.columns[0] if call.columns else None, "there"),)
    read = number_input(call.label, call.columns[0], kinds[0])
    if spec.below:  # of the negated column the negated limit is reached from below
        follows = RUNNING[follows].below
        read = replace(read, negated=True)
    if follows not in ("sum", "max") and read.type == "whole":
        read = replace(read, type="real", scale=0)
    return f"absolute_{follows}" if spec.absolute else follows, (read,)


def _scale_limit(spec: AggregateFrame, limit: Fraction, read: InputColumn) -> float | int:
    if read.type in ("any", "there"):
        return min(math.floor(limit) + 1 if spec.strict else math.ceil(limit), MOST)
    return scale_to_input(-limit if spec.below else limit, read, beyond=spec.strict)


def _limit_inputs(
    spec: AggregateFrame, limit: Formula, first: InputColumn, kinds: Sequence[str]
) -> list[InputColumn]:
    """What a limit is calculated from, in doubles; or itself, in the units of what is watched."""
    pairs = zip(limit.rows, kinds, strict=True)
    if limit.steps:
        plain = InputColumn(None, "real")
        return [limit_input(text, kind, plain, beyond=False) for text, kind in pairs]
    return [limit_input(text, kind, first, beyond=spec.strict) for text, kind in pairs]


def _limit_of(
    spec: AggregateFrame, limit: Fraction | Formula, first: InputColumn, begin: int
) -> LimitOf | None:
    if not isinstance(limit, Formula):
        return None
    unit = (-1.0 if first.negated else 1.0) * 10.0**first.scale
    rows = tuple(range(begin, begin + len(limit.rows)))
    return LimitOf(rows, limit.means, limit.steps, unit, spec.strict)


def _read(reader: Reader, node: Node) -> AggregateFrame:
    parts, sizes = reader.sizes(node)
    calls = [reader.aggregate(reader.parts(one)[0]) for one in parts]
    limits = [_read_limit(reader, reader.parts(one)[1]) for one in parts]
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
    flags = {word.lower(): True for word in ("STRICT", "ABSOLUTE") if word in reader.words(node)}
    more = {**reader.crossing(node), **flags, **sizes}
    return AggregateFrame(calls, limits, below=below, may_fall=falls, **more)


def _read_limit(reader: Reader, node: Node) -> Any:
    """A number; or SQL, between brackets or a column's name."""
    if reader.rule(node) in ("limit_sql", "limit_column"):
        reader.add_inner_span("limit", node)
        return reader.sql(node)
    return reader.number(node)


def _write(writer: Writer, spec: AggregateFrame) -> str:
    pairs = zip(spec.aggregates, spec.limits, strict=True)
    word = "FALLS TO" if spec.below else "REACHES"
    limits = ", ".join(
        f"{writer.aggregate(call, spec)} {word} {_write_limit(writer, spec, limit)}"
        for call, limit in pairs
    )
    flags = " STRICT" * spec.strict + " ABSOLUTE" * spec.absolute
    crossing = "" if spec.include_crossing else " EXCLUDE CROSSING"
    falls = any(RUNNING[call.aggregate.watched].falls for call in spec.aggregates)
    more = flags + crossing + " MAY FALL" * falls + writer.sizes(spec)
    return f"FRAME AGGREGATE {limits}{more}"


def _write_limit(writer: Writer, spec: AggregateFrame, limit: Fraction | Formula) -> str:
    if isinstance(limit, Formula):
        return f"({writer.sql(limit.text, spec)})"
    return writer.number(limit)


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
        'AGGREGATE reach ("," reach)* STRICT? ABSOLUTE? CROSSING? MAY_FALL? _size*',
        _read,
        _write,
        rules=(
            "reach: call (REACHES | FALLS_TO) limit\n"
            "?limit: number\n"
            "    | name                              -> limit_column\n"
            '    | "(" _within* ")"                  -> limit_sql\n'
            'call: NAME "(" _within* ")"\n'
        ),
        terminals=(
            "AGGREGATE.3: /aggregate\\b/i\n"
            "REACHES.3: /reaches\\b/i\n"
            "FALLS_TO.3: /falls\\s+to\\b/i\n"
            "ABSOLUTE.3: /absolute\\b/i\n"
            "MAY_FALL.3: /may\\s+fall\\b/i\n"
        ),
        terminal_names={"MAY_FALL": "MAY FALL", "FALLS_TO": "FALLS TO"},
        examples={"MAY": "MAY FALL"},
    ),
    _make_scheme,
    make_example=_draw_example,
)  # fmt: skip

register(AGGREGATE)
