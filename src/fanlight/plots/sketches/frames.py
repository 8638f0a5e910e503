"""Sketches of frames: an example of values, and where frames would end in it."""

from __future__ import annotations

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.examples import VALUES
from fanlight.engine.kinds.kind import Example
from fanlight.engine.spec.frames.base import Frame
from fanlight.plots.sketches.model import Lane, Mark, Sketch

_OWN = Example([(0, 8), (8, 15), (15, 24)], (), VALUES)  # for a kind of frame that has no example


def sketch_frames(spec: Frame) -> Sketch:
    """Example frames below the values, or the rows, that they are cut from."""
    kind = kind_of(spec)
    example = kind.drawn(spec) if kind is not None and kind.drawn else _OWN
    if example.times:
        lanes = [Lane("rows", tuple(Mark("row", at, at) for at in example.times))]
        last = max(end for _, end in example.spans)
    else:
        curve = tuple((float(k), value) for k, value in enumerate(example.curve))
        lanes = [Lane("values", curve=curve, rules=tuple(example.rules))]
        last = len(example.curve) - 1
    lines: list[list[Mark]] = []  # frames that overlap are drawn on different lines
    for start, end in example.spans:
        mark = Mark("window", float(start), float(min(end, last)))
        free = next((lane for lane in lines if lane[-1].end <= mark.start), None)
        if free is None:
            lines.append(free := [])
        free.append(mark)
    for number, row in enumerate(lines):
        lanes.append(Lane("" if number else example.called, tuple(row)))
    alt = f"A {example.called.removesuffix('s')} ends {spec.ends}."
    notes = ("an example: your data decides where frames end",)
    return Sketch(repr(spec), tuple(lanes), (), alt, notes)
