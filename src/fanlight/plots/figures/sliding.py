"""Sliding windows: one line per key over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import (
    add_line,
    describe_lines,
    set_time_axis,
    set_value_axis,
)
from fanlight.plots.figures.result import FRAMES, MATCHES, End, Result
from fanlight.plots.figures.style import finish

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def sliding(
    result: Any,
    value: str | None = None,
    *,
    time: str | None = None,
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    at: End = "end",
    empty: float | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """Draw the result of ``fl.over(...).agg(...)`` over time: one line per key, level or query.

    Rows with features, which ``attach`` returns, are drawn over the ``time`` of
    the rows.

    A line of more than ``points`` windows is thinned: it is divided into ``points / 2`` stretches,
    and the lowest and the highest window of each are drawn, so that every peak is seen; the figure
    says so. The line breaks where a value is null or no window is reported.

    Parameters
    ----------
    result
        What ``agg`` or ``attach`` returned: a batch DataFrame (it is collected), its
        Arrow table, its pandas or Polars DataFrame, or its rows as ``Row`` or dicts.
    value
        The column to draw; by default the first one after ``window`` that holds numbers, and is
        not ``level`` or ``query``.
    time
        The time of rows without windows. Of these name the ``value`` and the key's columns, too,
        ``by=()`` if there are none. A line breaks where no row came for ten times the usual step.
    by
        The key's columns; by default those before ``window``.
    keys
        Which keys are drawn, or how many; by default the 8 with the most windows, which the figure
        names.
    at
        At which end of its window a point is drawn. Only at the ``"end"`` are all rows of a window
        known.
    empty
        The value to draw where no window is reported, such as 0 for counts; by default the line
        breaks there.
    zone
        The time zone in which the times are written.
    naive
        The time zone of times that come without one, by default UTC. Those of ``toPandas()`` do,
        and are in the time zone of Spark's session; those of DataFrames and Arrow tables do not.
    points
        How many points a line has at most.
    title
        A heading.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If the result has no windows, holds frames or matches, or lacks a column of numbers; if two
        rows of one key are at the same time, which means that ``by`` lacks columns of the key.

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

    result = Result(result, by, zone, naive, time)
    refuse_frames_and_matches(result)
    column = result.choose_value(value)
    values = result.read_numbers(column)
    lines = result.split_into_lines(column, at, keys, once=time is None)
    figure = go.Figure()
    stepped = [
        add_line(figure, result, line, values, at=at, empty=empty, points=points, number=number)
        for number, line in enumerate(lines)
    ]
    set_time_axis(figure, result, time or (None if all(stepped) else f"{at} of window"))
    set_value_axis(figure, column)
    alt = describe_lines(
        result, lines, column, values, "Lines over time" if result.is_timed else "Lines"
    )
    return finish(
        figure, alt, result.notes, title=title, legend=bool(result.keys) or len(lines) > 1
    )


def refuse_frames_and_matches(result: Result) -> None:
    """Refuse frames and matches, which have no one value at each time."""
    if MATCHES in result.after_window:
        raise FanlightError(
            "these are matches, each in a window of its own: write plots.matches(matches); or "
            "plots.frames(matches), which draws their windows at the height of their level; or "
            "count the matches in sliding windows"
        )
    if FRAMES[0] in result.after_window:
        raise FanlightError("these are frames, each of its own length: write plots.frames(...)")
