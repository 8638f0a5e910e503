"""Pictures of results and of windows, with plotly (``pip install 'fanlight[plot]'``).

:func:`draw` knows which picture goes with what it is given.
"""

from fanlight.plots.clock import local_time
from fanlight.plots.cut import cut
from fanlight.plots.draw import draw
from fanlight.plots.events import events
from fanlight.plots.frames import frames
from fanlight.plots.levels import levels
from fanlight.plots.look import COLOURS, INK, dark, layout
from fanlight.plots.matches import matches
from fanlight.plots.page import page
from fanlight.plots.sliding import sliding
from fanlight.plots.trends import trends

__all__ = [
    "COLOURS", "INK", "cut", "dark", "draw", "events", "frames", "layout", "levels", "local_time",
    "matches", "page", "sliding", "trends",
]  # fmt: skip
