"""What a spec does to be drawn by a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fanlight.spec.drawing.model import Sketch


class Pictured:
    """Something that a notebook shows as a small drawing of its windows."""

    __slots__ = ()

    def _sketch_(self) -> Sketch:
        """The drawing, as data."""
        from fanlight.spec.drawing.sketches import sketch

        return sketch(self)

    def _repr_html_(self) -> str:
        """The drawing as SVG, which needs no package."""
        from fanlight.spec.drawing.svg import html

        return html(self._sketch_())
