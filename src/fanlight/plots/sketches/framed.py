"""Frames: where an example's values would end them. What is drawn is no data of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fanlight.engine.spec.frames.aggregate import AggregateFrame
from fanlight.engine.spec.frames.base import Frame
from fanlight.engine.spec.frames.boundary import BoundaryFrame
from fanlight.engine.spec.frames.delta import DeltaFrame
from fanlight.engine.spec.frames.predicates import PredicateFrame, ThresholdFrame
from fanlight.engine.spec.frames.session import Session
from fanlight.plots.sketches.model import Lane, Mark, Sketch

# A made-up series, from 0 to 1, a value a row.
VALUES = (
    0.15, 0.22, 0.34, 0.55, 0.72, 0.84, 0.9, 0.86, 0.7, 0.58, 0.4, 0.28, 0.2, 0.24, 0.38, 0.6,
    0.68, 0.64, 0.55, 0.42, 0.3, 0.18, 0.12, 0.1,
)  # fmt: skip
MIDDLE, HIGH, LOW, DELTA, LIMIT, CELLS = 0.5, 0.65, 0.3, 0.35, 3.0, 4
TIMES = (0.5, 1.2, 2.4, 3.0, 8.2, 9.0, 9.6, 11.2, 17.0, 17.4, 18.6, 19.1)  # of an example's rows
GAP = 2.5
Runs = list[tuple[int, int]]  # of each frame its first row, and the row after its last


def framed(spec: Frame) -> Sketch:
    """An example of such frames over a curve, or over rows with gaps between them."""
    told = f"A frame ends {spec.ends}."
    heading, notes = repr(spec), ("an example: your data decides where frames end",)
    if isinstance(spec, Session):
        marks = _sessions()
        rows = Lane("rows", tuple(Mark("row", at, at) for at in TIMES))
        told = f"A session ends {spec.ends}."
        return Sketch(heading, (rows, Lane("sessions", marks)), (), told, notes)
    runs, rules = _example(spec)
    curve = tuple((float(k), value) for k, value in enumerate(VALUES))
    lanes = [Lane("values", curve=curve, rules=rules)]
    beside: list[list[Mark]] = []  # frames that overlap are drawn below each other
    for first, after in runs:
        mark = Mark("window", float(first), float(min(after, len(VALUES) - 1)))
        free = next((lane for lane in beside if lane[-1].end <= mark.start), None)
        if free is None:
            beside.append(free := [])
        free.append(mark)
    for number, row in enumerate(beside):
        lanes.append(Lane("" if number else "frames", tuple(row)))
    return Sketch(heading, tuple(lanes), (), told, notes)


def _sessions() -> tuple[Mark, ...]:
    first, last, found = TIMES[0], TIMES[0], []
    for at in TIMES[1:]:
        if at - last > GAP:
            found.append(Mark("window", first, last + GAP))
            first = at
        last = at
    return (*found, Mark("window", first, last + GAP))


def _example(spec: Frame) -> tuple[Runs, tuple[float, ...]]:
    """The frames of the example, and the heights that decide them."""
    if isinstance(spec, ThresholdFrame):
        return _runs(value > MIDDLE for value in VALUES), (MIDDLE,)
    if isinstance(spec, PredicateFrame):
        return _opened(), (LOW, HIGH)
    if isinstance(spec, BoundaryFrame):
        return _cells(overlapping=spec.overlapping), tuple(k / CELLS for k in range(1, CELLS))
    if isinstance(spec, DeltaFrame):
        return _chain(lambda run, value: max(*run, value) - min(*run, value) >= DELTA), ()
    if isinstance(spec, AggregateFrame):
        return _chain(lambda run, _: sum(run) >= LIMIT), ()
    return [(0, 8), (8, 15), (15, 24)], ()


def _cells(*, overlapping: bool) -> Runs:
    """Stays in one cell, or in two that are neighbours."""
    if not overlapping:
        return _chain(lambda run, value: int(run[0] * CELLS) != int(value * CELLS))
    cells = [int(value * CELLS) for value in VALUES]
    pairs = [_runs(cell in (low, low + 1) for cell in cells) for low in range(CELLS - 1)]
    return sorted(run for found in pairs for run in found)


def _runs(holds: Iterable[bool]) -> Runs:
    """The longest runs of rows for which something holds."""
    found: Runs = []
    for place, one in enumerate(holds):
        if one and found and found[-1][1] == place:
            found[-1] = found[-1][0], place + 1
        elif one:
            found.append((place, place + 1))
    return found


def _opened() -> Runs:
    """From a high value to a low one."""
    is_open, held = False, []
    for value in VALUES:
        is_open = value > LOW if is_open else value > HIGH
        held.append(is_open)
    return _runs(held)


def _chain(ends: Callable[[list[float], float], bool]) -> Runs:
    """Frames side by side; each ends before the row that ``ends`` says so of."""
    found: Runs = [(0, 1)]
    for place, value in enumerate(VALUES[1:], 1):
        first = found[-1][0]
        if ends(list(VALUES[first:place]), value):
            found.append((place, place + 1))
        else:
            found[-1] = first, place + 1
    return found
