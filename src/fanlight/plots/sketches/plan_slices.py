"""Adds a plan to a sketch: its strategy, and its slices below the windows made of them."""

from __future__ import annotations

from dataclasses import replace

from fanlight.engine.plan.cut import Cut
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.sliding import Sliding
from fanlight.plots.sketches.model import Lane, Mark, Sketch

MOST = 120  # slices: more could not be told apart


def add_plan(sketch: Sketch, picture: Picture) -> Sketch:
    """Add the strategy of a plan to a sketch, and its slices if it cuts sliding windows."""
    spec, cut = picture.spec, picture.cut
    alt = f"{sketch.alt} The strategy is {picture.strategy}."
    if cut is None or not isinstance(spec, Sliding) or spec.mixed:
        return replace(sketch, alt=alt)
    # What one unit of the coordinate is on the sketch's axis.
    grid = cut.grid
    unit = (1.0 if spec.anew else float(spec.slide.value)) / grid.slide
    slices = _mark_slices(cut, unit, sketch.span[1])
    if slices is None:
        note = f"a window is made of {cut.span} slices, too many to be drawn"
        return replace(sketch, alt=alt, notes=(*sketch.notes, note))
    lane = Lane("slices", slices)
    more = f" Each window is made of {cut.span} slices." if cut.span > 1 else ""
    return replace(sketch, lanes=(*sketch.lanes, lane), alt=alt + more)


def _mark_slices(cut: Cut, unit: float, end: float) -> tuple[Mark, ...] | None:
    """The slices from 0 to the end of the sketch as marks; None if they are too many to draw."""
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
