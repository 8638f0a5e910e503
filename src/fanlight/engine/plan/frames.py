"""Framing schemes as data: what an operator has to know, in numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from fanlight.engine.algebra.aggregate import INTEGRAL, base_type
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames import (
    AggregateFrame,
    BoundaryFrame,
    DeltaFrame,
    Frame,
    PredicateFrame,
    Session,
    ThresholdFrame,
)
from fanlight.engine.spec.frames.base import Least
from fanlight.engine.spec.units import Extent

Type = Literal["real", "whole", "flag", "there", "any", "until"]
# In these kinds, whether a row may be in a frame does not depend on the frame's other rows. So a
# row that comes too late for one frame can begin the next.
RESTARTED = ("every", "flags", "cells")
_EXACT = 18  # digits that 64-bit integers hold
_LEAST, _MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class InputColumn:
    """One input of a scheme: ``column`` says where it comes from, ``scale`` its decimals.

    Doubles travel as they are, NaN for null; integers and decimals as 64-bit integers, a decimal
    times ``10**scale``; predicates, and whether a value is there, as booleans. ``until`` is the
    time up to which a row keeps its frame open, made of the row's time and a length, ``column``.
    """

    column: Any
    type: Type
    scale: int = 0


@dataclass(frozen=True)
class Timing:
    """What closes a frame by time, besides the rows that do.

    A row keeps its frame open for ``gap`` after it or, if ``gap`` is None, until the time in its
    input of type ``until``; a row at that very time still goes on with the frame. Without either,
    time closes it only by ``cap``: a frame ends that long after its first row, at the latest.
    """

    gap: int | None = None
    cap: int | None = None


@dataclass(frozen=True)
class Scheme:
    """A framing scheme over the columns that it reads, its inputs.

    ``kind`` names what marks rows (``operators/frames/marks.py``): in no frame, goes on with one,
    or opens one. A frame is closed by the first row that is not in it or, with ``timing``, by time,
    whichever comes first. ``numbers`` are the deltas or limits in the units of their inputs,
    ``cells`` the boundaries of the grid of values, ``watched`` what each limit watches. an input of
    type ``until`` comes last.
    """

    kind: str
    inputs: tuple[InputColumn, ...]
    numbers: tuple[float | int, ...] = ()
    cells: tuple[float | int | tuple[float | int, ...], ...] = ()
    widths: tuple[tuple[int, int], ...] = ()  # of whole inputs: numerator and denominator
    watched: tuple[str, ...] = ()
    against_first: bool = False
    crossing: bool = False
    overlapping: bool = False
    min_rows: int = 1
    min_duration: int = 0
    functions: tuple[Callable[..., Any] | None, ...] = ()
    names: tuple[str, ...] = ()
    timing: Timing | None = None

    def __post_init__(self) -> None:
        """Check that frames which time may cut can go on after the cut."""
        if self.timing and (self.overlapping or self.kind not in RESTARTED):
            msg = f"time cannot cut frames of kind {self.kind}"
            raise AssertionError(msg)

    @property
    def own_deadlines(self) -> bool:
        """Whether rows have an input that says until when they keep their frame open."""
        return bool(self.inputs) and self.inputs[-1].type == "until"

    @property
    def marked(self) -> tuple[InputColumn, ...]:
        """The inputs that marks depend on."""
        return self.inputs[:-1] if self.own_deadlines else self.inputs

    @property
    def selective(self) -> bool:
        """Whether frames that are too small are left out."""
        return self.min_rows > 1 or self.min_duration > 0


def scheme_of(spec: Frame, types: Sequence[str], time_kind: str) -> Scheme:
    """The scheme of a spec whose inputs have these Spark types; errors name the column."""
    return SCHEMES[type(spec)](spec, types, time_kind)


def numbers_of(spec: Frame, types: Sequence[str]) -> tuple[InputColumn, ...]:
    """The inputs of a spec whose inputs must all be numbers."""
    return tuple(
        _number(read.argument, read.given, kind)
        for read, kind in zip(spec.inputs, types, strict=True)
    )


def _predicates(
    spec: ThresholdFrame | PredicateFrame, types: Sequence[str], time_kind: str
) -> Scheme:
    columns = [(read.argument, read.given) for read in spec.inputs]
    rows, duration = _least(spec.least, time_kind)
    if isinstance(spec, PredicateFrame) and spec.by_function:
        inputs = tuple(InputColumn(column, "any") for _, column in columns)
        functions = (spec.open, spec.close, spec.update)
        return Scheme(
            "logical",
            inputs,
            functions=functions,
            names=spec.columns,
            min_rows=rows,
            min_duration=duration,
        )
    kind = "flags" if isinstance(spec, ThresholdFrame) else "latches"
    return Scheme(kind, _flags(columns, types), min_rows=rows, min_duration=duration)


def _session(spec: Session, types: Sequence[str], time_kind: str) -> Scheme:
    """The scheme of sessions: every row goes on, and only time closes one."""
    timing = Timing(
        None if spec.gap is None else _length("gap", spec.gap, time_kind),
        None
        if spec.max_duration is None
        else _length("max_duration", spec.max_duration, time_kind),
    )
    inputs = tuple(InputColumn(read.given, "until") for read in spec.inputs)
    for kind in types:
        if time_kind == "integer":
            fits, wanted = base_type(kind) in INTEGRAL, "a whole number, as the time is"
        else:
            fits = kind.startswith("interval") or base_type(kind) in ("string", "varchar", "char")
            wanted = "an interval, or a text such as '5 minutes'"
        if not fits:
            raise refuse(
                f"gap={spec.shown}",
                f"is of type {kind}, which is not a length of time between rows",
                f"make it {wanted}",
            )
    return Scheme("every", inputs, min_rows=spec.least.rows, timing=timing)


def _length(argument: str, length: Extent, time_kind: str) -> int:
    """A fixed length in the units of the time column."""
    if (length.measure == "number") != (time_kind == "integer") or length.value.denominator != 1:
        raise refuse(
            f"{argument}={length}",
            "does not fit the type of the time column",
            "write a duration such as '5 minutes' for timestamps, a whole number for whole numbers",
        )
    return int(length.value)


def _least(least: Least, time_kind: str) -> tuple[int, int]:
    if least.duration is not None:
        times = time_kind in ("timestamp", "timestamp_ntz")
        if times != (least.duration.measure == "time"):
            raise refuse(
                f"min_duration={least.duration}",
                "does not fit the type of the time column",
                "write a duration such as '5 minutes' for timestamps, a number for numbers",
            )
        return least.rows, math.ceil(least.duration.value)
    return least.rows, 0


def _flags(columns: Sequence[tuple[str, Any]], types: Sequence[str]) -> tuple[InputColumn, ...]:
    for (argument, given), kind in zip(columns, types, strict=True):
        if kind != "boolean":
            raise refuse(
                f"{argument}={str(given)!r}",
                f"is of type {kind}, not a condition",
                f"compare it with something: {argument}={f'{given} > 0'!r}",
            )
    return tuple(InputColumn(given, "flag") for _, given in columns)


def _number(about: str, column: Any, kind: str) -> InputColumn:
    base = base_type(kind)
    if base in INTEGRAL:
        return InputColumn(column, "whole")
    if base in ("float", "double"):
        return InputColumn(column, "real")
    if base == "decimal":
        digits, scale = (int(part) for part in kind[8:-1].split(","))
        if digits <= _EXACT:
            return InputColumn(column, "whole", scale)
        raise refuse(
            f"{about}: {column!r}",
            f"is of type {kind}, more digits than 64 bits hold",
            f"cast it to decimal({_EXACT},{min(scale, _EXACT)}) or double",
        )
    raise refuse(
        f"{about}: column {column!r}",
        f"is of type {kind}, but frames are cut by numbers",
        "name a numeric column, or cast it",
    )


def _scaled(value: Fraction, read: InputColumn) -> float | int:
    """A delta or limit in an input's units; whole inputs reach it when they reach its ceiling."""
    if read.type == "real":
        return _double(value)
    scaled: int = math.ceil(value * 10**read.scale)
    return max(_LEAST, min(scaled, _MOST))


