"""Levels, and lists of windows: one layer for each, the shortest windows on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import (
    add_line,
    describe_lines,
    make_panels,
    set_time_axis,
    set_value_axis,
    spell_duration,
)
from fanlight.plots.figures.result import FIT, Array, End, Line, Result
from fanlight.plots.figures.sliding import refuse_frames_and_matches
from fanlight.plots.figures.style import colour_of, escape_text, finish
from fanlight.plots.figures.thinning import separate_lines

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LAYERS = 8
TALL = 110
TREND = "#b07d12"


def levels(
    result: Any,
    value: str | None = None,
    *,
    fit: Any = None,
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    at: End = "end",
    empty: float | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """Draw each level or query as a layer, the finest on top: the same rows at every horizon.

    All layers share one axis of time; a grey bar at the end of each shows how long its last window
    is. With ``fit``, each layer also has the trend lines of windows that lie side by side.

    Parameters
    ----------
    result
        What ``agg`` returned over levels or a list of windows, in any form that :func:`sliding`
        takes.
    value
        The column to draw; by default the first one of numbers after ``level`` or ``query``.
    fit
        What ``fit`` returned over the same windows, in any of these forms. It should be of the
        column that is drawn: trend lines of a number over that number's mean, for example.
    by, keys, at, empty, zone, naive, points, title
        As for :func:`sliding`.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If the result has no column ``level`` or ``query``; and as for :func:`sliding`.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> rows = [
    ...     {"window": {"start": noon + (k - length) * minute, "end": noon + k * minute},
    ...      "level": level, "avg(v)": k}
    ...     for level, length in enumerate([1, 5]) for k in range(0, 30, length)
    ... ]
    >>> figure = plots.levels(rows)
    >>> [(line.name, line.yaxis, len(line.x)) for line in figure.data if line.mode == "lines"]
    [('level 0', 'y', 30), ('level 1', 'y2', 6)]

    """
    result = Result(result, by, zone, naive)
    refuse_frames_and_matches(result)
    column = result.choose_value(value)
    if result.label is None or column == result.label:
        raise FanlightError(
            "there is no column 'level' or 'query' besides the numbers: write plots.sliding(...), "
            "or give what fl.over(...) with levels or a list of windows returned"
        )
    values = result.read_numbers(column)
    lines = result.split_into_lines(column, at, keys, once=True)
    layers = list(dict.fromkeys(line.label for line in sorted(lines, key=_by_length(result))))
    if len(layers) > LAYERS:
        result.notes.append(
            f"{LAYERS} of {len(layers)} horizons are drawn, the shortest: keep those you want "
            f"with where('{result.label} in (…)')"
        )
        layers = layers[:LAYERS]
    lines = [line for line in lines if line.label in layers]
    shades = {key: number for number, key in enumerate(dict.fromkeys(one.key for one in lines))}
    names = [_name_layer(result, label, lines) for label in layers]
    figure, tall = make_panels([TALL] * len(layers), names)
    seen: set[str] = set()
    for line in lines:
        row = layers.index(line.label) + 1
        add_line(
            figure, result, line, values, at=at, empty=empty, points=points,
            number=shades[line.key], row=row, col=1,
            legendgroup=line.key, showlegend=bool(line.key) and line.key not in seen,
        )  # fmt: skip
        if line.key:
            figure.data[-1].name = escape_text(line.key)
        seen.add(line.key)
    for row, label in enumerate(layers, 1):
        _add_horizon_bar(figure, result, [line for line in lines if line.label == label], row)
    result.notes.append("the grey bars show how far the last window of each level reaches back")
    if fit is not None:
        _add_trend_lines(figure, result, fit, by, layers, shades)
    set_time_axis(figure, result, f"{at} of window", row=len(layers), col=1)
    set_value_axis(figure, "")
    figure.update_yaxes(title_text=None, nticks=4)
    figure.layout.annotations[0].text += f" · {escape_text(column)}" if layers else ""
    alt = describe_lines(result, lines, column, values, f"{len(layers)} layers, {', '.join(names)}")
    return finish(
        figure,
        alt,
        result.notes,
        title=title,
        plot=tall,
        named=True,
        legend=bool(result.keys) or fit is not None,
    )


def _by_length(result: Result) -> Any:
    lengths = result.read_bounds("end") - result.read_bounds("start")
    return lambda line: lengths[line.rows].max() if len(line.rows) else lengths.min()


def _name_layer(result: Result, label: str, lines: Sequence[Line]) -> str:
    rows = next(line.rows for line in lines if line.label == label)
    length = (result.read_bounds("end") - result.read_bounds("start"))[rows].max()
    return f"{label.split(', ', maxsplit=1)[0]}: {spell_duration(length)}"


def _add_horizon_bar(figure: Figure, result: Result, lines: Sequence[Line], row: int) -> None:
    """Add a bar at the bottom of a layer, as long as its last window."""
    last = max((line.rows[-1] for line in lines), key=lambda one: result.read_bounds("end")[one])
    ends = [result.to_axis(result.read_bounds(end)[[last]])[0] for end in ("start", "end")]
    axis = "y domain" if row == 1 else f"y{row} domain"
    figure.add_shape(
        type="line", x0=_to_plotly(ends[0]), x1=_to_plotly(ends[1]), y0=0.02, y1=0.02, yref=axis,
        xref="x" if row == 1 else f"x{row}", line={"width": 4, "color": "#8795a1"},
        name="last window",
    )  # fmt: skip


def _to_plotly(place: Any) -> Any:
    return str(place) if isinstance(place, np.datetime64) else float(place)


def _add_trend_lines(
    figure: Figure,
    result: Result,
    fit: Any,
    by: Any,
    layers: Sequence[str],
    shades: dict[str, int],
) -> None:
    """Add the trend lines of side-by-side windows, back from each level and key's last one."""
    trends = Result(fit, by, result.zone, result.naive)
    trends.require_columns(FIT, "give what windows.fit('…') returned", "fit= has")
    starts, ends = trends.read_bounds("start"), trends.read_bounds("end")
    first, last = heights_at_ends(trends)
    drawn = False
    for line in trends.split_into_lines(FIT[0], keys=len(trends.key_texts(trends.keys)) or 1):
        if line.label not in layers or line.key not in shades:
            continue
        kept = select_side_by_side(starts, ends, line.rows)
        begun, over = (trends.to_axis(times[kept]) for times in (starts, ends))
        figure.add_scatter(
            **separate_lines(begun, over, first[kept], last[kept]),
            mode="lines", name="trend lines", legendgroup="trend lines",
            line={"width": 2, "color": TREND} if len(shades) == 1
            else {"width": 2, "color": colour_of(shades[line.key]), "dash": "dash"},
            showlegend=not drawn, row=layers.index(line.label) + 1, col=1, hoverinfo="skip",
        )  # fmt: skip
        drawn = True
    result.notes.append("trend lines are those of windows that lie side by side")


def heights_at_ends(trends: Result) -> tuple[Array, Array]:
    """The values of trend lines at the start and at the end of their windows."""
    slope, first = trends.read_numbers("slope"), trends.read_numbers("intercept")
    lengths = trends.read_bounds("end") - trends.read_bounds("start")
    units = lengths / np.timedelta64(1, "s") if trends.is_timed else lengths
    return first, first + slope * units


def select_side_by_side(starts: Array, ends: Array, rows: Array) -> Array:
    """The numbers of windows that do not overlap, chosen from the last one backwards."""
    kept: list[int] = []
    for row in rows[::-1]:
        if not kept or ends[row] <= starts[kept[-1]]:
            kept.append(int(row))
    return np.array(kept[::-1], dtype=int)
