"""What a notebook shows of a value: a small drawing of windows, by whoever draws here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Picture:
    """What is to be drawn.

    ``spec`` has the windows, or is a tuple of several; ``cut`` is how a plan cuts them into slices,
    if it does, and ``strategy`` the name of its way. ``heading`` stands above instead of the spec,
    ``note`` below the drawing, ``text`` below that as it is.
    """

    spec: object
    cut: Any = None
    strategy: str = ""
    heading: str = ""
    note: str = ""
    text: str = ""


class Artist(Protocol):
    """Draws pictures; see :mod:`fanlight.plots.sketches.drawn`."""

    def html(self, picture: Picture) -> str:
        """The drawing as HTML that needs no package."""


_artists: list[Callable[[], Artist]] = []


def draw_with(artist: Callable[[], Artist]) -> None:
    """Say who draws from now on. It is called when something is to be drawn, and not before."""
    _artists[:] = [artist]


class Pictured:
    """A value that a notebook shows as a small drawing of its windows."""

    __slots__ = ()

    def _picture_(self) -> Picture:
        """What is to be drawn."""
        return Picture(self)

    def _repr_html_(self) -> str:
        """The drawing, for a notebook; empty where nobody draws."""
        return _artists[0]().html(self._picture_()) if _artists else ""
