"""The drawing of each kind of windows."""

from __future__ import annotations

from collections.abc import Sequence

from fanlight.spec.drawing.framed import framed
from fanlight.spec.drawing.model import Sketch
from fanlight.spec.drawing.placed import levels, several, sliding
from fanlight.spec.drawing.widened import widened
from fanlight.spec.frames import Frame
from fanlight.spec.granular import MultiGranular
from fanlight.spec.sliding import Sliding
from fanlight.spec.widening import ProgressiveWidening


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
