"""Threshold frames, and frames between two predicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fanlight.engine.kinds.examples import VALUES, find_runs
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
from fanlight.engine.spec.frames.predicates import PredicateFrame, ThresholdFrame

_MIDDLE, _HIGH, _LOW = 0.5, 0.65, 0.3


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
    return Scheme("flags", _flag_inputs(spec, types), **sizes_of(spec, time_kind))


def _make_predicate_scheme(spec: PredicateFrame, types: Sequence[str], time_kind: str) -> Scheme:
    sizes = sizes_of(spec, time_kind)
    if not spec.by_function:
        return Scheme("latches", _flag_inputs(spec, types), **sizes)
    return Scheme(
        "logical",
        tuple(InputColumn(read.given, "any") for read in spec.inputs),
        functions=(spec.open, spec.close, spec.update),
        names=spec.columns,
        **sizes,
    )


def _read_threshold(reader: Reader, node: Node) -> ThresholdFrame:
    (predicate,), sizes = reader.sizes(node)
    reader.add_inner_span("predicate", predicate)
    return ThresholdFrame(reader.sql(predicate), **sizes)


def _write_threshold(writer: Writer, spec: ThresholdFrame) -> str:
    return f"FRAME THRESHOLD ({writer.sql(spec.predicate, spec)}){writer.sizes(spec)}"


def _read_predicate(reader: Reader, node: Node) -> PredicateFrame:
    (opens, closes), sizes = reader.sizes(node)
    reader.add_inner_span("open", opens)
    reader.add_inner_span("close", closes)
    return PredicateFrame(reader.sql(opens), reader.sql(closes), **sizes)


def _write_predicate(writer: Writer, spec: PredicateFrame) -> str:
    opens, closes = writer.sql(spec.open, spec), writer.sql(spec.close, spec)
    return f"FRAME OPEN ({opens}) CLOSE ({closes}){writer.sizes(spec)}"


def _draw_example(_: Any) -> Example:
    """From a high value to a low one."""
    is_open, held = False, []
    for value in VALUES:
        is_open = value > _LOW if is_open else value > _HIGH
        held.append(is_open)
    return Example(find_runs(held), (_LOW, _HIGH), VALUES)


THRESHOLD = Kind(
    ThresholdFrame,
    FRAMED,
    ThresholdFrame("signal > 0.2", min_rows=20),
    FRAMES,
    Words(
        "threshold",
        "FRAME THRESHOLD",
        "THRESHOLD sql _size*",
        _read_threshold,
        _write_threshold,
        terminals="THRESHOLD.3: /threshold\\b/i\n",
        arguments={"predicate": "THRESHOLD"},
    ),
    _make_threshold_scheme,
    right=({"predicate": "x"},),
    drawn=lambda _: Example(find_runs(value > _MIDDLE for value in VALUES), (_MIDDLE,), VALUES),
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
    right=({"open": "x", "close": "x"},),
    drawn=_draw_example,
)

register(THRESHOLD)
register(PREDICATE)
