"""Framing schemes as data: what an operator has to know, in numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from fanlight.engine.algebra.aggregate import INTEGRAL, base_type
from fanlight.engine.plan.coordinate import check_length
from fanlight.engine.spec.errors import refuse
from fanlight.engine.spec.frames.base import Frame, Least, Most
from fanlight.engine.spec.frames.limits import Mean, Step
from fanlight.engine.spec.units import Extent

Type = Literal["real", "whole", "flag", "there", "any", "limit", "until", "value"]
_EXACT = 18  # digits that 64-bit integers hold
LEAST, MOST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class InputColumn:
    """One input of a scheme: ``column`` says where it comes from, ``scale`` its decimals.

    Doubles travel as they are, NaN for null; integers and decimals as 64-bit integers, a decimal
    times ``10**scale``, ``negated`` with the other sign; predicates, and whether a value is there,
    as booleans. A ``limit`` is the least whole number, in units of ``10**-scale``, that reaches a
    limit, or with ``beyond`` exceeds it. ``until`` is the time up to which a row keeps its frame
    open, made of the row's time and a length, ``column``. A ``value`` travels as it is.
    """

    column: Any
    type: Type
    scale: int = 0
    negated: bool = False
    beyond: bool = False


@dataclass(frozen=True)
class Timing:
    """How time closes a frame, besides the rows that close one.

    A row keeps its frame open for ``gap`` after it or, if ``gap`` is None, until the time in its
    input of type ``until``; a row at that very time still goes on with the frame. Without either,
    time closes it only by ``cap``: a frame ends that long after its first row, at the latest.
    """

    gap: int | None = None
    cap: int | None = None

    @classmethod
    def of(cls, gap: int | None, cap: int | None) -> Timing | None:
        """The timing of frames that may have no limit by time."""
        return None if gap is None and cap is None else cls(gap, cap)


@dataclass(frozen=True)
class LimitOf:
    """Where the limit of an aggregate comes from, if it is not a number.

    ``rows`` are places among the inputs of the scheme: the only one is the limit itself, if there
    are no ``steps``. These make a double of them and of ``means``, which is then multiplied by
    ``unit`` to fit the input that is watched; ``beyond``: it must be exceeded.
    """

    rows: tuple[int, ...]
    means: tuple[Mean, ...] = ()
    steps: tuple[Step, ...] = ()
    unit: float = 1.0
    beyond: bool = False


@dataclass(frozen=True)
class Scheme:
    """A framing scheme over the columns that it reads, its inputs.

    ``kind`` names what marks rows (``operators/frames/running.py``): in no frame, goes on with one,
    or opens one. A frame is closed by the first row that is not in it, by the one after
    ``max_rows`` (0: any number) or, with ``timing``, by time, whichever comes first. ``numbers``
    are the deltas or limits in the units of their inputs, ``cells`` the boundaries of the grid of
    values, ``watched`` what each limit watches, ``limits`` where limits come from that are no
    numbers: each has its inputs after those that are watched. An input of type ``until`` comes
    last.
    """

    kind: str
    inputs: tuple[InputColumn, ...]
    numbers: tuple[float | int, ...] = ()
    cells: tuple[float | int | tuple[float | int, ...], ...] = ()
    widths: tuple[tuple[int, int], ...] = ()  # of whole inputs: numerator and denominator
    watched: tuple[str, ...] = ()
    limits: tuple[LimitOf | None, ...] = ()
    against_first: bool = False
    crossing: bool = False
    overlapping: bool = False
    min_rows: int = 1
    min_duration: int = 0
    max_rows: int = 0
    nulls: str = ""  # of states: "state", "skip", "end" or "carry"
    functions: tuple[Callable[..., Any] | None, ...] = ()
    names: tuple[str, ...] = ()
    timing: Timing | None = None
    automaton: Any = None  # of patterns: ``plan/patterns.Automaton``

    @property
    def has_own_deadlines(self) -> bool:
        """Whether rows have an input that says until when they keep their frame open."""
        return bool(self.inputs) and self.inputs[-1].type == "until"

    @property
    def marked_inputs(self) -> tuple[InputColumn, ...]:
        """The inputs that marks depend on."""
        return self.inputs[:-1] if self.has_own_deadlines else self.inputs

    @property
    def is_unnumbered(self) -> bool:
        """Whether rows have no number of a frame: they may be in two, or later rows decide."""
        return self.overlapping or self.kind in ("dwell", "pattern")

    @property
    def is_listed(self) -> bool:
        """Whether the rows of frames can be listed once these are decided, each with its frame."""
        return self.kind == "pattern" and not self.overlapping

    @property
    def may_vanish(self) -> bool:
        """Whether an open frame that is large enough may end too small, as its last rows leave."""
        return self.kind == "dwell" and self.numbers[1] > 0 and self.drops_small_frames

    @property
    def is_limited(self) -> bool:
        """Whether time, or a number of rows, may end a frame besides the scheme."""
        return self.timing is not None or self.max_rows > 0

    @property
    def drops_small_frames(self) -> bool:
        """Whether frames that are too small are left out."""
        return self.min_rows > 1 or self.min_duration > 0


def number_inputs(spec: Frame, types: Sequence[str]) -> tuple[InputColumn, ...]:
    """The inputs of a spec, all of which must be numbers."""
    return tuple(
        number_input(read.argument, read.given, kind)
        for read, kind in zip(spec.inputs, types, strict=True)
    )


def whole_length(argument: str, length: Extent, time_kind: str) -> int:
    """A fixed length in the units of the time column."""
    check_length(argument, length, time_kind)
    return int(length.value)


def sizes_of(spec: Frame, time_kind: str) -> dict[str, Any]:
    """The least and the greatest size of a spec's frames, in the units of the time column."""
    least, most = spec.least or Least(), spec.most or Most()
    shortest = 0
    if least.duration is not None:
        check_length("min_duration", least.duration, time_kind, whole=False)
        shortest = math.ceil(least.duration.value)
    cap, gap = (
        None if length is None else whole_length(argument, length, time_kind)
        for argument, length in (("max_duration", most.duration), ("max_gap", most.gap))
    )
    return {
        "min_rows": least.rows, "min_duration": shortest,
        "max_rows": most.rows or 0, "timing": Timing.of(gap, cap),
    }  # fmt: skip


