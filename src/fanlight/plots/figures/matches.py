"""Matches of progressive widening, in the staircase of windows that found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from fanlight.engine.spec import FanlightError, ProgressiveWidening
from fanlight.engine.spec.errors import refuse
from fanlight.plots.figures.axes import describe_period, set_time_axis, spell_duration
from fanlight.plots.figures.given import check_count, check_pair
from fanlight.plots.figures.result import MATCHES, Array, Line, Result
from fanlight.plots.figures.style import colour_of, escape_text, finish, list_names
from fanlight.plots.figures.thinning import separate_lines

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SPANS = (("started", "ended"),)
STAIRS = 600  # windows drawn of one level at most
STAIR = "#8795a1"
STAIR_END = {"symbol": "line-ns", "size": 5, "line": {"width": 1, "color": STAIR}}


def matches(
    result: Any,
    *,
    spec: ProgressiveWidening | None = None,
    span: tuple[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    keys: int | Sequence[Any] | None = None,
    zone: str = "UTC",
    naive: str | None = None,
    most: int = 2_000,
    title: str | None = None,
) -> Figure:
    """The windows that found matches, one step of a staircase per level, and the matches in them.

    Parameters
    ----------
    result
        What ``detect`` returned, in any form that :func:`sliding` takes.
    spec
        The :class:`fanlight.ProgressiveWidening` that was asked for: then all windows of a level
        are drawn, thin, also those without a match, unless they are too many to be told apart.
    span
        The columns with the times of a match's first and last row; by default ``started`` and
        ``ended``, if the result has them. A match is a thick line between them.
    by
        The key's columns; by default those before ``window``.
    keys
        Which keys are drawn, or how many; by default the 8 with the most matches.
    zone, naive, title
        As for :func:`sliding`.
    most
        How many matches of a key are drawn at most; of more, the first ones.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If the result has no ``level`` and ``found_at``, or ``span`` names no times.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> found = [
    ...     {"window": {"start": noon, "end": noon + n * minute}, "level": level,
    ...      "found_at": noon + n * minute, "started": noon, "ended": noon + (n - 1) * minute}
    ...     for level, n in enumerate([2, 4, 8])
    ... ]
    >>> figure = plots.matches(found)
    >>> [trace.name for trace in figure.data]
    ['windows', 'matches', 'found']

    """
    import plotly.graph_objects as go

    most = check_count("most", most, 1, "matches")
    result = Result(result, by, zone, naive)
    advice = "give what windows.detect(…) returned, or write plots.draw(result)"
    result.require_columns(("level", MATCHES), advice)
    if spec is not None and not isinstance(spec, ProgressiveWidening):
        raise refuse(
            f"spec={spec!r}",
            "is not an fl.ProgressiveWidening",
            "give the one that you gave to fl.over",
        )
    lines = result.split_into_lines("level", keys=keys)
    ends = _read_spans(result, span)
    steps = result.read_numbers("level")
    figure = go.Figure()
    drawn = np.concatenate([line.rows for line in lines]) if lines else np.array([], int)
    if spec is not None and len(drawn):
        _add_stairs(figure, result, spec, drawn)
    for number, line in enumerate(lines):
        rows = line.rows[:most]
        if len(rows) < len(line.rows):
            result.notes.append(
                f"{line.key or 'matches'}: the first {most:,} of {len(line.rows):,} are drawn"
            )
        _add_matches(figure, result, line, rows, steps, ends, number)
    thick = "thick lines matches, " if ends is not None else ""
    result.notes.append(f"thin lines are windows, {thick}diamonds when a match was found")
    set_time_axis(figure, result)
    top = int(np.nanmax(steps[drawn])) if len(drawn) else 0
    top = max(top, len(spec.durations) - 1) if spec is not None else top
    ticks = list(range(0, top + 1, max(1, top // 12)))
    figure.update_yaxes(
        title_text="level", tickvals=ticks, ticktext=[_level_text(k, spec) for k in ticks],
        range=[-0.6, top + 0.6],
    )  # fmt: skip
    names = [line.key for line in lines if line.key]
    alt = f"{len(drawn):,} matches{describe_period(result, drawn)}" + (
        f", of {list_names(names)}" if names else ""
    )
    counts = [f"{int((steps[drawn] == k).sum()):,} at level {k}" for k in range(top + 1)
              if (steps[drawn] == k).any()]  # fmt: skip
    alt += f": {', '.join(counts)}." if counts else "."
    return finish(
        figure, alt, result.notes, title=title, plot=max(160, 44 * (top + 1)), legend=True
    )


def _level_text(level: int, spec: ProgressiveWidening | None) -> str:
    if spec is None:
        return str(level)
    batch = spec.durations[level] * 2
    length = np.timedelta64(batch, "us") if spec.measure == "time" else float(batch)
    return f"{level}: {spell_duration(length)}"


def _read_spans(result: Result, span: Any) -> tuple[Array, Array] | None:
    """The first and the last instant of each match; None if the result has no such columns."""
    if span is None:
        pairs = [one for one in SPANS if set(one) <= set(result.after_window)]
        if not pairs:
            return None
        span = pairs[0]
    span = check_pair("span", span)
    result.check_columns(list(span))
    for name in span:
        kind = result.table.schema.field(name).type
        if pa.types.is_timestamp(kind) != result.is_timed:
            raise FanlightError(
                f"column {name!r} is of type {kind}, unlike the windows' start and end: name the "
                "columns with the times of a match's first and last row"
            )
    first, last = (result.read_instants(result.table[name]) for name in span)
    return first, last


def _add_matches(
    figure: Figure,
    result: Result,
    line: Line,
    rows: Array,
    steps: Array,
    ends: tuple[Array, Array] | None,
    number: int,
) -> None:
    """Draw one key: its windows, their matches, and when each match was found."""
    key, shade = line.key, colour_of(number)
    first, last = (result.to_axis(result.read_bounds(end)[rows]) for end in ("start", "end"))
    y = steps[rows]
    common = {"legendgroup": key}
    figure.add_scatter(
        **separate_lines(first, last, y, y), mode="lines",
        name="windows", showlegend=not key, hoverinfo="skip",
        line={"width": 1.4, "color": shade}, **common,
    )  # fmt: skip
    if ends is not None:
        begun, over = (result.to_axis(times[rows]) for times in ends)
        figure.add_scatter(
            **separate_lines(begun, over, y + 0.16, y + 0.16), mode="lines",
            name="matches", showlegend=not key, hoverinfo="skip",
            line={"width": 5, "color": shade}, **common,
        )  # fmt: skip
    figure.add_scatter(
        x=last, y=y, mode="markers", name=escape_text(key or "found"),
        marker={"symbol": "diamond", "size": 8, "color": shade},
        hovertemplate="found at %{x}<br>level %{y}<extra></extra>", **common,
    )  # fmt: skip


def _add_stairs(figure: Figure, result: Result, spec: ProgressiveWidening, drawn: Array) -> None:
    """Draw every window around the drawn matches, of the levels with at most ``STAIRS`` of them."""
    starts, ends = result.read_bounds("start")[drawn], result.read_bounds("end")[drawn]
    low, high = starts.min(), ends.max()
    timed = spec.measure == "time"
    if timed != result.is_timed:
        raise FanlightError(
            f"spec={spec!r} is of {'durations' if timed else 'numbers'}, the windows are not: "
            "give the spec that you gave to fl.over"
        )
    first, last = (int(place.astype("int64")) if timed else int(place) for place in (low, high))
    left = []
    for level, batch in enumerate(spec.durations):
        if (last - first) // batch > STAIRS:
            left.append(level)
            continue
        begin = np.arange(first // batch * batch, last, batch)
        end = begin + 2 * batch
        begin, end = begin[end <= last + batch], end[end <= last + batch]
        height = level + np.where(begin // batch % 2, -0.28, -0.16)
        begin, end = (_units_to_axis(result, one, timed=timed) for one in (begin, end))
        figure.add_scatter(
            **separate_lines(begin, end, height, height),
            mode="lines+markers", line={"width": 1, "color": STAIR}, marker=STAIR_END,
            name="all windows", legendgroup="all windows",
            showlegend=level == len(left), hoverinfo="skip", opacity=0.7,
        )  # fmt: skip
    if left:
        levels = f"level{'' if len(left) == 1 else 's'} {list_names([str(k) for k in left])}"
        result.notes.append(
            f"of {levels} only the windows with matches are drawn: there are too many others"
        )


def _units_to_axis(result: Result, units: Array, *, timed: bool) -> Array:
    return result.to_axis(units.astype("datetime64[us]")) if timed else units.astype(float)
