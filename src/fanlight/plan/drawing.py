"""How a plan cuts time, as a drawing: the slices below the windows that are made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fanlight.plan.candidate import Plan
from fanlight.plan.cut import Cut
from fanlight.plan.granules import Pieces
from fanlight.spec.drawing.model import Lane, Mark, Sketch
from fanlight.spec.drawing.sketches import sketch
from fanlight.spec.sliding import Sliding

MOST = 120  # slices that can be told apart


def drawing(spec: object, plan: Plan[Any]) -> Sketch:
    """The drawing of a spec; of one kind of windows, with the slices of its plan."""
    found = sketch(list(spec) if isinstance(spec, tuple) else spec)
    way = plan.chosen
    told = f"{found.told} The strategy is {way.name}."
    pieces = way.cut.branches[0].cut if isinstance(way.cut, Pieces) else way.cut
    if way.lift == "windows" or way.strategy == "expand":  # rows are copied, and not cut up
        return replace(found, told=told)
    if not isinstance(spec, Sliding) or not isinstance(pieces, Cut) or spec.slide_by_tuple:
        return replace(found, told=told)
    unit = float(spec.range.value) / pieces.grid.range  # of the coordinate, on the drawing's axis
    slices = _slices(pieces, unit, found.span[1])
    if slices is None:
        note = f"{pieces.span} slices a window, too many to be drawn"
        return replace(found, told=told, notes=(*found.notes, note))
    lane = Lane("slices", slices)
    more = f" Each window is made of {pieces.span} slices." if pieces.span > 1 else ""
    return replace(found, lanes=(*found.lanes, lane), told=told + more)


def _slices(cut: Cut, unit: float, end: float) -> tuple[Mark, ...] | None:
    """The slices from 0 to the end of the drawing, or None if they are too many."""
    marks: list[Mark] = []
    number = 0
    while True:
        start = (cut.start_of(number) - cut.grid.offset) * unit
        if start >= end * (1 - 1e-9):
            return tuple(marks)
        if len(marks) == MOST:
            return None
        after = (cut.start_of(number + 1) - cut.grid.offset) * unit
        if cut.span == 1:
            after = start + cut.grid.range * unit
        marks.append(Mark("piece", start, min(after, end)))
        number += 1
