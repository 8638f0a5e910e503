"""``draw``: chooses the picture by what it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.arrow_tables import table_of
from fanlight.plots.figures.cut import cut, sketch_of
from fanlight.plots.figures.events import events
from fanlight.plots.figures.frames import frames
from fanlight.plots.figures.levels import levels
from fanlight.plots.figures.matches import matches
from fanlight.plots.figures.result import FIT, FRAMES, MATCHES, Result
from fanlight.plots.figures.sliding import sliding
from fanlight.plots.figures.trends import trends

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
