"""Lines, axes and descriptions that several kinds of pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.engine.spec.units import write_duration
from fanlight.plots.figures.given import check_number
from fanlight.plots.figures.result import Array, End, Line, Result, TimedTable
from fanlight.plots.figures.style import colour_of, escape_text, list_names
from fanlight.plots.figures.thinning import find_isolated, interleave, mark_gaps, thin_line

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


EXACT = ",.16~g"  # when hovering: all digits, where an axis rounds to what it can show
CLOCK = "%Y-%m-%d %H:%M:%S"


def set_time_axis(figure: Figure, result: Result, what: str | None = None, **place: Any) -> None:
    """Set the horizontal axis of all panels: time, or a number; its title at one ``place``."""
    if result.is_timed:
        figure.update_xaxes(type="date", hoverformat=CLOCK)
        figure.update_xaxes(title_text=escape_text(f"{what or 'time'}, {result.zone}"), **place)
    else:
        figure.update_xaxes(type="linear", hoverformat=EXACT)
        figure.update_xaxes(title_text=escape_text(what or "place"), **place)


def set_value_axis(figure: Figure, name: str, **place: Any) -> None:
    """Set the title of the vertical axis, and that hovering shows all digits."""
    figure.update_yaxes(title_text=escape_text(name), hoverformat=EXACT, **place)


def add_line(
    figure: Figure,
    result: Result,
    line: Line,
    values: Array,
    *,
    at: End,
    empty: float | None,
    points: int,
    number: int,
    **more: Any,
) -> bool:
    """Add a line of a result: it breaks where no window is, and has at most ``points`` points.

    Windows of all lengths that do not overlap are steps, each as long as it lasts; returns whether
    these are. From the last final window on to those that are still open, it is another line,
    dotted.
    """
    times, empty = result.read_bounds(at), check_number("empty", empty)
    parts = [("", line.rows, more)]
    opened = result.opened[line.rows]
    if opened.any():
        more = {"legendgroup": line.name, **more}
        tail = line.rows[opened | np.append(opened[1:], False)]
        parts = [(", still open", tail, more | {"showlegend": False}),
                 ("", line.rows[~opened], more)]  # fmt: skip
    starts, ends = result.read_bounds("start"), result.read_bounds("end")
    stepped = empty is None and are_steps(starts[line.rows], ends[line.rows])
    for about, rows, how in parts:
        if stepped:
            kept = rows[thin_line(values[rows], points // 2)]
            result.note_thinned(line.name + about, "windows", kept, rows)
            first, last = (result.to_axis(edges[kept]) for edges in (starts, ends))
            gaps = np.append(ends[kept][:-1] < starts[kept][1:], [True])
            figure.add_scatter(
                x=interleave(first, last, last), mode="lines",
                y=interleave(values[kept], values[kept], np.where(gaps, np.nan, values[kept])),
                name=escape_text(line.name + about),
                line={"width": 1.4, "color": colour_of(number), "dash": "dot" if about else None},
                **how,
            )  # fmt: skip
            continue
        x, heights = mark_gaps(times[rows], values[rows], line.step, empty)
        kept = thin_line(heights, points)
        result.note_thinned(line.name + about, "points", kept, x)
        hover = None
        if about:
            own = ~np.isin(x[kept], times[rows]) | np.isin(x[kept], times[line.rows][opened])
            _, own = break_at_clock_changes(result, result.to_axis(x[kept]), own.astype(float))
            hover = np.where(own == 1, "all", "skip")
        shown, heights = break_at_clock_changes(result, result.to_axis(x[kept]), heights[kept])
        single = find_isolated(heights)
        figure.add_scatter(
            x=shown,
            y=heights,
            mode="lines+markers" if single.any() else "lines",
            name=escape_text(line.name + about),
            line={"width": 1.4, "color": colour_of(number), "dash": "dot" if about else None},
            marker={
                "size": np.where(single, 4.5, 0) if single.any() else 0,
                "color": colour_of(number),
            },
            hoverinfo=hover,
            **how,
        )
    return stepped


def are_steps(starts: Array, ends: Array) -> bool:
    """Whether windows, in order of time, do not overlap, and are of lengths that tell."""
    if len(starts) < 2 or (ends[:-1] > starts[1:]).any():
        return False
    lengths = ends - starts
    return bool(lengths.max() > 2 * lengths.min())


def break_at_clock_changes(result: TimedTable, shown: Array, heights: Array) -> tuple[Array, Array]:
    """Break a line where the clock is set back, since it would run backwards there."""
    back = np.flatnonzero(shown[1:] < shown[:-1]) + 1
    if not len(back) or shown.dtype.kind != "M":
        return shown, heights
    result.notes.append(f"where clocks of {result.zone} are set back, an hour is drawn twice")
    return np.insert(shown, back, shown[back]), np.insert(heights, back, np.nan)


def describe_lines(result: Result, lines: list[Line], column: str, values: Array, what: str) -> str:
    """A picture of lines in words: how many windows, from when to when, which keys and values."""
    rows = np.concatenate([line.rows for line in lines]) if lines else np.array([], int)
    if not len(rows):
        return f"{what}: no rows."
    heights = values[rows]
    known = heights[~np.isnan(heights)]
    text = f"{what}: {len(rows):,} {result.things}{describe_period(result, rows)}"
    keys = list(dict.fromkeys(line.key for line in lines if line.key))
    if keys:
        text += f", of {list_names(keys)}"
    if not len(known):
        return f"{text}. {column} has no value."
    return f"{text}. {column} is from {known.min():,.15g} to {known.max():,.15g}."


def describe_period(result: Result, rows: Array) -> str:
    """The first start and the last end of some windows, in words."""
    first, last = result.read_bounds("start")[rows], result.read_bounds("end")[rows]
    if not len(rows):
        return ""
    low, high = (result.to_axis(np.array([one]))[0] for one in (first.min(), last.max()))
    if result.is_timed:
        return f" from {spell_time(low)} to {spell_time(high)} {result.zone}"
    return f" from {low:g} to {high:g}"


def spell_time(time: np.datetime64) -> str:
    """A time as text, to the second."""
    return str(time.astype("datetime64[s]")).replace("T", " ")


GAP = 34  # pixels between two panels, for the name of the lower one


def make_panels(heights: Sequence[int], names: Sequence[str] = ()) -> tuple[Figure, int]:
    """A figure with panels of these heights, each under its name; and its height in pixels."""
    from plotly.subplots import make_subplots

    whole = sum(heights) + GAP * (len(heights) - 1)
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, row_heights=list(heights),
        vertical_spacing=GAP / whole if len(heights) > 1 else 0,
    )  # fmt: skip
    for number, name in enumerate(names, 1):
        axis = "y domain" if number == 1 else f"y{number} domain"
        figure.add_annotation(
            text=escape_text(name), x=0, y=1, xref="paper", yref=axis, xanchor="left",
            yanchor="bottom", yshift=3, showarrow=False, font={"size": 12}, opacity=0.85,
            name="panel",
        )  # fmt: skip
    return figure, whole


def spell_duration(length: Any) -> str:
    """The length of a window in words: a duration, or a number.

    >>> import numpy as np
    >>> spell_duration(np.timedelta64(90, "m")), spell_duration(2.5)
    ('90 minutes', '2.5')
    """
    if isinstance(length, np.timedelta64):
        return write_duration(int(length / np.timedelta64(1, "us")))
    return f"{float(length):g}"
