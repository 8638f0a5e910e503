"""Events that last, as bars under what their windows counted."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.asked import count, pair
from fanlight.plots.figures.axes import across, add_line, told, up
from fanlight.plots.figures.look import colour, finish
from fanlight.plots.figures.panels import panels
from fanlight.plots.figures.result import Array, End, Result, Timed
from fanlight.plots.figures.sliding import check_placed
from fanlight.plots.figures.thinned import lines_apart

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
    """What windows counted, and below it the events, each a bar from its start to its stop.

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
        How many events are drawn at most; of more, some that are evenly spread over the rows in
        order of their starts, and the figure says so.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        As :func:`sliding`, and if the events have other columns or times of another kind.

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
    most = count("most", most, 1, "events")
    found = Result(result, by, zone, naive)
    check_placed(found)
    column = found.value(value)
    values = found.numbers(column)
    lines = found.lines(column, at, keys, once=True)
    starts, stops, texts = _events(events, time, found)
    shades = {key: number for number, key in enumerate(dict.fromkeys(one.key for one in lines))}
    rows = _drawn(found, starts, stops, texts, shades, most)
    lanes = _lanes(starts[rows], stops[rows])
    deep = int(lanes.max()) + 1 if len(lanes) else 1
    figure, tall = panels([220, min(60 + 7 * deep, 260)], [column, "events"])
    for number, line in enumerate(lines):
        add_line(
            figure, found, line, values, at=at, empty=empty, points=points,
            number=shades[line.key] if found.label is None else number, row=1, col=1,
        )  # fmt: skip
    wide = max(1.0, min(5.0, 200 / deep))
    for key, number in shades.items():
        own = rows[texts[rows] == key]
        heights = lanes[texts[rows] == key].astype(float)
        first, last = found.shown(starts[own]), found.shown(stops[own])
        figure.add_scatter(
            **lines_apart(first, last, heights, heights), mode="lines",
            line={"width": wide, "color": colour(number)}, showlegend=False, hoverinfo="x",
            opacity=0.75, row=2, col=1, name="events",
        )  # fmt: skip
    across(figure, found, row=2, col=1)
    up(figure, "", row=1, col=1)
    figure.update_yaxes(title_text=None, row=1, col=1)
    figure.update_yaxes(
        showticklabels=False, ticks="", showgrid=False, range=[deep - 0.3, -0.7], row=2, col=1
    )
    said = told(found, lines, column, values, f"Lines over {len(rows):,} events as bars")
    legend = bool(found.keys) or len(lines) > 1
    return finish(figure, said, found.notes, title=title, plot=tall, named=True, legend=legend)


def _events(given: Any, time: Any, found: Result) -> tuple[Array, Array, Array]:
    """Starts, stops and keys of events that have both."""
    ends = pair("time", time)
    source = Timed(given, found.zone, found.naive)
    source.check(ends)
    keys = source.key_texts(found.keys, "the events have")
    starts, stops = (source.places(source.table[name]) for name in ends)
    if any((one.dtype.kind == "M") != found.timed for one in (starts, stops)):
        raise FanlightError(
            f"time={ends!r} is not of the kind of the windows, which are of "
            f"{'times' if found.timed else 'numbers'}: name the columns that over was given"
        )
    empty = np.isnat if found.timed else np.isnan
    known = ~(empty(starts) | empty(stops))
    known[known] &= stops[known] >= starts[known]
    if not known.all():
        found.notes.append(f"{int((~known).sum()):,} events without a start or a stop are left out")
    found.notes.extend(source.notes)
    return starts[known], stops[known], keys[known]


def _drawn(
    found: Result, starts: Array, stops: Array, texts: Array, shades: Any, most: int
) -> Array:
    """The events that the windows hold, of the drawn keys, and no more than can be seen."""
    first, last = found.instants("start").min(), found.instants("end").max()
    inside = (starts < last) & ((stops > first) | (starts >= first)) & np.isin(texts, list(shades))
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(starts[rows], kind="stable")]
    if len(rows) > most:
        found.notes.append(
            f"{most:,} of {len(rows):,} events are drawn, evenly spread in order of their starts; "
            "the line counts all of them"
        )
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(int)]
    return rows


def _lanes(starts: Array, stops: Array) -> Array:
    """The first lane that is free for each event; they are in order of their starts."""
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
