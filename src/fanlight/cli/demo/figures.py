"""The pictures of the demo: one a question, and the times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from fanlight import plots
from fanlight.cli.demo.flights import ZONE
from fanlight.cli.demo.questions import levels, sliding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, Any]
AIRPORTS = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}
AREAS = ("#14406b", "#3f86bd", "#a8cde6")  # one an airport
SHADES = ("#eda35c", "#c04a63", "#1f3f77")  # the shortest RANGE first
MONTHS = {"tickformat": "%b", "dtick": "M1", "ticklabelstep": 2, "tickangle": 0}
TITLE = {"font": {"size": 13}, "side": "top"}
BAR = {"orientation": "h", "thickness": 10, "len": 0.6, "y": -0.08, "yanchor": "top",
       "outlinewidth": 0}  # fmt: skip
HEAT = [[0, "#ffffff"], [0.02, "#eef4f8"], [0.3, "#a9cbe2"], [0.6, "#4f94c4"], [0.85, "#1f5f99"],
        [1, "#14324f"]]  # fmt: skip
MINUTES_A_DAY = 1_440


def year(airports: pa.Table, cancelled: Sequence[tuple[np.datetime64, int]]) -> go.Figure:
    """Departures per hour through the year, airports stacked, with the worst days marked."""
    figure = go.Figure()
    for airport, colour in zip(AIRPORTS, AREAS, strict=True):
        ends, counts = totals(airports, "departures", airport)
        times = plots.local_time(ends, ZONE)
        hourly = np.flatnonzero(times == times.astype("datetime64[h]"))
        figure.add_scatter(
            x=times[hourly].astype("datetime64[s]"),
            y=(counts[hourly] / sliding.HOURS).astype(np.float32),
            name=AIRPORTS[airport],
            mode="lines",
            line={"width": 0.5, "color": colour},
            fillcolor=colour,
            stackgroup="airports",
            hovertemplate="%{y:.1f} an hour",
        )
    figure.update_layout(plots.layout(height=390), hovermode="x")
    for day, count in cancelled:
        figure.add_annotation(
            x=str(day + np.timedelta64(1, "D")), y=0, ax=0, ay=22, yanchor="top",
            arrowcolor=plots.INK, arrowwidth=1, arrowhead=0, font={"size": 11},
            text=f"<b>{day_name(day, short=True)}</b><br>{count}",
        )  # fmt: skip
    figure.update_xaxes(range=["2013-01-01", "2014-01-01"], side="top", showgrid=False,
                        **MONTHS)  # fmt: skip
    figure.update_yaxes(title="departures an hour", rangemode="tozero")
    figure.update_layout(
        margin={"t": 30, "b": 85}, legend={"y": -0.2, "yanchor": "top", "traceorder": "normal"}
    )
    return figure


def horizons(
    answer: pa.Table, trends: pa.Table, airport: str, first: np.datetime64, last: np.datetime64
) -> go.Figure:
    """The mean delay at all levels for some days, with the lines that the delays follow."""
    figure = go.Figure()
    here = answer.filter(pc.equal(answer["origin"], airport))
    for level, (name, shade) in enumerate(zip(levels.NAMES, SHADES, strict=True)):
        table = here.filter(pc.equal(here["level"], level))
        times = plots.local_time(_utc(table, "end"), ZONE)
        shown = (times >= first) & (times <= last)
        figure.add_scatter(
            x=times[shown],
            y=table["mean_delay"].to_numpy()[shown].astype(np.float32),
            name=name,
            mode="lines",
            line={"color": shade, "width": 1.1 + 0.8 * level},
            hovertemplate="%{y:.0f} min",
        )
    lines = trends.filter(
        pc.and_(pc.equal(trends["origin"], airport), trends["slope"].is_valid())
    )
    bounds = [plots.local_time(_utc(lines, name), ZONE) for name in ("start", "end")]
    shown = (bounds[0] >= first) & (bounds[1] <= last)
    starts = lines["intercept"].to_numpy()[shown]
    ends = starts + lines["slope"].to_numpy()[shown] * 6 * 3_600
    gap = np.full(len(starts), np.nan)
    figure.add_scatter(
        x=np.column_stack([bounds[0][shown], bounds[1][shown], bounds[1][shown]]).reshape(-1),
        y=np.column_stack([starts, ends, gap]).reshape(-1).astype(np.float32),
        name="trend of 6 hours",
        mode="lines",
        line={"color": "#3a8f6b", "width": 2, "dash": "dot"},
        hoverinfo="skip",
    )
    figure.update_layout(plots.layout(height=430), hovermode="x")
    figure.update_yaxes(title=f"mean delay at {AIRPORTS[airport]}, minutes")
    figure.update_layout(legend={"y": -0.14, "yanchor": "top"}, margin={"b": 90})
    return figure


def aloft(answer: pa.Table) -> go.Figure:
    """Planes in the air by time of day and day of the year, all airports together."""
    ends, counts = totals(answer, "planes")
    quarter = (ends - ends.astype("datetime64[h]")) % np.timedelta64(20, "m") == np.timedelta64(0)
    local = plots.local_time(ends[quarter], ZONE)
    days, grid = day_grid(local, counts[quarter], 20)
    minutes = np.arange(0, MINUTES_A_DAY, 20)
    figure = go.Figure(
        go.Heatmap(
            z=grid.astype(np.uint16),
            x=days.astype(str),
            y=[f"{one // 60:02d}:{one % 60:02d}" for one in minutes],
            colorscale=HEAT,
            colorbar={**BAR, "title": {"text": "in the air in the hour before", **TITLE}},
            hovertemplate="%{x|%a %d %b}, %{y}: %{z} planes<extra></extra>",
        )
    )
    figure.update_layout(plots.layout(height=520), margin={"b": 100})
    figure.update_yaxes(
        type="category", tickvals=[f"{one:02d}:00" for one in range(0, 24, 3)], showgrid=False
    )
    figure.update_xaxes(showgrid=False, **MONTHS)
    return figure


def episodes(
    flights: pa.Table, frames: pa.Table, airport: str, first: np.datetime64, last: np.datetime64
) -> go.Figure:
    """The frames of some days over the flights that they are made of."""
    figure = go.Figure()
    here = flights.filter(
        pc.and_(pc.equal(flights["origin"], airport), flights["departed"].is_valid())
    )
    times = plots.local_time(_utc(here, "departed"), ZONE)
    shown = (times >= first) & (times <= last)
    figure.add_scatter(
        x=times[shown],
        y=here["delay"].to_numpy()[shown].astype(np.float32),
        name="a flight",
        mode="markers",
        marker={"size": 4, "color": "#9fb4c6"},
        hovertemplate="%{x|%d %b %H:%M}: %{y:.0f} min<extra></extra>",
    )
    some = frames.filter(pc.equal(frames["origin"], airport))
    starts, ends = (plots.local_time(_utc(some, name), ZONE) for name in ("start", "end"))
    means = some["mean_delay"].to_numpy()
    x: list[Any] = []
    y: list[float | None] = []
    for place in np.flatnonzero((starts >= first) & (ends <= last)):
        x += [starts[place], ends[place], None]
        y += [float(means[place]), float(means[place]), None]
        figure.add_vrect(
            x0=starts[place].astype(object), x1=ends[place].astype(object),
            fillcolor="#d1662a", opacity=0.16, line_width=0,
        )  # fmt: skip
    figure.add_scatter(
        x=x, y=y, name="a frame, and its mean", mode="lines",
        line={"color": "#d1662a", "width": 3}, hovertemplate="%{y:.0f} min<extra></extra>",
    )  # fmt: skip
    figure.update_layout(plots.layout(height=400))
    figure.update_yaxes(title=f"delay at {AIRPORTS[airport]}, minutes")
    figure.update_layout(legend={"y": -0.14, "yanchor": "top"}, margin={"b": 90})
    return figure


def staircase(flights: pa.Table, found: pa.Table, tail: str) -> go.Figure:
    """A plane's flights around a match, and the window of each level that was searched by then."""
    (match,) = found.filter(pc.equal(found["tail"], tail)).slice(0, 1).to_pylist()
    figure = go.Figure()
    here = flights.filter(
        pc.and_(pc.equal(flights["tail"], tail), flights["departed"].is_valid())
    ).sort_by("departed")
    times = plots.local_time(_utc(here, "departed"), ZONE)
    bounds = [_local(match[name]) for name in ("window_start", "window_end", "start", "end")]
    near = (times >= bounds[0]) & (times <= bounds[1])
    delays = here["delay"].to_numpy()
    inside = near & (times >= bounds[2]) & (times <= bounds[3])
    for mask, name, colour in (
        (near & ~inside, "a flight", "#9fb4c6"), (inside, "the match", "#c04a63")
    ):  # fmt: skip
        figure.add_bar(
            x=times[mask], y=delays[mask].astype(np.float32), name=name,
            marker={"color": colour}, width=1.2e6,
            hovertemplate="%{x|%d %b %H:%M}: %{y:.0f} min<extra></extra>",
        )  # fmt: skip
    top = float(delays[near].max())
    shades = plots.COLOURS
    for level in range(match["level"] + 1):
        batch = np.timedelta64(3, "h") * 2**level
        end = bounds[1]
        height = top * (1.12 + 0.09 * level)
        start = end - 2 * batch
        figure.add_scatter(
            x=[start, end], y=[height, height], mode="lines+markers",
            line={"color": shades[level], "width": 4}, marker={"size": 7, "symbol": "line-ns-open"},
            name=f"level {level}: {int(2 * batch / np.timedelta64(1, 'h'))} hours",
            hoverinfo="name",
        )  # fmt: skip
    figure.update_layout(plots.layout(height=400))
    figure.update_yaxes(title=f"delay of {tail}, minutes")
    figure.update_layout(legend={"y": -0.14, "yanchor": "top"}, margin={"b": 90})
    return figure


