"""The drawing of each kind of windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.granular import MultiGranular
from fanlight.engine.spec.pictured import Picture
from fanlight.engine.spec.sliding import Sliding
from fanlight.engine.spec.widening import ProgressiveWidening
from fanlight.plots.sketches import svg
from fanlight.plots.sketches.framed import framed
from fanlight.plots.sketches.model import Sketch
from fanlight.plots.sketches.placed import levels, several, sliding
from fanlight.plots.sketches.sliced import sliced
from fanlight.plots.sketches.widened import widened


def sketch(spec: object) -> Sketch:
    """The drawing of a spec, or of a list of sliding windows."""
    if isinstance(spec, Sliding):
        return sliding(spec)
    if isinstance(spec, MultiGranular):
        return levels(spec)
    if isinstance(spec, ProgressiveWidening):
        return widened(spec)
    if isinstance(spec, Frame):
        return framed(spec)
    if isinstance(spec, Sequence) and spec and all(isinstance(one, Sliding) for one in spec):
        return several(spec)
    msg = f"a {type(spec).__name__} has no windows to draw"
    raise TypeError(msg)


def drawn(picture: Picture) -> Sketch:
    """The drawing of a picture, with the slices of its plan if it has one."""
    spec = picture.spec
    found = sketch(list(spec) if isinstance(spec, tuple) else spec)
    if picture.strategy:
        found = sliced(found, picture)
    return replace(found, heading=picture.heading) if picture.heading else found


def html(picture: Picture) -> str:
    """The drawing, and the picture's text below it, as HTML that needs no package."""
    shown = svg.html(drawn(picture), *([picture.note] if picture.note else []))
    if not picture.text:
        return shown
    text = escape(picture.text, quote=False)
    return f'{shown}<pre style="font-size:12px;overflow-x:auto">{text}</pre>'
