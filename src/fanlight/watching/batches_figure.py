"""The figure of micro-batches: one panel per number, over one axis of time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from plotly.graph_objects import Figure

from fanlight.plots.figures.axes import CLOCK, EXACT
from fanlight.plots.figures.clock import local_time
from fanlight.plots.figures.panels import make_panels
from fanlight.plots.figures.style import colour_of, escape_text, finish
from fanlight.watching.progress import Progress

NAMES = ("rows a second", "seconds of a micro-batch", "rows of state", "late rows", "late groups")
HEIGHT = 84


def draw_micro_batches(batches: Sequence[Progress], zone: str) -> Figure:
    """Draw speed, duration, state and late rows of each micro-batch at the time when it began."""
    texts = [str(one.begun).removesuffix("Z") for one in batches]
    times = local_time(np.array(texts, dtype="datetime64[us]"), zone)
    heights: list[list[float | None]] = [
        [one.rows_per_second for one in batches],
        [one.seconds for one in batches],
        [one.state_rows for one in batches],
        [one.late for one in batches],
        [one.dropped for one in batches],
    ]
    figure, whole = make_panels([HEIGHT] * len(NAMES), NAMES)
    for number, (name, line) in enumerate(zip(NAMES, heights, strict=True)):
        figure.add_scatter(
            x=times, y=line, name=name, mode="lines+markers", row=number + 1, col=1,
            line={"width": 1.4, "color": colour_of(number), "shape": "hv" if number == 2 else None},
            marker={"size": 4, "color": colour_of(number)},
        )  # fmt: skip
    figure.update_xaxes(type="date", hoverformat=CLOCK)
    figure.update_xaxes(
        title_text=escape_text(f"start of micro-batch, {zone}"), row=len(NAMES), col=1
    )
    figure.update_yaxes(hoverformat=EXACT, rangemode="tozero", nticks=4)
    figure.update_layout(uirevision="kept")
    return finish(figure, _describe(batches, heights), plot=whole, named=True)


def _describe(batches: Sequence[Progress], heights: Sequence[Sequence[float | None]]) -> str:
    if not batches:
        return "Lines over time, of micro-batches: none yet."
    lines = "; ".join(
        f"{name} {_describe_line(line)}" for name, line in zip(NAMES, heights, strict=True)
    )
    return f"Lines over time, of {len(batches):,} micro-batches: {lines}."


def _describe_line(line: Sequence[float | None]) -> str:
    """The range and the end of a figure; that of late rows has gaps where it is not known."""
    known = [one for one in line if one is not None]
    if not known:
        return "not known"
    last = "not known" if line[-1] is None else f"{line[-1]:,.6g}"
    return f"from {min(known):,.6g} to {max(known):,.6g}, last {last}"
