"""How windows are cut: the drawing of a spec, of windows, or of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.pictures import Picture
from fanlight.plots.figures.look import colour, finish, pale, plain
from fanlight.plots.figures.signal import SIGNAL
from fanlight.plots.sketches.drawn import drawn, sketch
from fanlight.plots.sketches.model import Lane, Sketch, apart

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LANE, CURVE = 24, 90
PHONE = 36  # characters along the axis


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

    found = sketch_of(windows)
    if found is None:
        raise FanlightError(
            f"a {type(windows).__name__} has no windows: give a spec such as fl.Sliding('1 hour'), "
            "what fl.over(…) returned, or its explain()"
        )
    figure = go.Figure()
    tops, top = [], 0.0
    for lane in found.lanes:
        tall = CURVE if lane.curve else LANE
        _lane(figure, lane, top, tall)
        tops.append(top + tall / 2)
        top += tall
    figure.update_yaxes(
        range=[top, 0], tickvals=tops, ticktext=[plain(lane.name) for lane in found.lanes],
        showgrid=False, ticks="", fixedrange=True,
    )  # fmt: skip
    low, high = found.span
    figure.update_xaxes(
        range=[low - 0.01 * (high - low), high + 0.01 * (high - low)], showgrid=False,
        tickvals=[place for place, _ in found.ticks], ticktext=[plain(t) for _, t in found.ticks],
        tickangle=0, ticklabeloverflow="allow",
    )  # fmt: skip
    few = apart(found.ticks, found.span, PHONE)
    phone: dict[str, Any] = {
        "xaxis.tickvals": [place for place, _ in few],
        "xaxis.ticktext": [plain(text) for _, text in few],
    }
    texts = [mark for lane in found.lanes for mark in lane.marks if mark.text]
    for number, mark in enumerate(texts):
        if len(mark.text) > PHONE * (mark.end - mark.start) / (high - low):
            phone[f"annotations[{number}].visible"] = False
    said = f"{found.heading}. {found.told}"
    shown = found.heading if title is None else title
    return finish(figure, said, found.notes, title=shown, plot=int(top), right=44, phone=phone)


def sketch_of(windows: Any) -> Sketch | None:
    """The drawing of whatever has one."""
    if isinstance(windows, type):
        return None
    made = getattr(windows, "_picture_", None)
    if made is not None:
        picture = made()
        return drawn(picture) if isinstance(picture, Picture) else None
    if isinstance(windows, Sequence) and not isinstance(windows, str) and windows:
        try:
            return sketch(windows)
        except TypeError:
            return None
    return None


def _lane(figure: Figure, lane: Lane, top: float, tall: float) -> None:
    for height in lane.rules:
        figure.add_hline(
            y=top + tall - 6 - height * (tall - 12),
            line={"width": 1, "dash": "dash", "color": colour(1)},
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
                line={"width": 1.2, "color": colour(1)},
            )  # fmt: skip
        elif mark.kind != "row":
            gap, shade = mark.kind == "gap", colour(1 if mark.kind == "piece" else 0)
            figure.add_shape(
                type="rect", x0=mark.start, x1=mark.end, y0=top + 4, y1=top + tall - 4,
                line={"width": 1, "color": shade, "dash": "dot" if gap else "solid"},
                fillcolor="rgba(0,0,0,0)" if gap else pale(shade, tint), name=mark.kind,
            )  # fmt: skip
        if mark.text:
            figure.add_annotation(
                x=mark.start, y=top + tall / 2, text=plain(mark.text), xanchor="left", xshift=4,
                showarrow=False, font={"size": 11},
            )  # fmt: skip
