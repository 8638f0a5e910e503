"""Figures of results and of windows, with plotly (``pip install 'fanlight[plot]'``).

:func:`draw` chooses the figure by what it is given.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fanlight.plots.figures.clock import local_time
    from fanlight.plots.figures.draw import cut, draw
    from fanlight.plots.figures.events import events
    from fanlight.plots.figures.frames import frames
    from fanlight.plots.figures.levels import levels
    from fanlight.plots.figures.matches import matches
    from fanlight.plots.figures.page import page
    from fanlight.plots.figures.sliding import sliding
    from fanlight.plots.figures.style import COLOURS, INK, dark, layout
    from fanlight.plots.figures.trends import trends

__all__ = [
    "COLOURS", "INK", "cut", "dark", "draw", "events", "frames", "layout", "levels", "local_time",
    "matches", "page", "sliding", "trends",
]  # fmt: skip

# Names that are not defined in a module of the same name.
_HOMES = {
    **dict.fromkeys(("COLOURS", "INK", "dark", "layout"), "style"),
    "cut": "draw",
    "local_time": "clock",
}


def __getattr__(name: str) -> Any:
    """Load a figure's module on first use: plotly need not be there for sketches."""
    if name not in __all__:
        from fanlight.engine.spec.errors import MissingError, advise_choice

        msg = f"fanlight.plots has no {name!r}; {advise_choice(name, __all__)}"
        raise MissingError(msg)
    return getattr(import_module(f"fanlight.plots.figures.{_HOMES.get(name, name)}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