def _deltas(spec: DeltaFrame, types: Sequence[str], _: str) -> Scheme:
    inputs = numbers_of(spec, types)
    numbers = tuple(_scaled(d, read) for (_, d), read in zip(spec.deltas, inputs, strict=True))
    return Scheme(
        "deltas",
        inputs,
        numbers,
        against_first=spec.against == "first",
        crossing=spec.include_crossing,
    )


def _double(value: Fraction) -> float:
    """The nearest double; the largest, where a value is beyond all."""
    largest = Fraction(sys.float_info.max)
    return float(max(-largest, min(value, largest)))


def _edges(given: Sequence[Fraction], read: InputColumn) -> tuple[float | int, ...]:
    """Break points in an input's units, without those that all its values lie on one side of."""
    if read.type == "real":
        return tuple(-math.inf if b < -sys.float_info.max else _double(b) for b in given)
    # x <= b for whole x is x <= floor(b).
    edges = [math.floor(b * 10**read.scale) for b in given]
    return tuple(b for b in edges if _LEAST <= b < _MOST) or (_MOST,)


def _boundary(spec: BoundaryFrame, types: Sequence[str], _: str) -> Scheme:
    inputs = numbers_of(spec, types)
    cells: list[float | int | tuple[float | int, ...]] = []
    widths: list[tuple[int, int]] = []
    for (name, given), read in zip(spec.cells, inputs, strict=True):
        ratio = (0, 1)
        if isinstance(given, tuple):
            cells.append(_edges(given, read))
        elif read.type == "real":
            cells.append(_double(given))
        else:
            width = given * 10**read.scale
            if width.denominator > 10**6 or width.numerator >= 2**62:
                raise refuse(
                    f"cells={{{name!r}: {_double(given)!r}}}",
                    "is too fine or too wide for a column of whole numbers",
                    f"round it, or cast {name!r} to double",
                )
            ratio = (width.numerator, width.denominator)
            cells.append(0)
        widths.append(ratio)
    return Scheme(
        "cells", inputs, cells=tuple(cells), widths=tuple(widths), overlapping=spec.overlapping
    )


