"""Trend lines of nested horizons that end at one instant, over their signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import (
    EXACT,
    make_panels,
    set_time_axis,
    set_value_axis,
    spell_duration,
)
from fanlight.plots.figures.levels import heights_at_ends
from fanlight.plots.figures.result import FIT, Line, Result
from fanlight.plots.figures.signal import add_signal, read_signal
from fanlight.plots.figures.style import colour_of, escape_text, finish

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def trends(
    result: Any,
    *,
    signal: Any = None,
    time: str | None = None,
    column: str | None = None,
    by: str | Sequence[str] | None = None,
    key: Any = None,
    at: Any = None,
    zone: str = "UTC",
    naive: str | None = None,
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """Draw each level's trend line up to one instant, and below them how far back each level goes.

    Parameters
    ----------
    result
        What ``fit`` returned, in any form that :func:`sliding` takes.
    signal, time, column
        The rows that the lines were fitted to, drawn thin behind them: their time and their number.
    by
        The key's columns; by default those before ``window``.
    key
        The key to draw, one only; by default the one with the most windows, which the figure names.
    at
        The instant, a ``datetime`` or ``datetime64`` in UTC (a number for a numeric time): of each
        level the last window that ends by then is drawn. By default the latest instant at which
        all levels have a line.
    zone, naive, points, title
        As for :func:`sliding`.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If the result has no ``slope``, ``intercept`` and ``r2``, or no window ends by ``at``.

    See Also
    --------
    Patroumpas and Sellis, *Multi-granular Time-based Sliding Windows over Data Streams*, Figure 3.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon = datetime(2024, 5, 1, 12)
    >>> rows = [
    ...     {"window": {"start": noon - timedelta(minutes=length), "end": noon}, "level": level,
    ...      "slope": 0.01 * length, "intercept": 1.0, "r2": 0.9}
    ...     for level, length in enumerate([4, 12, 24])
    ... ]
    >>> figure = plots.trends(rows)
    >>> [round(float(line.y[1]), 6) for line in figure.data[:3]]
    [10.6, 87.4, 346.6]

    """
    result = Result(result, by, zone, naive)
    result.require_columns(FIT, "give what windows.fit('…') returned, or write plots.levels(…)")
    rows = None if signal is None else read_signal(signal, time, column, result)
    keys = key if key is None or isinstance(key, str) else [key]
    lines = result.split_into_lines(FIT[0], keys=1 if keys is None else keys)
    chosen = _select_reports(result, lines, at)
    ends = result.read_bounds("end")
    starts = result.read_bounds("start")
    order = sorted(chosen, key=lambda one: ends[one[1]] - starts[one[1]])
    first, last = heights_at_ends(result)
    slopes, r2 = result.read_numbers("slope"), result.read_numbers("r2")
    figure, tall = make_panels([260, 30 + 26 * len(order)])
    low = min(starts[row] for _, row in order)
    high = max(ends[row] for _, row in order)
    if rows is not None:
        own = rows.select_key(lines[0].key, (low, high))
        add_signal(figure, result, rows, own, points, row=1, col=1)
    unit = " a second" if result.is_timed else " a unit of time"
    for number, (line, row) in enumerate(order):
        x = result.to_axis(np.array([starts[row], ends[row]]))
        length = spell_duration(ends[row] - starts[row])
        name = f"{line.label.split(', ')[0] or 'line'}: {length}"
        more = f"slope {slopes[row]:.6g}{unit}, r² {r2[row]:.3f}"
        figure.add_scatter(
            x=x, y=np.array([first[row], last[row]]), mode="lines", name=escape_text(name),
            line={"width": 2.2, "color": colour_of(number)}, row=1, col=1,
            hovertemplate=f"%{{y:{EXACT}}}<br>{more}<extra>{escape_text(name)}</extra>",
        )  # fmt: skip
    for number, (_, row) in enumerate(order):
        x = result.to_axis(np.array([starts[row], ends[row]]))
        figure.add_scatter(
            x=x, y=[number, number], mode="lines+markers", showlegend=False, hoverinfo="skip",
            line={"width": 1.6, "color": colour_of(number)}, row=2, col=1,
            marker={"symbol": "line-ns", "size": 11,
                    "line": {"width": 1.6, "color": colour_of(number)}},
        )  # fmt: skip
    set_time_axis(figure, result, row=2, col=1)
    set_value_axis(figure, "value" if rows is None else rows.name, row=1, col=1)
    figure.update_yaxes(
        row=2, col=1, range=[len(order) - 0.4, -0.6], showgrid=False, ticks="",
        tickvals=list(range(len(order))),
        ticktext=[escape_text(line.label.split(", ")[0]) for line, _ in order],
    )  # fmt: skip
    alt = "Trend lines up to one instant: " + "; ".join(
        f"{line.label.split(', ')[0]}, {spell_duration(ends[row] - starts[row])}, slope "
        f"{slopes[row]:.6g}{unit}" for line, row in order
    ) + "."  # fmt: skip
    if lines[0].key:
        alt = f"{lines[0].key}. {alt}"
        figure.layout.yaxis.title.text += f", {escape_text(lines[0].key)}"
    return finish(figure, alt, result.notes, title=title, plot=tall, legend=True)


def _select_reports(result: Result, lines: Sequence[Line], at: Any) -> list[tuple[Line, int]]:
    """The last window of each level that has a trend line and ends by ``at``."""
    ends, slope = result.read_bounds("end"), result.read_numbers("slope")
    fitted = [(line, line.rows[~np.isnan(slope[line.rows])]) for line in lines]
    fitted = [(line, rows) for line, rows in fitted if len(rows)]
    if not fitted:
        raise FanlightError("no window has a trend line: fewer than two instants have a value")
    if at is None:
        limit = min(ends[rows].max() for _, rows in fitted)
    else:
        limit = _read_instant(at, timed=result.is_timed)
    chosen = []
    for line, rows in fitted:
        before = rows[ends[rows] <= limit]
        if len(before):
            chosen.append((line, int(before[ends[before].argmax()])))
    if not chosen:
        raise FanlightError(
            f"at={at!r} is before the end of the first window; write a time from "
            f"{min(ends[rows].min() for _, rows in fitted)} on"
        )
    return chosen


def _read_instant(at: Any, *, timed: bool) -> Any:
    try:
        return np.datetime64(_to_naive_utc(at), "us") if timed else float(at)
    except (TypeError, ValueError, OverflowError) as error:
        raise FanlightError(
            f"at={at!r} is no {'time' if timed else 'number'}; write for example "
            f"at={'datetime(2024, 5, 1, 12)' if timed else '10'}"
        ) from error


def _to_naive_utc(at: Any) -> Any:
    """A time in UTC, without its time zone, as numpy wants it."""
    from datetime import UTC, datetime

    if isinstance(at, datetime) and at.tzinfo is not None:
        return at.astimezone(UTC).replace(tzinfo=None)
    return at
