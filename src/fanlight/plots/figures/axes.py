"""Lines and axes that several kinds of pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fanlight.plots.figures.arguments import check_number as number_of
from fanlight.plots.figures.result import Array, End, Line, Result, TimedTable
from fanlight.plots.figures.style import colour_of, escape_text, list_names
from fanlight.plots.figures.thinning import find_isolated, mark_gaps, thin_line

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EXACT = ",.16~g"  # in hovers: digits as they are, not rounded to what the axis can show
CLOCK = "%Y-%m-%d %H:%M:%S"


def set_time_axis(figure: Figure, found: Result, what: str | None = None, **place: Any) -> None:
    """The axis of time, with its zone, or of a number: of all panels, with its name at a place."""
    if found.is_timed:
        figure.update_xaxes(type="date", hoverformat=CLOCK)
        figure.update_xaxes(title_text=escape_text(f"{what or 'time'}, {found.zone}"), **place)
    else:
        figure.update_xaxes(type="linear", hoverformat=EXACT)
        figure.update_xaxes(title_text=escape_text(what or "place"), **place)


def set_value_axis(figure: Figure, name: str, **place: Any) -> None:
    """The axis of a value."""
    figure.update_yaxes(title_text=escape_text(name), hoverformat=EXACT, **place)


def add_line(
    figure: Figure,
    found: Result,
    line: Line,
    values: Array,
    *,
    at: End,
    empty: float | None,
    points: int,
    number: int,
    **more: Any,
) -> None:
    """A line of a result: broken where there is no window, and no longer than can be seen."""
    times, empty = found.read_bounds(at)[line.rows], number_of("empty", empty)
    x, heights = mark_gaps(times, values[line.rows], line.step, empty)
    kept = thin_line(heights, points)
    found.note_thinned(line.name, "points", kept, x)
    shown, heights = break_at_clock_changes(found, found.to_axis(x[kept]), heights[kept])
    single = find_isolated(heights)
    figure.add_scatter(
        x=shown,
        y=heights,
        mode="lines+markers" if single.any() else "lines",
        name=escape_text(line.name),
        line={"width": 1.4, "color": colour_of(number)},
        marker={
            "size": np.where(single, 4.5, 0) if single.any() else 0,
            "color": colour_of(number),
        },
        **more,
    )


def break_at_clock_changes(found: TimedTable, shown: Array, heights: Array) -> tuple[Array, Array]:
    """A line that breaks where the clock is set back, and does not run backwards."""
    back = np.flatnonzero(shown[1:] < shown[:-1]) + 1
    if not len(back) or shown.dtype.kind != "M":
        return shown, heights
    found.notes.append(f"where clocks of {found.zone} are set back, an hour is drawn twice")
    return np.insert(shown, back, shown[back]), np.insert(heights, back, np.nan)


def describe_lines(found: Result, lines: list[Line], column: str, values: Array, what: str) -> str:
    """What a picture of lines shows, in words."""
    rows = np.concatenate([line.rows for line in lines]) if lines else np.array([], int)
    if not len(rows):
        return f"{what}: no rows."
    heights = values[rows]
    known = heights[~np.isnan(heights)]
    text = f"{what}: {len(rows):,} windows{describe_period(found, rows)}"
    keys = list(dict.fromkeys(line.key for line in lines if line.key))
    if keys:
        text += f", of {list_names(keys)}"
    if not len(known):
        return f"{text}. {column} has no value."
    return f"{text}. {column} is from {known.min():,.15g} to {known.max():,.15g}."


def describe_period(found: Result, rows: Array) -> str:
    """From when to when, in words."""
    first, last = found.read_bounds("start")[rows], found.read_bounds("end")[rows]
    if not len(rows):
        return ""
    low, high = (found.to_axis(np.array([one]))[0] for one in (first.min(), last.max()))
    if found.is_timed:
        return f" from {spell_time(low)} to {spell_time(high)} {found.zone}"
    return f" from {low:g} to {high:g}"


def spell_time(time: np.datetime64) -> str:
    """A time to the second, in words."""
    return str(time.astype("datetime64[s]")).replace("T", " ")
