"""Pictures of results, with plotly (``pip install 'fanlight[plot]'``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fanlight.spec import FanlightError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["COLOURS", "INK", "frames", "layout", "local_time", "sliding"]

Array = np.ndarray[Any, Any]

COLOURS = ("#1f5f99", "#d1662a", "#3a8f6b", "#8a4f9e", "#b8902b", "#5b6f80", "#c04a63", "#2aa0b4")
INK = "#22303c"
_GRID = "#e6eaee"
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_QUARTER = np.timedelta64(15, "m")  # clocks are changed on a quarter of an hour of UTC


def sliding(
    result: Any,
    value: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    at: Literal["start", "end"] = "end",
    empty: float | None = None,
    zone: str = "UTC",
    points: int = 2_000,
    title: str | None = None,
) -> Figure:
    """A line a key: the result of ``fl.over(...).agg(...)`` over time.

    Long results stay light: of each of ``points / 2`` stretches of a line its lowest and its
    highest window are drawn, so that every peak is seen.

    Parameters
    ----------
    result
        What ``agg`` returned: a batch DataFrame (it is collected), its Arrow table, or its rows
        as ``Row`` or dicts.
    value
        The column to draw; by default the first one after ``window``.
    by
        The key's columns; by default those before ``window``.
    at
        At which end of its window a point is drawn. At the ``"end"`` all of the window is known.
    empty
        Where no window is reported the line breaks; with a number it runs there, as 0 for counts.
    zone
        The time zone in which the times are written.
    points
        How many points a line has at most.
    title
        A heading.

    Raises
    ------
    FanlightError
        If the result has no windows of time, or lacks a column.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon = datetime(2024, 5, 1, 12)
    >>> rows = [
    ...     {"item": "a", "window": {"start": noon + k * timedelta(minutes=1),
    ...      "end": noon + k * timedelta(minutes=1) + timedelta(minutes=4)}, "count(1)": k}
    ...     for k in range(60)
    ... ]
    >>> figure = plots.sliding(rows, "count(1)", zone="Europe/Vienna")
    >>> [(line.name, len(line.x)) for line in figure.data]
    [('a', 60)]

    """
    import plotly.graph_objects as go

    table = _table(result)
    column, keys = _columns(table, value, by)
    starts, ends = (_instants(table, part) for part in ("start", "end"))
    values = pc.cast(table[column], pa.float64()).to_numpy()
    figure = go.Figure()
    for number, (name, rows) in enumerate(_lines(table, keys, starts)):
        width = ends[rows[0]] - starts[rows[0]]
        times, heights = _with_gaps(starts[rows], values[rows], _slide(starts), empty)
        times, heights = _thinned(times, heights, points)
        figure.add_scatter(
            x=local_time(times + width if at == "end" else times, zone),
            y=heights.astype(np.float32),
            mode="lines",
            name=name or column,
            line={"width": 1.4, "color": COLOURS[number % len(COLOURS)]},
        )
    figure.update_layout(layout(title=title), showlegend=bool(keys))
    figure.update_yaxes(title=column)
    return figure


def frames(
    result: Any,
    value: str | None = None,
    *,
    low: str | None = None,
    high: str | None = None,
    by: str | Sequence[str] | None = None,
    zone: str = "UTC",
    most: int = 2_000,
    title: str | None = None,
) -> Figure:
    """A signal with its frames, drawn from the frames: as light for ten million rows as for ten.

    Each frame is a box from its start to its end and from its least to its greatest value, with a
    line at ``value``. Of very many frames of a key those with the lowest and the highest values of
    each stretch are drawn, and the rest left out.

    Parameters
    ----------
    result
        What ``agg`` returned over frames: a batch DataFrame (it is collected), its Arrow table, or
        its rows as ``Row`` or dicts.
    value
        The column that says how high a frame's line is, such as its mean; by default the first one
        after ``closed``.
    low, high
        The columns that say how far a frame's box reaches, such as ``min(v)`` and ``max(v)``;
        without them frames are lines.
    by
        The key's columns; by default those before ``window``.
    zone
        The time zone in which the times are written.
    most
        How many frames of a key are drawn at most.
    title
        A heading.

    Raises
    ------
    FanlightError
        If the result has no windows of time, or lacks a column, or only one of ``low`` and ``high``
        is given.

    Examples
    --------
    >>> from datetime import datetime, timedelta
    >>> from fanlight import plots
    >>> noon, minute = datetime(2024, 5, 1, 12), timedelta(minutes=1)
    >>> rows = [
    ...     {"window": {"start": noon + k * minute, "end": noon + (k + 1) * minute},
    ...      "frame_id": k, "rows": 9, "closed": True, "avg(v)": k % 3, "min(v)": 0, "max(v)": 4}
    ...     for k in range(60)
    ... ]
    >>> figure = plots.frames(rows, "avg(v)", low="min(v)", high="max(v)")
    >>> [(trace.mode, len(trace.x)) for trace in figure.data]
    [('none', 360), ('lines', 180)]

    """
    import plotly.graph_objects as go

    if (low is None) != (high is None):
        raise FanlightError("a box has two ends: give both low and high, or neither")
    table = _table(result)
    after = [n for n in table.column_names if n not in ("frame_id", "rows", "closed")]
    wanted = value if value is not None else next(iter(after[after.index("window") + 1 :]), "rows")
    column, keys = _columns(table, wanted, by)
    starts, ends = (_instants(table, part) for part in ("start", "end"))
    heights = [
        pc.cast(table[_columns(table, name, by)[0]], pa.float64()).to_numpy()
        for name in (column, low or column, high or column)
    ]
    figure = go.Figure()
    for number, (name, rows) in enumerate(_lines(table, keys, starts)):
        kept = rows[_extremes(heights[1][rows], heights[2][rows], most)]
        first, last = (local_time(times[kept], zone) for times in (starts, ends))
        middle, bottom, top = (values[kept] for values in heights)
        colour = COLOURS[number % len(COLOURS)]
        gap = np.full(len(kept), np.nan)
        if low is not None:
            figure.add_scatter(
                x=_in_turn(first, last, last, first, first, first),
                y=_in_turn(bottom, bottom, top, top, bottom, gap),
                mode="none", fill="toself", fillcolor=_pale(colour), hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=_in_turn(first, last, last), y=_in_turn(middle, middle, gap), mode="lines",
            name=name or column, line={"width": 1.6, "color": colour},
        )  # fmt: skip
    figure.update_layout(layout(title=title), showlegend=bool(keys))
    figure.update_yaxes(title=column)
    return figure


def _in_turn(*columns: Array) -> Array:
    """The first of each, then the second of each, and so on."""
    turned: Array = np.stack(columns, axis=1).reshape(-1)
    return turned


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"


def _extremes(low: Array, high: Array, most: int) -> Array:
    """Places of at most so many: the lowest and the highest of each stretch."""
    if most < 2:
        raise FanlightError(f"most={most} is too few to draw: write 2 or more")
    if len(low) <= most:
        return np.arange(len(low))
    edges = np.linspace(0, len(low), most // 2 + 1).astype(int)
    least, greatest = np.nan_to_num(low, nan=np.inf), np.nan_to_num(high, nan=-np.inf)
    stretches = list(pairwise(edges))
    lowest = [begin + int(least[begin:end].argmin()) for begin, end in stretches]
    highest = [begin + int(greatest[begin:end].argmax()) for begin, end in stretches]
    return np.unique([*lowest, *highest])


def layout(*, title: str | None = None, height: int = 380) -> dict[str, Any]:
    """How fanlight's figures look, for ``figure.update_layout``.

    >>> layout(height=200)["height"]
    200
    """
    axis = {"gridcolor": _GRID, "zeroline": False, "linecolor": "#c3ccd4", "ticks": "outside",
            "tickcolor": "#c3ccd4", "automargin": True}  # fmt: skip
    return {
        "template": "none",
        "font": {"family": _FONT, "size": 13, "color": INK},
        "title": {"text": title, "x": 0, "xref": "paper", "font": {"size": 16}} if title else None,
        "height": height,
        "margin": {"l": 60, "r": 20, "t": 60 if title else 40, "b": 45},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": list(COLOURS),
        "xaxis": axis,
        "yaxis": axis,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hoverlabel": {"font": {"family": _FONT}},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "#b3bec8",
            "activecolor": COLOURS[0],
        },
    }


def local_time(times: Array, zone: str) -> Array:
    """Instants in UTC as the clock of a time zone shows them, daylight saving and all.

    >>> import numpy as np
    >>> local_time(np.array(["2024-05-01T12:00"], "datetime64[us]"), "Europe/Vienna")
    array(['2024-05-01T14:00:00.000000'], dtype='datetime64[us]')
    """
    times = times.astype("datetime64[us]")
    if zone == "UTC":
        return times
    quarters, where = np.unique(times - (times - times.astype("datetime64[D]")) % _QUARTER,
                                return_inverse=True)  # fmt: skip
    there = ZoneInfo(zone)
    ahead = [one.item().replace(tzinfo=UTC).astimezone(there).utcoffset() for one in quarters]
    local: Array = times + np.array(ahead, dtype="timedelta64[us]")[where]
    return local


def _table(result: Any) -> pa.Table:
    if isinstance(result, pa.Table):
        return result
    if hasattr(result, "toArrow"):
        return result.toArrow()
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes)):
        raise FanlightError(
            f"a {type(result).__name__} cannot be drawn: give the DataFrame that agg() returned, "
            "its Arrow table, or its rows"
        )
    return pa.Table.from_pylist([_dict(row) for row in result])


def _dict(row: Any) -> dict[str, Any]:
    if hasattr(row, "asDict"):
        row = row.asDict(recursive=True)
    if not isinstance(row, Mapping):
        raise FanlightError(f"a row is a {type(row).__name__}: give Rows or dicts")
    return dict(row)


def _columns(
    table: pa.Table, value: str | None, by: str | Sequence[str] | None
) -> tuple[str, list[str]]:
    names = table.column_names
    if not names and not table.num_rows:
        raise FanlightError("there are no rows to draw, and no columns: give an Arrow table")
    kind = table.schema.field("window").type if "window" in names else None
    if kind is None or not pa.types.is_struct(kind) or not pa.types.is_timestamp(kind[0].type):
        raise FanlightError(
            "there is no column 'window' of times: give what fl.over(...).agg(...) returned over "
            "a timestamp"
        )
    place = names.index("window")
    keys = names[:place] if by is None else [by] if isinstance(by, str) else list(by)
    after = [name for name in names[place + 1 :] if name not in keys]
    column = value if value is not None else next(iter(after), "")
    for name in (column, *keys):
        if name not in names:
            raise FanlightError(f"there is no column {name!r} among {', '.join(names)}")
    return column, keys


def _instants(table: pa.Table, part: str) -> Array:
    times = pc.struct_field(table["window"].combine_chunks(), part)
    times = times.cast(pa.timestamp("us", times.type.tz))
    instants: Array = times.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return instants.astype("datetime64[us]")


def _lines(table: pa.Table, keys: Sequence[str], starts: Array) -> list[tuple[str, Array]]:
    """(name, row numbers in order of time) of each key."""
    if not table.num_rows:
        return []
    order = np.argsort(starts, kind="stable")
    if not keys:
        return [("", order)]
    texts = [[str(one) for one in table[key].to_pylist()] for key in keys]
    names = np.array([", ".join(parts) for parts in zip(*texts, strict=True)])
    distinct, codes = np.unique(names, return_inverse=True)
    return [(str(name), order[codes[order] == code]) for code, name in enumerate(distinct)]


def _slide(starts: Array) -> np.timedelta64:
    """How far apart windows start: the least distance that occurs."""
    steps = np.diff(np.unique(starts))
    return steps.min() if len(steps) else np.timedelta64(1, "us")


def _with_gaps(
    times: Array, values: Array, slide: np.timedelta64, empty: float | None
) -> tuple[Array, Array]:
    """A point after each gap's beginning and before its end, so that the line breaks or runs."""
    gaps = np.flatnonzero(np.diff(times) > slide)
    if not len(gaps):
        return times, values
    filler = np.nan if empty is None else empty
    between = np.concatenate([times[gaps] + slide, times[gaps + 1] - slide])
    order = np.argsort(np.concatenate([times, between]), kind="stable")
    fill = np.full(len(between), filler)
    return np.concatenate([times, between])[order], np.concatenate([values, fill])[order]


def _thinned(times: Array, values: Array, points: int) -> tuple[Array, Array]:
    """The lowest and the highest point of each stretch of a line."""
    if points < 2:
        raise FanlightError(f"points={points} is too few for a line: write 2 or more")
    if len(times) <= points:
        return times, values
    edges = np.linspace(0, len(times), points // 2 + 1).astype(int)
    first, last = edges[:-1], edges[1:]
    low = np.where(np.isnan(values), np.inf, values)
    high = np.where(np.isnan(values), -np.inf, values)
    kept = []
    for begin, end in zip(first, last, strict=True):
        kept += sorted(
            {begin + int(low[begin:end].argmin()), begin + int(high[begin:end].argmax())}
        )
    return times[kept], values[kept]
