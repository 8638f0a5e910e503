"""What a notebook shows for a value: a small drawing of its windows, made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Picture:
    """A drawing to be made.

    ``spec`` is the spec of the windows, or a tuple of several. ``cut`` is the plan's cut into
    slices, if it has one, and ``strategy`` its name. ``heading`` replaces the spec above the
    drawing, ``note`` stands below it, and ``text``, preformatted, below that.
    """

    spec: object
    cut: Any = None
    strategy: str = ""
    heading: str = ""
    note: str = ""
    text: str = ""


class Artist(Protocol):
    """Draws pictures; see :mod:`fanlight.plots.sketches.svg`."""

    def html(self, picture: Picture) -> str:
        """The drawing as HTML that needs no package."""


_artists: list[Callable[[], Artist]] = []


def draw_with(artist: Callable[[], Artist]) -> None:
    """Set what returns the artist; it is first called when something is to be drawn."""
    _artists[:] = [artist]


class Pictured:
    """A value that a notebook shows as a small drawing of its windows."""

    __slots__ = ()

    def _picture_(self) -> Picture:
        """The drawing to be made of it."""
        return Picture(self)

    def _repr_html_(self) -> str:
        """Draw the picture for a notebook. Empty if no artist is set."""
        return _artists[0]().html(self._picture_()) if _artists else ""
