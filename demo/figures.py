"""The pictures of the demo: one for each question, and one of the times."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc
from plotly.subplots import make_subplots

from demo.flights import ZONE
from demo.questions import chains
from fanlight import plots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, Any]
AIRPORTS = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}
AREAS = ("#14406b", "#3f86bd", "#a8cde6")  # one per airport
MONTHS = {"tickformat": "%b", "dtick": "M1", "ticklabelstep": 2, "tickangle": 0}
TITLE = {"font": {"size": 13}, "side": "top"}
BAR = {"orientation": "h", "thickness": 10, "len": 0.6, "y": -0.08, "yanchor": "top",
       "outlinewidth": 0}  # fmt: skip
HEAT = [[0, "rgba(47,120,183,0)"], [1, "rgba(47,120,183,1)"]]  # for light and dark backgrounds
MINUTES_A_DAY = 1_440
NEAR = timedelta(days=2)
ROW = 20  # minutes of the day per row of the picture
STEP = np.timedelta64(3, "h")  # in the picture of the year: less than half a pixel
GREY = "#8795a1"
MOST = 1_000  # points drawn of a signal: one per pixel


def draw_year(airports: pa.Table, cancelled: Sequence[tuple[np.datetime64, int]]) -> go.Figure:
    """Draw departures per hour through the year, airports stacked, with the worst days marked.

    Only the windows that end on every third hour are drawn.
    """
    figure = go.Figure()
    for airport, colour in zip(AIRPORTS, AREAS, strict=True):
        ends, counts = totals_by_window(airports, "departures", airport)
        times = plots.local_time(ends, ZONE)
        hours = times.astype("datetime64[h]")
        drawn = np.flatnonzero((times == hours) & (hours.astype("int64") % STEP.astype(int) == 0))
        if (np.diff(times[drawn]) != STEP).any():
            raise AssertionError("the clock is changed at an hour that is drawn")
        figure.add_scatter(
            x0=str(times[drawn[0]].astype("datetime64[m]")),
            dx=STEP / np.timedelta64(1, "ms"),
            y=np.round(counts[drawn] / hours_of(airports), 1).tolist(),
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
            arrowcolor=GREY, arrowwidth=1, arrowhead=0, font={"size": 11},
            text=f"<b>{day_name(day, short=True)}</b><br>{count}",
        )  # fmt: skip
    figure.update_xaxes(range=["2013-01-01", "2014-01-01"], side="top", showgrid=False,
                        **MONTHS)  # fmt: skip
    figure.update_yaxes(title="departures an hour", rangemode="tozero")
    figure.update_layout(
        margin={"t": 30, "b": 85},
        legend={"y": -0.2, "yanchor": "top", "traceorder": "normal"},
        meta={
            "alt": f"Departures an hour at {', '.join(AIRPORTS.values())} through 2013, stacked. "
            f"Marked are {', '.join(day_name(day) for day, _ in cancelled)}."
        },
    )
    return figure


def draw_levels(
    answer: pa.Table, trends: pa.Table, airport: str, first: np.datetime64, last: np.datetime64
) -> go.Figure:
    """Draw the mean delay at all levels for some days, with the lines fitted to the delays."""
    return plots.levels(
        windows_between(answer, airport, first, last), "mean_delay",
        fit=windows_between(trends, airport, first, last), by="origin", zone=ZONE,
    )  # fmt: skip


def draw_planes_in_air(answer: pa.Table) -> go.Figure:
    """Draw the planes in the air by time of day and day of the year, all airports together."""
    ends, counts = totals_by_window(answer, "planes")
    shown = (ends - ends.astype("datetime64[h]")) % np.timedelta64(ROW, "m") == np.timedelta64(0)
    local = plots.local_time(ends[shown], ZONE)
    days, grid = day_grid(local, counts[shown], ROW)
    minutes = np.arange(0, MINUTES_A_DAY, ROW)
    figure = go.Figure(
        go.Heatmap(
            z=grid.astype(int).tolist(),
            x=days.astype(str),
            y=[f"{one // 60:02d}:{one % 60:02d}" for one in minutes],
            colorscale=HEAT,
            colorbar={**BAR, "title": {"text": "in the air in the hour before", **TITLE}},
            hovertemplate="%{x|%a %d %b}, %{y}: %{z} planes<extra></extra>",
        )
    )
    figure.update_layout(
        plots.layout(height=520),
        margin={"b": 100},
        meta={
            "alt": "Planes in the air in the hour before, by day of the year and local time: at "
            f"most {grid.max():.0f}."
        },
    )
    figure.update_yaxes(
        type="category", tickvals=[f"{one:02d}:00" for one in range(0, 24, 3)], showgrid=False
    )
    figure.update_xaxes(showgrid=False, **MONTHS)
    return figure


def draw_frames(
    flights: pa.Table, frames: pa.Table, airport: str, first: np.datetime64, last: np.datetime64
) -> go.Figure:
    """Draw the frames of some days over the delays of their flights."""
    departed = plots.local_time(utc_times(flights, "departed"), ZONE)
    here = pc.and_(pc.equal(flights["origin"], airport), flights["departed"].is_valid())
    shown = pc.and_(here, pa.array((departed >= first) & (departed <= last)))
    return plots.frames(
        windows_between(frames, airport, first, last), "mean_delay",
        signal=flights.filter(shown).select(["departed", "origin", "delay"]), time="departed",
        column="delay", by="origin", zone=ZONE, most=MOST,
    )  # fmt: skip


def draw_match(matches: pa.Table, match: Mapping[str, Any]) -> go.Figure:
    """Draw a match, the same plane's matches near it, and the windows that found them."""
    ended, tail = matches["ended"], pc.equal(matches["tail"], match["tail"])
    after, before = (pa.scalar(match["ended"] + days, ended.type) for days in (-NEAR, NEAR))
    near = pc.and_(pc.greater(ended, after), pc.less(ended, before))
    return plots.matches(
        matches.filter(pc.and_(tail, near)), spec=chains.WIDENING, by="tail", zone=ZONE
    )


