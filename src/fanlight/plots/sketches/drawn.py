"""The drawing of each kind of windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from fanlight.engine.kinds import kind_of
from fanlight.engine.kinds.kind import FRAMED, LEVELLED, PLACED, WIDENED, Family
from fanlight.engine.spec.frames import Frame
from fanlight.engine.spec.pictures import Picture
from fanlight.plots.sketches import svg
from fanlight.plots.sketches.framed import framed
from fanlight.plots.sketches.model import Sketch
from fanlight.plots.sketches.placed import levels, several, sliding
from fanlight.plots.sketches.sliced import sliced
from fanlight.plots.sketches.widened import widened

_SKETCHES: dict[Family, Callable[[Any], Sketch]] = {
    PLACED: sliding,
    LEVELLED: levels,
    FRAMED: framed,
    WIDENED: widened,
}


def sketch(spec: object) -> Sketch:
    """The drawing of a spec, or of a list of sliding windows."""
    kind = kind_of(spec)
    if kind is not None and isinstance(spec, Sequence):
        return several(spec)
    if kind is not None:
        return _SKETCHES[kind.family](spec)
    if isinstance(spec, Frame):  # a scheme of a user's own
        return framed(spec)
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
