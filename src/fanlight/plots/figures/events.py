"""Events that last, as bars under what their windows counted."""

from __future__ import annotations

import heapq
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
)
from fanlight.plots.figures.given import check_count, check_pair
from fanlight.plots.figures.result import Array, End, Result, TimedTable
from fanlight.plots.figures.sliding import refuse_frames_and_matches
from fanlight.plots.figures.style import colour_of, finish
from fanlight.plots.figures.thinning import separate_lines

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def events(
    result: Any,
    value: str | None = None,
    *,
    events: Any,
    time: tuple[str, str],
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    at: End = "end",
    empty: float | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    points: int = 2_000,
    most: int = 400,
    title: str | None = None,
) -> Figure:
    """Draw what windows counted, and below it the events, each a bar from its start to its stop.

    Parameters
    ----------
    result
        What ``agg`` returned over events that last, in any form that :func:`sliding` takes.
    value
        The column to draw; by default the first one of numbers after ``window``.
    events
        The rows that were counted, in any of these forms.
    time
        Their start and stop, as they were given to :func:`fanlight.over`.
    by, keys, at, empty, zone, naive, points, title
        As for :func:`sliding`. Events of other keys are not drawn.
    most
        How many events are drawn at most. Of more, this many are drawn, evenly spread in order of
        their starts, and the figure says so.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        As for :func:`sliding`; and if the events lack a column, or their times are not of the
        windows' kind.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> calls = [{"a": noon + k * minute, "b": noon + 3 * k * minute} for k in range(9)]
    >>> counts = [
    ...     {"window": {"start": noon + k * minute, "end": noon + (k + 1) * minute}, "n": sum(
    ...         one["a"] < noon + (k + 1) * minute and one["b"] > noon + k * minute
    ...         for one in calls)}
    ...     for k in range(20)
    ... ]
    >>> figure = plots.events(counts, events=calls, time=("a", "b"))
    >>> [len(trace.x) for trace in figure.data]
    [20, 27]

    """
    most = check_count("most", most, 1, "events")
    result = Result(result, by, zone, naive)
    refuse_frames_and_matches(result)
    column = result.choose_value(value)
    values = result.read_numbers(column)
    lines = result.split_into_lines(column, at, keys, once=True)
    starts, stops, texts = _read_events(events, time, result)
    shades = {key: number for number, key in enumerate(dict.fromkeys(one.key for one in lines))}
    rows = _select_events(result, starts, stops, texts, shades, most)
    lanes = _assign_lanes(starts[rows], stops[rows])
    deep = int(lanes.max()) + 1 if len(lanes) else 1
    figure, tall = make_panels([220, min(60 + 7 * deep, 260)], [column, "events"])
    for number, line in enumerate(lines):
        add_line(
            figure, result, line, values, at=at, empty=empty, points=points,
            number=shades[line.key] if result.label is None else number, row=1, col=1,
        )  # fmt: skip
    wide = max(1.0, min(5.0, 200 / deep))
    for key, number in shades.items():
        own = rows[texts[rows] == key]
        heights = lanes[texts[rows] == key].astype(float)
        first, last = result.to_axis(starts[own]), result.to_axis(stops[own])
        figure.add_scatter(
            **separate_lines(first, last, heights, heights), mode="lines",
            line={"width": wide, "color": colour_of(number)}, showlegend=False, hoverinfo="x",
            opacity=0.75, row=2, col=1, name="events",
        )  # fmt: skip
    set_time_axis(figure, result, row=2, col=1)
    set_value_axis(figure, "", row=1, col=1)
    figure.update_yaxes(title_text=None, row=1, col=1)
    figure.update_yaxes(
        showticklabels=False, ticks="", showgrid=False, range=[deep - 0.3, -0.7], row=2, col=1
    )
    alt = describe_lines(result, lines, column, values, f"Lines over {len(rows):,} events as bars")
    legend = bool(result.keys) or len(lines) > 1
    return finish(figure, alt, result.notes, title=title, plot=tall, named=True, legend=legend)


def _read_events(given: Any, time: Any, result: Result) -> tuple[Array, Array, Array]:
    """Starts, stops and keys of the events, without those that lack a start or a stop."""
    ends = check_pair("time", time)
    source = TimedTable(given, result.zone, result.naive)
    source.check_columns(ends)
    keys = source.key_texts(result.keys, "the events have")
    starts, stops = (source.read_instants(source.table[name]) for name in ends)
    if any((one.dtype.kind == "M") != result.is_timed for one in (starts, stops)):
        raise FanlightError(
            f"time={ends!r} does not go with the windows, which are of "
            f"{'times' if result.is_timed else 'numbers'}: name the columns that you gave to "
            "fl.over"
        )
    empty = np.isnat if result.is_timed else np.isnan
    known = ~(empty(starts) | empty(stops))
    known[known] &= stops[known] >= starts[known]
    if not known.all():
        result.notes.append(
            f"{int((~known).sum()):,} events without a start or a stop are left out"
        )
    result.notes.extend(source.notes)
    return starts[known], stops[known], keys[known]


def _select_events(
    result: Result, starts: Array, stops: Array, texts: Array, shades: Any, most: int
) -> Array:
    """The numbers of the events to draw: in some window, of a drawn key, ``most`` at most."""
    first, last = result.read_bounds("start").min(), result.read_bounds("end").max()
    inside = (starts < last) & ((stops > first) | (starts >= first)) & np.isin(texts, list(shades))
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(starts[rows], kind="stable")]
    if len(rows) > most:
        result.notes.append(
            f"{most:,} of {len(rows):,} events are drawn, evenly spread in order of their starts; "
            "the line counts all of them"
        )
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    return rows


def _assign_lanes(starts: Array, stops: Array) -> Array:
    """The lowest free lane for each event, so that none overlap; events come by their starts."""
    free: list[int] = []
    busy: list[tuple[Any, int]] = []
    lanes = np.zeros(len(starts), dtype=int)
    used = 0
    for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = used, used + 1
        lanes[place] = lane
        heapq.heappush(busy, (stop, lane))
    return lanes