def times(rows: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Seconds of each question, by fanlight and by plain Spark."""
    figure = go.Figure()
    names = list(rows)
    for place, (name, colour) in enumerate(
        (("fanlight", plots.COLOURS[0]), ("plain Spark", "#b9c4cd"))
    ):
        figure.add_bar(
            y=names,
            x=[rows[one][place] for one in names],
            name=name,
            orientation="h",
            marker={"color": colour},
            hovertemplate="%{x:.2f} s",
        )
    figure.update_layout(plots.layout(height=90 + 52 * len(names)), bargap=0.3)
    figure.update_xaxes(title="seconds", rangemode="tozero")
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticks="", ticksuffix=" ", tickfont={"size": 12}
    )
    return figure


def totals(table: pa.Table, column: str, airport: str | None = None) -> tuple[Array, Array]:
    """The ends of all windows in order, and what they hold over all keys, or at one airport."""
    if airport is not None:
        table = table.filter(pc.equal(table["origin"], airport))
    ends, counts = _utc(table, "end"), table[column].to_numpy()
    distinct, where = np.unique(ends, return_inverse=True)
    sums = np.bincount(where, counts)
    step = np.diff(distinct).min()
    grid = np.arange(distinct[0], distinct[-1] + step, step)
    filled = np.zeros(len(grid))
    filled[((distinct - grid[0]) // step).astype(int)] = sums
    return grid, filled


def day_grid(local: Array, values: Array, slide_minutes: int) -> tuple[Array, Array]:
    """Values by time of day (rows) and day of 2013 (columns); the clock's second 1 o'clock wins."""
    days = np.arange(np.datetime64("2013-01-01"), np.datetime64("2014-01-01"))
    day = (local.astype("datetime64[D]") - days[0]).astype(int)
    clock = (local - local.astype("datetime64[D]")).astype("timedelta64[m]").astype(int)
    inside = (day >= 0) & (day < len(days))
    grid = np.zeros((MINUTES_A_DAY // slide_minutes, len(days)))
    grid[clock[inside] // slide_minutes, day[inside]] = values[inside]
    return days, grid


def _utc(table: pa.Table, name: str) -> Array:
    times: Array = table[name].cast(pa.int64()).to_numpy().astype("datetime64[us]")
    return times


def day_name(day: np.datetime64, *, short: bool = False) -> str:
    """A day as it is spoken of: ``8 February``, or ``8 Feb``."""
    date = datetime.fromisoformat(str(day))
    return f"{date.day} {date:%b}" if short else f"{date.day} {date:%B}"


def _local(instant: datetime) -> np.datetime64:
    """An instant on the local clock."""
    utc = np.array([instant.astimezone(UTC).replace(tzinfo=None)], dtype="datetime64[us]")
    local: np.datetime64 = plots.local_time(utc, ZONE)[0]
    return local
