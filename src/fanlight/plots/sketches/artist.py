"""The drawing of each kind of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import FRAMED, LEVELLED, PLACED, WIDENED, Family
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictured import Picture
from fanlight.plots.sketches import svg
from fanlight.plots.sketches.frames import sketch_frames
from fanlight.plots.sketches.model import Sketch
from fanlight.plots.sketches.plan_slices import add_plan
from fanlight.plots.sketches.sliding import sketch_levels, sketch_queries, sketch_sliding
from fanlight.plots.sketches.widening import sketch_widening

_SKETCHES: dict[Family, Callable[[Any], Sketch]] = {
    PLACED: sketch_sliding,
    LEVELLED: sketch_levels,
    FRAMED: sketch_frames,
    WIDENED: sketch_widening,
}


def sketch_spec(spec: object) -> Sketch:
    """The drawing of a spec, or of a list of sliding windows."""
    kind = kind_of(spec)
    if kind is not None and isinstance(spec, Sequence):
        return sketch_queries(spec)
    if kind is not None:
        return _SKETCHES[kind.family](spec)
    if isinstance(spec, Frame):  # a scheme of a user's own
        return sketch_frames(spec)
    msg = f"a {type(spec).__name__} has no windows to draw"
    raise TypeError(msg)


def sketch_picture(picture: Picture) -> Sketch:
    """The drawing of a picture, with the slices of its plan if it has one."""
    spec = picture.spec
    found = sketch_spec(list(spec) if isinstance(spec, tuple) else spec)
    if picture.strategy:
        found = add_plan(found, picture)
    return replace(found, heading=picture.heading) if picture.heading else found


def html(picture: Picture) -> str:
    """The drawing, and the picture's text below it, as HTML that needs no package."""
    shown = svg.to_html(sketch_picture(picture), *([picture.note] if picture.note else []))
    if not picture.text:
        return shown
    text = escape(picture.text, quote=False)
    return f'{shown}<pre style="font-size:12px;overflow-x:auto">{text}</pre>'
