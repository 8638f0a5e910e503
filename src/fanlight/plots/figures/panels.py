"""Figures of several panels, one below the other, that share the axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fanlight.plots.figures.style import escape_text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

GAP = 34  # pixels between two panels, for the name of the lower one


def make_panels(heights: Sequence[int], names: Sequence[str] = ()) -> tuple[Figure, int]:
    """A figure with panels of these heights, each under its name; and its height in pixels."""
    from plotly.subplots import make_subplots

    whole = sum(heights) + GAP * (len(heights) - 1)
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, row_heights=list(heights),
        vertical_spacing=GAP / whole if len(heights) > 1 else 0,
    )  # fmt: skip
    for number, name in enumerate(names, 1):
        axis = "y domain" if number == 1 else f"y{number} domain"
        figure.add_annotation(
            text=escape_text(name), x=0, y=1, xref="paper", yref=axis, xanchor="left",
            yanchor="bottom", yshift=3, showarrow=False, font={"size": 12}, opacity=0.85,
            name="panel",
        )  # fmt: skip
    return figure, whole
