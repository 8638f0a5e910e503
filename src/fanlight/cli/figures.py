"""The pictures of the demo."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from fanlight import plots
from fanlight.cli.flights import ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fanlight.cli.job import Case
    from fanlight.cli.streamed import Streamed

Array = np.ndarray[Any, Any]
AIRPORTS = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}
AREAS = ("#14406b", "#3f86bd", "#a8cde6")  # one an airport
SHADES = ("#eda35c", "#c04a63", "#7c4791", "#1f3f77")  # the shortest RANGE first
MONTHS = {"tickformat": "%b", "dtick": "M1", "ticklabelstep": 2, "tickangle": 0}
TITLE = {"font": {"size": 13}, "side": "top"}
BAR = {"orientation": "h", "thickness": 10, "len": 0.6, "y": -0.08, "yanchor": "top",
       "outlinewidth": 0}  # fmt: skip
HEAT = [[0, "#ffffff"], [0.02, "#eef4f8"], [0.3, "#a9cbe2"], [0.6, "#4f94c4"], [0.85, "#1f5f99"],
        [1, "#14324f"]]  # fmt: skip
LATENESS = [[0, "#2f7d5b"], [0.2, "#f7f5ef"], [0.5, "#eda35c"], [0.8, "#b8404a"], [1, "#5e1830"]]
MINUTES_A_DAY = 1_440


def year(
    airports: pa.Table, hours: float, cancelled: Sequence[tuple[np.datetime64, int]]
) -> go.Figure:
    """Departures per hour through the year, airports stacked, with the worst days marked."""
    figure = go.Figure()
    for airport, colour in zip(AIRPORTS, AREAS, strict=True):
        ends, counts = totals(airports, pc.equal(airports["origin"], airport))
        times = plots.local_time(ends, ZONE)
        hourly = np.flatnonzero(times == times.astype("datetime64[h]"))
        figure.add_scatter(
            x=times[hourly].astype("datetime64[s]"),
            y=(counts[hourly] / hours).astype(np.float32),
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


def week(
    results: Mapping[Case, pa.Table], first: np.datetime64, last: np.datetime64, chosen: str
) -> go.Figure:
    """The same flights through all windows, for some days; one airport at a time."""
    figure = go.Figure()
    for airport in AIRPORTS:
        for shade, (case, table) in zip(SHADES, results.items(), strict=False):
            ends, counts = totals(table, pc.equal(table["origin"], airport))
            times = plots.local_time(ends, ZONE)
            shown = (times >= first) & (times <= last)
            figure.add_scatter(
                x=times[shown],
                y=(counts[shown] / case.hours).astype(np.float32),
                name=case.name,
                mode="lines",
                line={"color": shade, "width": 1.1 if case.hours < 2 else 2.4},
                visible=airport == chosen,
                hovertemplate="%{y:.1f} an hour",
            )
    figure.update_layout(plots.layout(height=460), hovermode="x")
    figure.update_yaxes(title="departures an hour", rangemode="tozero")
    _buttons(figure, list(AIRPORTS), chosen, each=len(results))
    figure.update_layout(legend={"y": -0.14, "yanchor": "top"}, margin={"b": 90})
    return figure


def heat(table: pa.Table, hours: float, slide_minutes: int) -> go.Figure:
    """Time of day by day of the year, for all airports together and for each."""
    figure = go.Figure()
    names = ["all", *AIRPORTS]
    for airport in names:
        mask = None if airport == "all" else pc.equal(table["origin"], airport)
        ends, counts = totals(table, mask)
        days, grid = day_grid(plots.local_time(ends, ZONE), counts / hours, slide_minutes)
        minutes = np.arange(0, MINUTES_A_DAY, slide_minutes)
        figure.add_heatmap(
            z=grid.astype(np.uint8),
            x=days.astype(str),
            y=[f"{one // 60:02d}:{one % 60:02d}" for one in minutes],
            colorscale=HEAT,
            visible=airport == "all",
            colorbar={**BAR, "title": {"text": "departures in the hour before", **TITLE}},
            hovertemplate="%{x|%a %d %b}, %{y}: %{z} in the hour before<extra></extra>",
        )
    figure.update_layout(plots.layout(height=560), margin={"b": 100})
    figure.update_yaxes(
        type="category", tickvals=[f"{one:02d}:00" for one in range(0, 24, 3)], showgrid=False
    )
    figure.update_xaxes(showgrid=False, **MONTHS)
    _buttons(figure, names, "all", each=1)
    return figure


def carriers(table: pa.Table, names: Mapping[str, str]) -> go.Figure:
    """How late each carrier is: the mean delay in the 24 hours up to each midnight."""
    ends = _utc(table, "end")
    local = plots.local_time(ends, ZONE)
    midnight = (local - local.astype("datetime64[D]")) == np.timedelta64(0, "us")
    table, local = table.filter(pa.array(midnight)), local[midnight]
    codes = table["carrier"].to_numpy()
    flights = table["departures"].to_numpy().astype(float)
    late = flights * table["mean_delay"].to_numpy()
    days = np.arange(np.datetime64("2013-01-01"), np.datetime64("2014-01-01"))
    day = (local.astype("datetime64[D]") - np.timedelta64(1, "D") - days[0]).astype(int)
    inside = (day >= 0) & (day < len(days))
    order = sorted(set(codes), key=lambda code: flights[codes == code].sum())
    grid = np.full((len(order), len(days)), np.nan)
    for row, code in enumerate(order):
        mine = inside & (codes == code)
        count = np.bincount(day[mine], flights[mine], len(days))
        total = np.bincount(day[mine], late[mine], len(days))
        np.divide(total, count, out=grid[row], where=count > 0)
    figure = go.Figure(
        go.Heatmap(
            z=np.round(grid, 1).astype(np.float32),
            x=days.astype(str),
            y=[airline(names.get(code, code)) for code in order],
            colorscale=LATENESS,
            zmin=-20,
            zmax=80,
            colorbar={**BAR, "title": {"text": "mean delay, minutes", **TITLE}},
            hovertemplate="%{y}, %{x|%a %d %b}: %{z:.0f} minutes<extra></extra>",
        )
    )
    figure.update_layout(plots.layout(height=500))
    figure.update_xaxes(showgrid=False, **MONTHS)
    figure.update_yaxes(showgrid=False, ticks="", ticksuffix=" ", tickfont={"size": 12})
    figure.update_layout(margin={"t": 20, "b": 100})
    return figure


def speed(rates: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Rows a second of each case, by fanlight and by Spark."""
    figure = go.Figure()
    names = list(rates)
    for place, (name, colour) in enumerate((("fanlight", plots.COLOURS[0]), ("Spark", "#b9c4cd"))):
        figure.add_bar(
            y=names,
            x=[rates[one][place] for one in names],
            name=name,
            orientation="h",
            marker={"color": colour},
            hovertemplate="%{x:,.0f} flights a second",
        )
    figure.update_layout(plots.layout(height=90 + 52 * len(names)), bargap=0.3)
    figure.update_xaxes(title="flights a second", rangemode="tozero")
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticks="", ticksuffix=" ", tickfont={"size": 12}
    )
    return figure