def _aggregate(spec: AggregateFrame, types: Sequence[str], _: str) -> Scheme:
    inputs: list[InputColumn] = []
    watched: list[str] = []
    numbers: list[float | int] = []
    at = 0
    for call, limit in zip(spec.aggregates, spec.limits, strict=True):
        way = call.aggregate.watched
        kinds = types[at : at + len(call.columns)]
        at += len(call.columns)
        if way == "distinct":
            inputs.extend(InputColumn(column, "any") for column in call.columns)
            watched.append(f"distinct {len(call.columns)}")
            numbers.append(min(math.ceil(limit), _MOST))
            continue
        if way == "count":
            read = InputColumn(call.columns[0] if call.columns else None, "there")
        else:
            read = _number(call.label, call.columns[0], kinds[0])
            if way not in ("sum", "max") and read.type == "whole":
                read = InputColumn(call.columns[0], "real")
        inputs.append(read)
        watched.append(way)
        numbers.append(min(math.ceil(limit), _MOST) if way == "count" else _scaled(limit, read))
    distinct = any(name.startswith("distinct") for name in watched)
    return Scheme(
        "distinct" if distinct else "limits",
        tuple(inputs),
        tuple(numbers),
        watched=tuple(watched),
        crossing=spec.include_crossing,
    )


# How each spec becomes a scheme: from the types of its inputs, and the kind of the time.
SCHEMES: dict[type[Frame], Callable[[Any, Sequence[str], str], Scheme]] = {
    ThresholdFrame: _predicates,
    PredicateFrame: _predicates,
    BoundaryFrame: _boundary,
    DeltaFrame: _deltas,
    AggregateFrame: _aggregate,
    Session: _session,
}
