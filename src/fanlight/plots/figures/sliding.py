"""Windows that slide: a line a key over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import add_line, describe_lines, set_time_axis, set_value_axis
from fanlight.plots.figures.result import FRAMES, MATCHES, End, Result
from fanlight.plots.figures.style import finish

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def sliding(
    result: Any,
    value: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    at: End = "end",
    empty: float | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """A line a key, and a level or query: the result of ``fl.over(...).agg(...)`` over time.

    Long results stay light: of each of ``points / 2`` stretches of a line its lowest and its
    highest window are drawn, so that every peak is seen; the figure says so. Where a value is null,
    or no window is reported, the line breaks.

    Parameters
    ----------
    result
        What ``agg`` returned: a batch DataFrame (it is collected), its Arrow table, its pandas or
        Polars DataFrame, or its rows as ``Row`` or dicts.
    value
        The column to draw; by default the first one after ``window`` that holds numbers, and is
        not ``level`` or ``query``.
    by
        The key's columns; by default those before ``window``.
    keys
        Which keys are drawn, or how many; by default 8, those with the most windows. The figure
        names them.
    at
        At which end of its window a point is drawn. At the ``"end"`` all of the window is known.
    empty
        Where no window is reported the line breaks; with a number it runs there, as 0 for counts.
    zone
        The time zone in which the times are written.
    naive
        The time zone of times that have none, such as those of ``toPandas()``: that of Spark's
        session; by default UTC. Those of Spark's DataFrames and their Arrow tables have one.
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
        rows of a key are at one time, so that columns of the key are missing in ``by``.

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

    found = Result(result, by, zone, naive)
    refuse_frames_and_matches(found)
    column = found.choose_value(value)
    values = found.read_numbers(column)
    lines = found.split_into_lines(column, at, keys, once=True)
    figure = go.Figure()
    for number, line in enumerate(lines):
        add_line(figure, found, line, values, at=at, empty=empty, points=points, number=number)
    set_time_axis(figure, found, f"{at} of window")
    set_value_axis(figure, column)
    said = describe_lines(
        found, lines, column, values, "Lines over time" if found.is_timed else "Lines"
    )
    return finish(figure, said, found.notes, title=title, legend=bool(found.keys) or len(lines) > 1)


def refuse_frames_and_matches(found: Result) -> None:
    """Refuse what has no value over time."""
    if MATCHES in found.after_window:
        raise FanlightError(
            "these are matches, each in a window of its own: write plots.matches(matches), or "
            "plots.frames(matches), which draws the windows by their level, or count the matches "
            "in sliding windows"
        )
    if FRAMES[0] in found.after_window:
        raise FanlightError("these are frames, of any length: write plots.frames(...)")