def state(streams: Mapping[Case, Streamed]) -> go.Figure:
    """How many rows the state store holds after each micro-batch."""
    figure = go.Figure()
    for shade, (case, stream) in zip(SHADES, streams.items(), strict=False):
        rows = [batch.state_rows for batch in stream.batches]
        figure.add_scatter(
            x=list(range(1, len(rows) + 1)),
            y=rows,
            name=case.name,
            mode="lines+markers",
            line={"color": shade, "width": 1.6},
            marker={"size": 5},
            hovertemplate="%{y:,} rows",
        )
    figure.update_layout(plots.layout(height=300), hovermode="x")
    figure.update_xaxes(title="micro-batch", dtick=1, showgrid=False)
    figure.update_yaxes(title="rows in the state store", rangemode="tozero")
    return figure


def totals(table: pa.Table, mask: pa.ChunkedArray | None = None) -> tuple[Array, Array]:
    """The ends of all windows in order, and how many departures each holds over all keys."""
    ends = _utc(table, "end")
    counts = table["departures"].to_numpy()
    if mask is not None:
        keep = mask.to_numpy()
        ends, counts = ends[keep], counts[keep]
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


def airline(name: str) -> str:
    """An airline's name without its legal form."""
    return re.sub(r" (Inc\.|Co\.|Corporation)$", "", name)


def _buttons(figure: go.Figure, names: Sequence[str], chosen: str, *, each: int) -> None:
    """A row of buttons, each of which shows its own traces only."""
    buttons = [
        {
            "label": AIRPORTS.get(name, "all"),
            "method": "update",
            "args": [{"visible": [k // each == place for k in range(each * len(names))]}],
        }
        for place, name in enumerate(names)
    ]
    figure.update_layout(
        updatemenus=[
            {
                "type": "buttons", "direction": "right", "showactive": True,
                "x": 0, "xanchor": "left", "y": 1.12, "yanchor": "top", "pad": {"l": 0, "t": 0},
                "active": list(names).index(chosen), "buttons": buttons, "bgcolor": "#d5dfe8",
                "bordercolor": "#c3ccd4", "font": {"size": 12},
            }
        ],
    )  # fmt: skip
