"""Boundary frames: stays in one cell of a grid of values."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fanlight.engine.kinds.examples import VALUES, Spans, find_runs, split_values
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
    LEAST,
    MOST,
    InputColumn,
    Scheme,
    nearest_double,
    number_inputs,
    sizes_of,
)
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.boundary import BoundaryFrame

_CELLS = 4


def _scale_edges(given: Sequence[Fraction], read: InputColumn) -> tuple[float | int, ...]:
    """Break points in an input's units, without those that all its values lie on one side of."""
    if read.type == "real":
        return tuple(-math.inf if b < -sys.float_info.max else nearest_double(b) for b in given)
    # x <= b for whole x is x <= floor(b).
    edges = [math.floor(b * 10**read.scale) for b in given]
    return tuple(b for b in edges if LEAST <= b < MOST) or (MOST,)


def _make_scheme(spec: BoundaryFrame, types: Sequence[str], time_kind: str) -> Scheme:
    inputs = number_inputs(spec, types)
    cells: list[float | int | tuple[float | int, ...]] = []
    widths: list[tuple[int, int]] = []
    for (name, given), read in zip(spec.cells, inputs, strict=True):
        ratio = (0, 1)
        if isinstance(given, tuple):
            cells.append(_scale_edges(given, read))
        elif read.type == "real":
            cells.append(nearest_double(given))
        else:
            width = given * 10**read.scale
            if width.denominator > 10**6 or width.numerator >= 2**62:
                raise refuse(
                    f"cells={{{name!r}: {nearest_double(given)!r}}}",
                    "is too fine or too wide for a column of whole numbers",
                    f"round it, or cast {name!r} to double",
                )
            ratio = (width.numerator, width.denominator)
            cells.append(0)
        widths.append(ratio)
    return Scheme(
        "cells",
        inputs,
        cells=tuple(cells),
        widths=tuple(widths),
        overlapping=spec.overlapping,
        **sizes_of(spec, time_kind),
    )


def _read(reader: Reader, node: Node) -> BoundaryFrame:
    parts, sizes = reader.sizes(node)
    cells = reader.by_column("cells", parts, lambda one: _read_cell(reader, one))
    words = reader.words(node)
    for word in words:
        reader.add_word_span("BoundaryFrame(", node, word)
    return BoundaryFrame(cells, overlapping="OVERLAPPING" in words, **sizes)


def _read_cell(reader: Reader, node: Node) -> Any:
    numbers = [reader.number(one) for one in reader.parts(node)[1:]]
    return numbers if reader.rule(node) == "at" else numbers[0]


def _write(writer: Writer, spec: BoundaryFrame) -> str:
    cells = ", ".join(f"{writer.name(name)} {_write_cell(writer, one)}" for name, one in spec.cells)
    more = " OVERLAPPING" * spec.overlapping + writer.sizes(spec)
    return f"FRAME BOUNDARY {cells}{more}"


def _write_cell(writer: Writer, given: Any) -> str:
    if isinstance(given, tuple):
        return f"AT ({', '.join(map(writer.number, given))})"
    return f"EVERY {writer.number(given)}"


def _draw_example(spec: BoundaryFrame) -> Example:
    """Stays in one cell, or in two that are neighbours."""
    rules = [k / _CELLS for k in range(1, _CELLS)]
    if not spec.overlapping:
        stays = split_values(lambda run, value: int(run[0] * _CELLS) != int(value * _CELLS))
        return Example(stays, rules, VALUES)
    cells = [int(value * _CELLS) for value in VALUES]
    pairs: list[Spans] = [
        find_runs(cell in (low, low + 1) for cell in cells) for low in range(_CELLS - 1)
    ]
    return Example(sorted(span for pair in pairs for span in pair), rules, VALUES)


BOUNDARY = Kind(
    BoundaryFrame,
    FRAMED,
    BoundaryFrame({"signal": 0.25}),
    FRAMES,
    Words(
        "boundary",
        "FRAME BOUNDARY",
        'BOUNDARY cell ("," cell)* OVERLAPPING? _size*',
        _read,
        _write,
        rules=(
            "?cell: name EVERY number                -> every\n"
            '     | name AT "(" number ("," number)* ")"  -> at\n'
        ),
        terminals=(
            "BOUNDARY.3: /boundary\\b/i\n"
            "OVERLAPPING.3: /overlapping\\b/i\n"
            "AT.3: /at\\b/i\n"
        ),
        arguments={"cells": "BOUNDARY"},
    ),
    _make_scheme,
    make_example=_draw_example,
)  # fmt: skip

register(BOUNDARY)
