"""Threshold frames, and frames between two predicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fanlight.engine.kinds.examples import VALUES, Spans, find_runs
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
from fanlight.engine.plan.frames import InputColumn, Scheme, sizes_of, whole_length
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.predicates import PredicateFrame, ThresholdFrame

_MIDDLE, _HIGH, _LOW = 0.5, 0.65, 0.3
_STEEP = 0.11


def _flag_inputs(
    spec: ThresholdFrame | PredicateFrame, types: Sequence[str]
) -> tuple[InputColumn, ...]:
    for read, kind in zip(spec.inputs, types, strict=True):
        if kind != "boolean":
            raise refuse(
                f"{read.argument}={str(read.given)!r}",
                f"is of type {kind}, not a condition",
                f"compare it with something: {read.argument}={f'{read.given} > 0'!r}",
            )
    return tuple(InputColumn(read.given, "flag") for read in spec.inputs)


def _make_threshold_scheme(spec: ThresholdFrame, types: Sequence[str], time_kind: str) -> Scheme:
    inputs, sizes = _flag_inputs(spec, types), sizes_of(spec, time_kind)
    if not spec.dwells:
        return Scheme("flags", inputs, **sizes)
    lengths = [
        0 if length is None else whole_length(argument, length, time_kind)
        for argument, length in (("enter_for", spec.enter_for), ("leave_for", spec.leave_for))
    ]
    return Scheme("dwell", inputs, tuple(lengths), **sizes)


def _make_predicate_scheme(spec: PredicateFrame, types: Sequence[str], time_kind: str) -> Scheme:
    sizes = sizes_of(spec, time_kind)
    if not spec.by_function:
        return Scheme("latches", _flag_inputs(spec, types), **sizes)
    return Scheme(
        "logical",
        tuple(InputColumn(read.given, "any") for read in spec.inputs),
        functions=(spec.open, spec.close, spec.update),
        names=spec.columns,
        overlapping=spec.overlapping,
        **sizes,
    )


def _read_threshold(reader: Reader, node: Node) -> ThresholdFrame:
    (predicate, *dwell), sizes = reader.sizes(node)
    reader.add_inner_span("predicate", predicate)
    more: dict[str, Any] = {}
    for one in dwell:
        name, (part,) = reader.rule(one), reader.parts(one)
        reader.refuse_repeated(one, more)
        reader.add_span(name, part, whole=name != "leave")
        more[name] = reader.sql(part) if name == "leave" else reader.length(part)
    return ThresholdFrame(reader.sql(predicate), **more, **sizes)


def _write_threshold(writer: Writer, spec: ThresholdFrame) -> str:
    enter = f" ENTER FOR {writer.length(spec.enter_for)}" if spec.enter_for else ""
    leave = "" if spec.leave is None else f" LEAVE ({writer.sql(spec.leave, spec)})"
    leave += f" LEAVE FOR {writer.length(spec.leave_for)}" if spec.leave_for else ""
    predicate = writer.sql(spec.predicate, spec)
    return f"FRAME THRESHOLD ({predicate}){enter}{leave}{writer.sizes(spec)}"


def _read_predicate(reader: Reader, node: Node) -> PredicateFrame:
    (opens, closes), sizes = reader.sizes(node)
    reader.add_inner_span("open", opens)
    reader.add_inner_span("close", closes)
    return PredicateFrame(reader.sql(opens), reader.sql(closes), **sizes)


def _write_predicate(writer: Writer, spec: PredicateFrame) -> str:
    opens, closes = writer.sql(spec.open, spec), writer.sql(spec.close, spec)
    return f"FRAME OPEN ({opens}) CLOSE ({closes}){writer.sizes(spec)}"


def _draw_example(spec: PredicateFrame) -> Example:
    """The run from a high value to a low value. If frames may overlap, until the value is back."""
    if spec.overlapping:
        return Example(_find_recoveries(), (), VALUES)
    is_open, held = False, []
    for value in VALUES:
        is_open = value > _LOW if is_open else value > _HIGH
        held.append(is_open)
    return Example(find_runs(held), (_LOW, _HIGH), VALUES)


def _find_recoveries() -> Spans:
    """The run from the start of a steep fall to where the value is as high again, or to the end."""
    falls = [at for at in range(1, len(VALUES)) if VALUES[at - 1] - VALUES[at] > _STEEP]
    return [
        (at, next((k for k in range(at, len(VALUES)) if VALUES[k] >= VALUES[at - 1]), len(VALUES)))
        for at in falls
    ]


THRESHOLD = Kind(
    ThresholdFrame,
    FRAMED,
    ThresholdFrame("signal > 0.2", min_rows=20),
    FRAMES,
    Words(
        "threshold",
        "FRAME THRESHOLD",
        "THRESHOLD sql dwell* _size*",
        _read_threshold,
        _write_threshold,
        rules=(
            "?dwell: ENTER_FOR length            -> enter_for\n"
            "      | LEAVE_FOR length            -> leave_for\n"
            "      | LEAVE leave_sql             -> leave\n"
            'leave_sql: "(" _within* ")"\n'
        ),
        terminals=(
            "THRESHOLD.3: /threshold\\b/i\n"
            "ENTER_FOR.3: /enter\\s+for\\b(?=\\s*['\"\\d]|\\s+interval\\b)/i\n"
            "LEAVE_FOR.3: /leave\\s+for\\b(?=\\s*['\"\\d]|\\s+interval\\b)/i\n"
            "LEAVE.3: /leave\\b(?=\\s*\\()/i\n"
        ),
        terminal_names={"ENTER_FOR": "ENTER FOR", "LEAVE_FOR": "LEAVE FOR"},
        examples={"LEAVE": "LEAVE (speed > 50)", "ENTER": "ENTER FOR 15 MINUTES"},
        arguments={
            "predicate": "THRESHOLD",
            "enter_for": "ENTER FOR",
            "leave_for": "LEAVE FOR",
            "leave": "LEAVE",
        },
    ),
    _make_threshold_scheme,
    make_example=lambda _: Example(
        find_runs(value > _MIDDLE for value in VALUES), (_MIDDLE,), VALUES
    ),
)
PREDICATE = Kind(
    PredicateFrame,
    FRAMED,
    PredicateFrame("speed > 50", "speed < 30"),
    FRAMES,
    Words(
        "predicate",
        "FRAME OPEN … CLOSE …",
        "OPEN sql CLOSE sql _size*",
        _read_predicate,
        _write_predicate,
        terminals="OPEN.3: /open\\b/i\nCLOSE.3: /close\\b(?=\\s*[\\w`('\"-])/i\n",
        examples={"CLOSE": "CLOSE speed < 30"},
        arguments={"open": "OPEN", "close": "CLOSE"},
    ),
    _make_predicate_scheme,
    make_example=_draw_example,
)

register(THRESHOLD)
register(PREDICATE)
