"""``draw``: chooses the picture by what it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import is_column
from fanlight.engine.spec.pictures import Picture
from fanlight.plots.figures.events import events
from fanlight.plots.figures.frames import frames
from fanlight.plots.figures.given import table_of
from fanlight.plots.figures.levels import levels
from fanlight.plots.figures.matches import matches
from fanlight.plots.figures.result import FIT, FRAMES, MATCHES, Result
from fanlight.plots.figures.signal import SIGNAL
from fanlight.plots.figures.sliding import sliding
from fanlight.plots.figures.style import colour_of, escape_text, finish, with_opacity
from fanlight.plots.figures.trends import trends
from fanlight.plots.sketches.model import Lane, Sketch, select_ticks
from fanlight.plots.sketches.svg import sketch_picture, sketch_spec

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def draw(given: Any, /, *args: Any, **options: Any) -> Figure:
    """Draw a result of any kind of windows; or, given windows, how they cut time.

    ====================================  ============================
    given                                 is drawn by
    ====================================  ============================
    a spec, windows, ``explain()``        :func:`cut`
    matches: ``found_at``                 :func:`matches`
    frames, sessions: ``frame_id``        :func:`frames`
    trend lines: ``slope``, ``r2``        :func:`trends`
    levels, lists: ``level``, ``query``   :func:`levels`
    windows, with ``events=``             :func:`events`
    windows                               :func:`sliding`
    rows with features, with ``time=``    :func:`sliding`
    ====================================  ============================

    Parameters
    ----------
    given
        A result in any form that :func:`sliding` takes, or what :func:`cut` takes.
    args, options
        Arguments of the function that draws it.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If it cannot be drawn, or the function that draws it takes no such option.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> import fanlight as fl
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> rows = [{"window": {"start": noon, "end": noon + minute}, "n": 1}]
    >>> plots.draw(rows).layout.meta["alt"]
    'Lines over time: 1 windows from 2024-05-01 12:00:00 to 2024-05-01 12:01:00 UTC. n is from 1 \
to 1. Times came without a zone and are read as UTC.'
    >>> plots.draw(fl.Sliding("1 hour")).layout.title.text
    "Sliding('1 hour')"

    """
    if sketch_of(given) is not None:
        return _call(cut, given, args, options)
    table = table_of(given)
    return _call(_choose_function(table, options), table, args, options)


def _choose_function(table: Any, options: dict[str, Any]) -> Callable[..., Figure]:
    if "window" not in table.column_names and "time" in options:
        return sliding
    result = Result(table, options.get("by"))
    if MATCHES in result.after_window:
        return matches
    if FRAMES[0] in result.after_window:
        return frames
    if set(FIT) <= set(result.after_window):
        return trends
    if "events" in options:
        return events
    return sliding if result.label is None else levels


def _call(
    function: Callable[..., Figure], given: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Figure:
    try:
        inspect.signature(function).bind(given, *args, **options)
    except TypeError as error:
        names = list(inspect.signature(function).parameters)[1:]
        raise FanlightError(
            f"plots.draw(…) draws this with plots.{function.__name__}, which cannot be called "
            f"with these arguments ({error}); it takes {', '.join(names)}"
        ) from error
    return function(given, *args, **options)


LANE, CURVE = 24, 90
PHONE = 36  # characters that fit along the axis on a phone


def cut(windows: Any, *, title: str | None = None) -> Figure:
    """How time is cut into windows: what a notebook shows of a spec, as a figure.

    Parameters
    ----------
    windows
        A spec such as ``fl.Sliding(…)``, a list of sliding windows, what :func:`fanlight.over`
        returned, or what ``explain()`` returned, which also shows the slices of the plan.
    title
        A heading; by default the spec as it is written.

    Returns
    -------
    plotly.graph_objects.Figure
        ``layout.meta["alt"]`` says in words what it shows.

    Raises
    ------
    FanlightError
        If it is none of these.

    Examples
    --------
    >>> import fanlight as fl
    >>> from fanlight import plots
    >>> figure = plots.cut(fl.Sliding("9 minutes", "6 minutes"))
    >>> figure.layout.yaxis.ticktext
    ('window 0', 'window 1', 'window 2', 'window 3', 'window 4')

    """
    import plotly.graph_objects as go

    sketch = sketch_of(windows)
    if sketch is None:
        raise FanlightError(
            f"a {type(windows).__name__} has no windows: give a spec such as fl.Sliding('1 hour'), "
            "what fl.over(…) returned, or its explain()"
        )
    figure = go.Figure()
    tops, top = [], 0.0
    for lane in sketch.lanes:
        tall = CURVE if lane.curve else LANE
        _draw_lane(figure, lane, top, tall)
        tops.append(top + tall / 2)
        top += tall
    figure.update_yaxes(
        range=[top, 0], tickvals=tops, ticktext=[escape_text(lane.name) for lane in sketch.lanes],
        showgrid=False, ticks="", fixedrange=True,
    )  # fmt: skip
    low, high = sketch.span
    figure.update_xaxes(
        range=[low - 0.01 * (high - low), high + 0.01 * (high - low)], showgrid=False,
        tickvals=[place for place, _ in sketch.ticks],
        ticktext=[escape_text(text) for _, text in sketch.ticks],
        tickangle=0, ticklabeloverflow="allow",
    )  # fmt: skip
    few = select_ticks(sketch.ticks, sketch.span, PHONE)
    phone: dict[str, Any] = {
        "xaxis.tickvals": [place for place, _ in few],
        "xaxis.ticktext": [escape_text(text) for _, text in few],
    }
    texts = [mark for lane in sketch.lanes for mark in lane.marks if mark.text]
    for number, mark in enumerate(texts):
        if len(mark.text) > PHONE * (mark.end - mark.start) / (high - low):
            phone[f"annotations[{number}].visible"] = False
    alt = f"{sketch.heading}. {sketch.alt}"
    heading = sketch.heading if title is None else title
    return finish(figure, alt, sketch.notes, title=heading, plot=int(top), right=44, phone=phone)


def sketch_of(windows: Any) -> Sketch | None:
    """The sketch of a spec, a list of them, windows or a plan; None of anything else."""
    if isinstance(windows, type) or is_column(windows):
        return None
    picture_of = getattr(windows, "_picture_", None)
    if picture_of is not None:
        picture = picture_of()
        return sketch_picture(picture) if isinstance(picture, Picture) else None
    if isinstance(windows, Sequence) and not isinstance(windows, str) and windows:
        try:
            return sketch_spec(windows)
        except TypeError:
            return None
    return None


def _draw_lane(figure: Figure, lane: Lane, top: float, tall: float) -> None:
    for height in lane.rules:
        figure.add_hline(
            y=top + tall - 6 - height * (tall - 12),
            line={"width": 1, "dash": "dash", "color": colour_of(1)},
        )
    if lane.curve:
        figure.add_scatter(
            x=[x for x, _ in lane.curve],
            y=[top + tall - 6 - y * (tall - 12) for _, y in lane.curve],
            mode="lines", line={"width": 1.4, "color": SIGNAL}, hoverinfo="skip",
        )  # fmt: skip
    dots = [mark.start for mark in lane.marks if mark.kind == "row"]
    if dots:
        figure.add_scatter(
            x=dots, y=[top + tall / 2] * len(dots), mode="markers", hoverinfo="skip",
            marker={"size": 5, "color": SIGNAL},
        )  # fmt: skip
    for mark, tint in zip(lane.marks, lane.tints, strict=True):
        if mark.kind == "slice":
            figure.add_shape(
                type="line", x0=mark.end, x1=mark.end, y0=top + tall - 4, y1=top + tall - 9,
                line={"width": 1.2, "color": colour_of(1)},
            )  # fmt: skip
        elif mark.kind != "row":
            gap, shade = mark.kind == "gap", colour_of(1 if mark.kind == "piece" else 0)
            figure.add_shape(
                type="rect", x0=mark.start, x1=mark.end, y0=top + 4, y1=top + tall - 4,
                line={"width": 1, "color": shade, "dash": "dot" if gap else "solid"},
                fillcolor="rgba(0,0,0,0)" if gap else with_opacity(shade, tint), name=mark.kind,
            )  # fmt: skip
        if mark.text:
            figure.add_annotation(
                x=mark.start, y=top + tall / 2, text=escape_text(mark.text), xanchor="left",
                xshift=4, showarrow=False, font={"size": 11},
            )  # fmt: skip