def draw_days(said: pa.Table, step: np.timedelta64) -> go.Figure:
    """Draw a row for each day: what was ``said`` of it at each ``known`` time, every ``step``.

    Airports are stacked. Bars are hatched while their day is open, and full once it is final.
    """
    local = plots.local_time(utc_times(said, "known"), ZONE)
    said = said.append_column("at", pa.array(local.astype("datetime64[s]").astype(str)))
    days = said["window.start"].unique().sort().to_numpy()
    figure = make_subplots(len(days), 1, shared_xaxes=True, vertical_spacing=0.07)
    totals, highest = [], 0
    for row, day in enumerate(days, 1):
        of_day = said.filter(pa.array(said["window.start"].to_numpy() == day))
        for airport, colour in zip(AIRPORTS, AREAS, strict=True):
            here = of_day.filter(pc.equal(of_day["origin"], airport))
            for final in (True, False):
                bars = here.filter(pc.equal(here["final"], final))
                figure.add_trace(_day_bars(bars, airport, colour, final=final), row, 1)
                figure.data[-1].showlegend = final and row == 1
        last = of_day.filter(pc.equal(of_day["at"], pc.max(of_day["at"])))
        count = pc.sum(last["departures"]).as_py()
        totals.append(f"{day_name(day.astype('datetime64[D]'))}: {count:,} departures")
        highest = max(highest, count)
        figure.add_annotation(
            text=f"<b>{totals[-1]}</b>", x=0, xref="x domain", xanchor="left", y=1,
            yref="y domain", yanchor="bottom", showarrow=False, row=row, col=1,
        )  # fmt: skip
    hatched = _bar_marker(GREY, final=False)
    figure.add_bar(x=[None], y=[None], name="hatched: still open", marker=hatched, row=1, col=1)
    figure.update_layout(
        plots.layout(height=100 + 110 * len(days)), barmode="stack",
        meta={"alt": "Departures of each day so far, after each micro-batch: bars that grow, "
              f"hatched while the day is open. In the end {'; '.join(totals)}."},
    )  # fmt: skip
    figure.update_layout(margin={"t": 70}, legend={"y": 1.06})
    figure.update_traces(width=0.75 * (step / np.timedelta64(1, "ms")))
    figure.update_xaxes(range=[str(local.min() - step), str(local.max() + step)], dtick=86_400_000,
                        tickformat="%a<br>%-d %b", showgrid=True)  # fmt: skip
    figure.update_yaxes(range=[0, highest], nticks=4)
    return figure


