"""How a plan cuts time, in a drawing: the slices below the windows that are made of them."""

from __future__ import annotations

from dataclasses import replace

from fanlight.engine.plan.cut import Cut
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.sliding import Sliding
from fanlight.plots.sketches.model import Lane, Mark, Sketch

MOST = 120  # slices that can be told apart


def sliced(found: Sketch, picture: Picture) -> Sketch:
    """A drawing that tells the strategy; of sliding windows that are cut, with the slices."""
    spec, cut = picture.spec, picture.cut
    told = f"{found.told} The strategy is {picture.strategy}."
    if cut is None or not isinstance(spec, Sliding) or spec.slide_by_tuple:
        return replace(found, told=told)
    unit = float(spec.range.value) / cut.grid.range  # of the coordinate, on the drawing's axis
    slices = _slices(cut, unit, found.span[1])
    if slices is None:
        note = f"{cut.span} slices a window, too many to be drawn"
        return replace(found, told=told, notes=(*found.notes, note))
    lane = Lane("slices", slices)
    more = f" Each window is made of {cut.span} slices." if cut.span > 1 else ""
    return replace(found, lanes=(*found.lanes, lane), told=told + more)


def _slices(cut: Cut, unit: float, end: float) -> tuple[Mark, ...] | None:
    """The slices from 0 to the end of the drawing, or None if they are too many."""
    marks: list[Mark] = []
    number = 0
    while True:
        start = (cut.slice_start(number) - cut.grid.offset) * unit
        if start >= end * (1 - 1e-9):
            return tuple(marks)
        if len(marks) == MOST:
            return None
        after = (cut.slice_start(number + 1) - cut.grid.offset) * unit
        if cut.span == 1:
            after = start + cut.grid.range * unit
        marks.append(Mark("piece", start, min(after, end)))
        number += 1