def number_input(about: str, column: Any, kind: str) -> InputColumn:
    """An input that must be a number; ``about`` names it in errors."""
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


def scale_to_input(value: Fraction, read: InputColumn, *, beyond: bool = False) -> float | int:
    """A delta or limit in an input's units; rounded up for whole inputs, which reach it then.

    ``beyond``: the least number that exceeds it, instead.
    """
    if read.type == "real":
        nearest = nearest_double(value)
        return math.nextafter(nearest, math.inf) if beyond else nearest
    exact = value * 10**read.scale
    scaled: int = math.floor(exact) + 1 if beyond else math.ceil(exact)
    return max(LEAST, min(scaled, MOST))


def limit_input(column: Any, kind: str, of: InputColumn, *, beyond: bool) -> InputColumn:
    """The input with each row's own limit, in the units of the input that is watched."""
    base = base_type(kind)
    if base not in (*INTEGRAL, "float", "double", "decimal"):
        raise refuse(
            f"limit={column!r}",
            f"is of type {kind}, but a limit is a number",
            "name a numeric column, or cast it",
        )
    whole = of.type in ("whole", "there", "any")
    return InputColumn(column, "limit" if whole else "real", of.scale, of.negated, beyond)


def nearest_double(value: Fraction) -> float:
    """The double nearest to a value; for values beyond all doubles the largest."""
    largest = Fraction(sys.float_info.max)
    return float(max(-largest, min(value, largest)))
