"""Draws the sketch of any spec or plan, as ``engine.spec.pictures`` asks of an artist."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import FRAMED, LEVELLED, PLACED, SNAPPED, TRAILED, WIDENED, Family
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture
from fanlight.engine.spec.trailing import Labelled
from fanlight.plots.sketches import svg
from fanlight.plots.sketches.kinds import (
    add_plan,
    sketch_frames,
    sketch_horizons,
    sketch_levels,
    sketch_queries,
    sketch_sliding,
    sketch_snapshot,
    sketch_trailing,
    sketch_widening,
)
from fanlight.plots.sketches.model import Sketch

_SKETCHES: dict[Family, Callable[[Any], Sketch]] = {
    PLACED: sketch_sliding,
    LEVELLED: sketch_levels,
    FRAMED: sketch_frames,
    WIDENED: sketch_widening,
    TRAILED: sketch_trailing,
    SNAPPED: sketch_snapshot,
}


def sketch_spec(spec: object) -> Sketch:
    """The sketch of a spec, or of a list of sliding windows."""
    kind = kind_of(spec)
    if isinstance(spec, Labelled):
        return sketch_horizons(dict(zip(spec.labels, spec.windows, strict=True)))
    if kind is not None and isinstance(spec, Sequence):
        return sketch_queries(spec)
    if kind is not None:
        return _SKETCHES[kind.family](spec)
    if isinstance(spec, Frame):  # a kind of frame that a user wrote
        return sketch_frames(spec)
    msg = f"a {type(spec).__name__} has no windows to draw"
    raise TypeError(msg)


def sketch_picture(picture: Picture) -> Sketch:
    """The sketch of a picture; if the picture has a plan, with its slices."""
    spec = picture.spec
    sketch = sketch_spec(list(spec) if isinstance(spec, tuple) else spec)
    if picture.strategy:
        sketch = add_plan(sketch, picture)
    return replace(sketch, heading=picture.heading) if picture.heading else sketch


def html(picture: Picture) -> str:
    """A picture as HTML that needs no package: the sketch, and the picture's text below it."""
    drawing = svg.to_html(sketch_picture(picture), *([picture.note] if picture.note else []))
    if not picture.text:
        return drawing
    text = escape(picture.text, quote=False)
    return f'{drawing}<pre style="font-size:12px;overflow-x:auto">{text}</pre>'
