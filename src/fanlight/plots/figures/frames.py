"""Frames and sessions: windows that the data cuts, drawn over the signal they were cut from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import describe_lines, set_time_axis, set_value_axis
from fanlight.plots.figures.result import FRAMES, MATCHES, Array, Result
from fanlight.plots.figures.signal import add_signal, read_signal
from fanlight.plots.figures.style import colour_of, escape_text, finish, with_opacity
from fanlight.plots.figures.thinning import interleave, separate_lines, thin_boxes

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_HEIGHTS = ("level", "rows")  # columns of numbers that matches and frames always have
TINTS = (0.3, 0.1)  # alternating, or frames that touch would look like one
OPEN = (0.07, 0.03)  # of frames that are still open
EDGED = 100  # frames; with more, edges are thinner, or they would hide the tints


def frames(
    result: Any,
    value: str | None = None,
    *,
    low: str | None = None,
    high: str | None = None,
    signal: Any = None,
    time: str | None = None,
    column: str | None = None,
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    most: int = 2_000,
    title: str | None = None,
) -> Figure:
    """Draw frames, with the signal if given: as fast for ten million rows as for ten.

    Each frame is a box from its start to its end and from its lowest to its highest value, with a
    line at ``value``; without ``low`` and ``high`` it is a bar from 0 to ``value``. With
    ``signal``, its rows are drawn behind them, and such frames are bands as high as the signal.
    Boxes and bands alternate between two tints, so that neighbours can be told apart. If a key has
    more than ``most`` frames, only those with the lowest and highest values of each stretch are
    drawn, and the figure says so.

    Parameters
    ----------
    result
        What ``agg`` returned over frames or sessions, ``frames``, or ``detect``: a batch DataFrame
        (it is collected), its Arrow table, its pandas or Polars DataFrame, or its rows as ``Row``
        or dicts.
    value
        The column that says how high a frame's line is, such as its mean; by default the first one
        of numbers after ``closed``, or the ``level`` of a match.
    low, high
        The columns that say how far a frame's box reaches, such as ``min(v)`` and ``max(v)``;
        without them frames are bars, and matches lines.
    signal
        The rows that were framed: anything that ``result`` may be. They have the same keys.
    time, column
        The signal's time, and the number that is drawn of it: by default its first one.
    by
        The key's columns; by default those before ``window``.
    keys
        Which keys are drawn, or how many; by default the 8 with the most frames.
    zone
        The time zone in which the times are written.
    naive
        The time zone of times that have none; by default UTC. See :func:`sliding`.
    most
        How many frames of a key are drawn at most, and points of the signal.
    title
        A heading.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If the result has no windows, or lacks a column, or only one of ``low`` and ``high`` is
        given, or the signal has other keys or no time.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> rows = [
    ...     {"window": {"start": noon + k * minute, "end": noon + (k + 1) * minute},
    ...      "frame_id": k, "rows": 9, "closed": True, "avg(v)": k % 3, "min(v)": 0, "max(v)": 4}
    ...     for k in range(60)
    ... ]
    >>> figure = plots.frames(rows, "avg(v)", low="min(v)", high="max(v)")
    >>> [(trace.mode, len(trace.x)) for trace in figure.data]
    [('lines', 180), ('lines', 180), ('lines', 180)]

    """
    import plotly.graph_objects as go

    if (low is None) != (high is None):
        raise FanlightError("a box has two ends: give both low and high, or neither")
    result = Result(result, by, zone, naive)
    name = result.choose_value(value, *FRAMES, otherwise=FRAMES[1])
    rows = None if signal is None else read_signal(signal, time, column, result)
    bands = rows is not None and low is None
    alone = bands and value is None and name in _HEIGHTS  # bands, and no line at a value
    starts, ends = result.read_bounds("start"), result.read_bounds("end")
    heights = [result.read_numbers(one) for one in (name, low or name, high or name)]
    lowest, highest = heights[1:]
    if rows is not None and bands:
        shown = rows.values if alone else np.append(rows.values, heights[0])
        heights[1:] = [np.full(len(starts), edge) for edge in _extent_of(shown)]
    bars = rows is None and low is None and MATCHES not in result.after_window
    if bars:
        heights[1] = np.zeros(len(starts))
    lines = result.split_into_lines(name, keys=keys)
    figure = go.Figure()
    for number, line in enumerate(lines):
        if rows is not None:
            of = f" of {line.key}" if line.key else ""
            add_signal(
                figure, result, rows, rows.select_key(line.key), most, of, hoverinfo="skip",
                legendgroup=f"signal {line.key}",
            )  # fmt: skip
        kept = line.rows[thin_boxes(lowest[line.rows], highest[line.rows], most)]
        result.note_thinned(line.name, "frames", kept, line.rows)
        first, last = (result.to_axis(times[kept]) for times in (starts, ends))
        middle, bottom, top = (values[kept] for values in heights)
        opened = result.opened[kept]
        shade, own = colour_of(number), "frames" if alone and not line.key else line.name
        if low is not None or bands or bars:
            boxes = [first, last, bottom, top]
            _add_boxes(figure, [one[~opened] for one in boxes], shade, own, shown=alone)
            _add_boxes(figure, [one[opened] for one in boxes], shade, own, opened=True)
        for which, dash in ((~opened, None), (opened, "dot")):
            if not alone and (dash is None or opened.any()):
                sides = (first[which], last[which], middle[which], middle[which])
                figure.add_scatter(
                    **separate_lines(*sides), mode="lines", legendgroup=f"frames {own}",
                    name=escape_text(f"{own}, still open" if dash else own),
                    line={"width": 2.2, "color": shade, "dash": dash}, showlegend=dash is None,
                )  # fmt: skip
    set_time_axis(figure, result)
    set_value_axis(figure, rows.name if rows is not None and alone else name)
    what = "Matches" if MATCHES in result.after_window else "Frames"
    alt = describe_lines(result, lines, name, result.read_numbers(name), what)
    legend = bool(result.keys) or len(lines) > 1 or rows is not None
    return finish(figure, alt, result.notes, title=title, legend=legend)


def _add_boxes(
    figure: Figure,
    sides: Sequence[Array],
    shade: str,
    name: str,
    *,
    shown: bool = False,
    opened: bool = False,
) -> None:
    """Add the boxes of a key's frames in alternating tints; ``shown``: in the legend, too.

    Those that are still ``opened`` are fainter, with dotted edges.
    """
    first = sides[0]
    edge = {"width": 1 if len(first) <= EDGED else 0.3, "color": with_opacity(shade, 0.75),
            "dash": "dot" if opened else None}  # fmt: skip
    for turn, tint in enumerate(() if opened and not len(first) else OPEN if opened else TINTS):
        begin, end, low, high = (one[turn::2] for one in sides)
        gap = np.full(len(begin), np.nan)
        figure.add_scatter(
            x=interleave(begin, begin, end, end, begin, begin),
            y=interleave(low, high, high, low, low, gap),
            mode="lines", line=edge, fill="toself", fillcolor=with_opacity(shade, tint),
            hoverinfo="skip", showlegend=shown and not turn, legendgroup=f"frames {name}",
            name=escape_text(f"{name}, still open" if opened else name),
        )  # fmt: skip


def _extent_of(values: Array) -> tuple[float, float]:
    """The lowest and the highest value, for bands behind a signal; never the same number."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    return low, high if high > low else low + 1