def _day_bars(bars: pa.Table, airport: str, colour: str, *, final: bool) -> go.Bar:
    """An airport's departures of a day, at the times when the table had them final, or open."""
    state = "final" if final else "so far"
    return go.Bar(
        x=bars["at"].to_pylist(),
        y=bars["departures"].to_pylist(),
        customdata=np.round(bars["mean_delay"].to_numpy(), 1).tolist(),
        name=AIRPORTS[airport],
        legendgroup=airport,
        marker=_bar_marker(colour, final=final),
        hovertemplate=f"%{{y}} departures {state}, %{{customdata}} minutes late on average",
    )


def _bar_marker(colour: str, *, final: bool) -> dict[str, Any]:
    """A full bar for what is final, a hatched one for what is still open."""
    edge = {"color": colour, "line": {"width": 1, "color": colour}}
    hatch = {"shape": "/", "fillmode": "replace", "size": 6, "solidity": 0.35}
    return edge if final else {**edge, "pattern": hatch}


def draw_times(rows: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Draw the seconds that each question took, by fanlight and by plain Spark."""
    figure = go.Figure()
    names = list(rows)
    for place, (name, colour) in enumerate(
        (("fanlight", plots.COLOURS[0]), ("plain Spark", plots.COLOURS[5]))
    ):
        figure.add_bar(
            y=names,
            x=[rows[one][place] for one in names],
            name=name,
            orientation="h",
            marker={"color": colour},
            hovertemplate="%{x:.2f} s",
        )
    seconds = "; ".join(
        f"{name}: {ours:.2f} and {plain:.2f}" for name, (ours, plain) in rows.items()
    )
    figure.update_layout(
        plots.layout(height=90 + 52 * len(names)),
        bargap=0.3,
        meta={"alt": f"Seconds that fanlight and plain Spark took. {seconds}."},
    )
    figure.update_xaxes(title="seconds", rangemode="tozero")
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticks="", ticksuffix=" ", tickfont={"size": 12}
    )
    return figure


def window_lengths(answer: pa.Table) -> list[np.timedelta64]:
    """The lengths of an answer's windows, the shortest first."""
    table = answer.flatten()
    lengths = np.unique(utc_times(table, "window.end") - utc_times(table, "window.start"))
    return list(lengths)


def slide_of(answer: pa.Table) -> np.timedelta64:
    """The slide of an answer's windows."""
    starts = np.unique(utc_times(answer.flatten(), "window.start"))
    apart: np.timedelta64 = np.diff(starts).min()
    return apart


def hours_of(answer: pa.Table) -> float:
    """The length of an answer's windows in hours; all must have the same."""
    (length,) = window_lengths(answer)
    return float(length / np.timedelta64(1, "h"))


def totals_by_window(
    table: pa.Table, column: str, airport: str | None = None
) -> tuple[Array, Array]:
    """The ends of all windows, and a column's sum in each, over all keys or for one airport."""
    if airport is not None:
        table = table.filter(pc.equal(table["origin"], airport))
    ends, counts = utc_times(table.flatten(), "window.end"), table[column].to_numpy()
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


def windows_between(
    answer: pa.Table, airport: str, first: np.datetime64, last: np.datetime64
) -> pa.Table:
    """The windows of an airport between two days of the local calendar."""
    start, end = (
        plots.local_time(utc_times(answer.flatten(), f"window.{name}"), ZONE)
        for name in ("start", "end")
    )
    inside = pc.and_(
        pa.array((start >= first) & (end <= last)), pc.equal(answer["origin"], airport)
    )
    return answer.filter(inside)


def utc_times(table: pa.Table, name: str) -> Array:
    """A column of times as UTC datetimes; null becomes 1970."""
    micros = table[name].cast(pa.int64()).fill_null(0)
    times: Array = micros.to_numpy().astype("datetime64[us]")
    return times


def day_name(day: np.datetime64, *, short: bool = False) -> str:
    """A day in words: ``8 February``, or ``8 Feb``."""
    date = datetime.fromisoformat(str(day))
    return f"{date.day} {date:%b}" if short else f"{date.day} {date:%B}"
