"""Pictures of results, with plotly (``pip install 'fanlight[plot]'``)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

import numpy as np

from fanlight.drawn import FRAMES, MATCHES, Array, Result
from fanlight.spec import FanlightError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["COLOURS", "INK", "frames", "layout", "local_time", "sliding"]

COLOURS = ("#1f5f99", "#d1662a", "#3a8f6b", "#8a4f9e", "#b8902b", "#5b6f80", "#c04a63", "#2aa0b4")
INK = "#22303c"
_GRID = "#e6eaee"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_QUARTER = np.timedelta64(15, "m")  # clocks are changed on a quarter of an hour of UTC


def sliding(
    result: Any,
    value: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    at: Literal["start", "end"] = "end",
    empty: float | None = None,
    zone: str = "UTC",
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """A line a key, and a level or query: the result of ``fl.over(...).agg(...)`` over time.

    Long results stay light: of each of ``points / 2`` stretches of a line its lowest and its
    highest window are drawn, so that every peak is seen.

    Parameters
    ----------
    result
        What ``agg`` returned: a batch DataFrame (it is collected), its Arrow table, its pandas
        DataFrame, or its rows as ``Row`` or dicts. Times without a zone are taken as UTC.
    value
        The column to draw; by default the first one after ``window`` that holds numbers, and is
        not ``level`` or ``query``.
    by
        The key's columns; by default those before ``window``.
    at
        At which end of its window a point is drawn. At the ``"end"`` all of the window is known.
    empty
        Where no window is reported the line breaks; with a number it runs there, as 0 for counts.
    zone
        The time zone in which the times are written.
    points
        How many points a line has at most.
    title
        A heading.

    Raises
    ------
    FanlightError
        If the result has no windows of time, holds frames or matches, or lacks a column of numbers.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon = datetime(2024, 5, 1, 12)
    >>> rows = [
    ...     {"item": "a", "window": {"start": noon + k * timedelta(minutes=1),
    ...      "end": noon + k * timedelta(minutes=1) + timedelta(minutes=4)}, "count(1)": k}
    ...     for k in range(60)
    ... ]
    >>> figure = plots.sliding(rows, "count(1)", zone="Europe/Vienna")
    >>> [(line.name, len(line.x)) for line in figure.data]
    [('a', 60)]

    """
    import plotly.graph_objects as go

    found = Result(result, by)
    _check_sliding(found)
    column = found.value(value)
    values, times = found.numbers(column), found.instants(at)
    lines = found.lines(column, at)
    figure = go.Figure()
    for number, line in enumerate(lines):
        x, heights = _with_gaps(times[line.rows], values[line.rows], line.apart, empty)
        x, heights = _thinned(x, heights, points)
        colour = COLOURS[number % len(COLOURS)]
        figure.add_scatter(
            x=local_time(x, zone),
            y=heights.astype(np.float32),
            mode="lines+markers" if _any_alone(heights) else "lines",
            name=line.name,
            line={"width": 1.4, "color": colour},
            marker={"size": 3, "color": colour},
        )
    figure.update_layout(layout(title=title), showlegend=bool(found.keys) or len(lines) > 1)
    figure.update_yaxes(title=column)
    return figure


def frames(
    result: Any,
    value: str | None = None,
    *,
    low: str | None = None,
    high: str | None = None,
    by: str | Sequence[str] | None = None,
    zone: str = "UTC",
    most: int = 2_000,
    title: str | None = None,
) -> Figure:
    """A signal with its frames, drawn from the frames: as light for ten million rows as for ten.

    Each frame is a box from its start to its end and from its least to its greatest value, with a
    line at ``value``. Of very many frames of a key those with the lowest and the highest values of
    each stretch are drawn, and the rest left out.

    Parameters
    ----------
    result
        What ``agg`` returned over frames, or ``detect``: a batch DataFrame (it is collected), its
        Arrow table, its pandas DataFrame, or its rows as ``Row`` or dicts. Times without a zone
        are taken as UTC.
    value
        The column that says how high a frame's line is, such as its mean; by default the first one
        of numbers after ``closed``, or the ``level`` of a match.
    low, high
        The columns that say how far a frame's box reaches, such as ``min(v)`` and ``max(v)``;
        without them frames are lines.
    by
        The key's columns; by default those before ``window``.
    zone
        The time zone in which the times are written.
    most
        How many frames of a key are drawn at most.
    title
        A heading.

    Raises
    ------
    FanlightError
        If the result has no windows of time, or lacks a column, or only one of ``low`` and ``high``
        is given.

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
    [('none', 360), ('lines', 180)]

    """
    import plotly.graph_objects as go

    if (low is None) != (high is None):
        raise FanlightError("a box has two ends: give both low and high, or neither")
    found = Result(result, by)
    others = FRAMES if len(found.after) > len(FRAMES) else FRAMES[:1]
    column = found.value(value, *others)
    starts, ends = found.instants("start"), found.instants("end")
    heights = [found.numbers(name) for name in (column, low or column, high or column)]
    lines = found.lines(column)
    figure = go.Figure()
    for number, line in enumerate(lines):
        kept = line.rows[_extremes(heights[1][line.rows], heights[2][line.rows], most)]
        first, last = (local_time(times[kept], zone) for times in (starts, ends))
        middle, bottom, top = (values[kept] for values in heights)
        colour = COLOURS[number % len(COLOURS)]
        gap = np.full(len(kept), np.nan)
        if low is not None:
            figure.add_scatter(
                x=_in_turn(first, last, last, first, first, first),
                y=_in_turn(bottom, bottom, top, top, bottom, gap),
                mode="none", fill="toself", fillcolor=_pale(colour), hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=_in_turn(first, last, last), y=_in_turn(middle, middle, gap), mode="lines",
            name=line.name, line={"width": 1.6, "color": colour},
        )  # fmt: skip
    figure.update_layout(layout(title=title), showlegend=bool(found.keys) or len(lines) > 1)
    figure.update_yaxes(title=column)
    return figure


def _in_turn(*columns: Array) -> Array:
    """The first of each, then the second of each, and so on."""
    turned: Array = np.stack(columns, axis=1).reshape(-1)
    return turned


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"


def _extremes(low: Array, high: Array, most: int) -> Array:
    """Places of at most so many: the lowest and the highest of each stretch."""
    if most < 2:
        raise FanlightError(f"most={most} is too few to draw: write 2 or more")
    if len(low) <= most:
        return np.arange(len(low))
    edges = np.linspace(0, len(low), most // 2 + 1).astype(int)
    least, greatest = np.nan_to_num(low, nan=np.inf), np.nan_to_num(high, nan=-np.inf)
    stretches = list(pairwise(edges))
    lowest = [begin + int(least[begin:end].argmin()) for begin, end in stretches]
    highest = [begin + int(greatest[begin:end].argmax()) for begin, end in stretches]
    return np.unique([*lowest, *highest])


def layout(*, title: str | None = None, height: int = 380) -> dict[str, Any]:
    """How fanlight's figures look, for ``figure.update_layout``.

    >>> layout(height=200)["height"]
    200
    """
    axis = {"gridcolor": _GRID, "zeroline": False, "linecolor": "#c3ccd4", "ticks": "outside",
            "tickcolor": "#c3ccd4", "automargin": True}  # fmt: skip
    return {
        "template": "none",
        "font": {"family": _FONT, "size": 13, "color": INK},
        "title": {"text": title, "x": 0, "xref": "paper", "font": {"size": 16}} if title else None,
        "height": height,
        "margin": {"l": 60, "r": 20, "t": 60 if title else 40, "b": 45},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": list(COLOURS),
        "xaxis": axis,
        "yaxis": axis,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"font": {"family": _FONT}},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "#b3bec8",
            "activecolor": COLOURS[0],
        },
    }


def local_time(times: Array, zone: str) -> Array:
    """Instants in UTC as the clock of a time zone shows them, daylight saving and all.

    >>> import numpy as np
    >>> local_time(np.array(["2024-05-01T12:00"], "datetime64[us]"), "Europe/Vienna")
    array(['2024-05-01T14:00:00.000000'], dtype='datetime64[us]')
    """
    times = times.astype("datetime64[us]")
    if zone == "UTC":
        return times
    quarters, where = np.unique(times - (times - times.astype("datetime64[D]")) % _QUARTER,
                                return_inverse=True)  # fmt: skip
    there = ZoneInfo(zone)
    ahead = [one.item().replace(tzinfo=UTC).astimezone(there).utcoffset() for one in quarters]
    local: Array = times + np.array(ahead, dtype="timedelta64[us]")[where]
    return local


def _check_sliding(found: Result) -> None:
    """Refuse what has no value over time."""
    if MATCHES in found.after:
        raise FanlightError(
            "these are matches, each in a window of its own: write plots.frames(matches), which "
            "draws the windows by their level, or count the matches in sliding windows"
        )
    if FRAMES[0] in found.after:
        raise FanlightError("these are frames, of any length: write plots.frames(...)")


def _any_alone(heights: Array) -> bool:
    """Whether a point has no neighbour that a line could lead to."""
    there = np.pad(~np.isnan(heights), 1)
    return bool((there[1:-1] & ~there[:-2] & ~there[2:]).any())


def _with_gaps(
    times: Array, values: Array, slide: np.timedelta64, empty: float | None
) -> tuple[Array, Array]:
    """A point after each gap's beginning and before its end, so that the line breaks or runs."""
    gaps = np.flatnonzero(np.diff(times) > slide)
    if not len(gaps):
        return times, values
    filler = np.nan if empty is None else empty
    between = np.concatenate([times[gaps] + slide, times[gaps + 1] - slide])
    order = np.argsort(np.concatenate([times, between]), kind="stable")
    fill = np.full(len(between), filler)
    return np.concatenate([times, between])[order], np.concatenate([values, fill])[order]


def _thinned(times: Array, values: Array, points: int) -> tuple[Array, Array]:
    """The lowest and the highest point of each stretch of a line."""
    if points < 2:
        raise FanlightError(f"points={points} is too few for a line: write 2 or more")
    if len(times) <= points:
        return times, values
    edges = np.linspace(0, len(times), points // 2 + 1).astype(int)
    first, last = edges[:-1], edges[1:]
    low = np.where(np.isnan(values), np.inf, values)
    high = np.where(np.isnan(values), -np.inf, values)
    kept = []
    for begin, end in zip(first, last, strict=True):
        kept += sorted(
            {begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())}
        )
    return times[kept], values[kept]
