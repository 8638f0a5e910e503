"""The rows that windows were cut from, as thin lines below what is drawn of the windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import refuse
from fanlight.plots.figures.axes import break_at_clock_changes
from fanlight.plots.figures.durations import spell_duration
from fanlight.plots.figures.result import Array, Result, TimedTable, is_number
from fanlight.plots.figures.style import escape_text
from fanlight.plots.figures.thinning import thin_line

SIGNAL = "#8795a1"  # a grey that both grounds show
SILENCE = 10  # usual steps between rows: longer ones break the line


@dataclass(frozen=True)
class Signal:
    """Rows with a time and a number; ``keys`` has the key of each row as a text."""

    source: TimedTable
    name: str
    times: Array
    values: Array
    keys: Array

    def select_key(self, key: str, span: tuple[Any, Any] | None = None) -> tuple[Array, Array]:
        """The times and values of a key in order of time, all of them or those of a span."""
        rows = np.flatnonzero(self.keys == key)
        rows = rows[np.argsort(self.times[rows], kind="stable")]
        times, values = self.times[rows], self.values[rows]
        if span is None:
            return times, values
        inside = (times >= span[0]) & (times <= span[1])
        return times[inside], values[inside]


def read_signal(given: Any, time: str | None, column: str | None, found: Result) -> Signal:
    """The signal of a result: its rows, checked against the result's keys and times."""
    source = TimedTable(given, found.zone, found.naive)
    if not isinstance(time, str):
        raise refuse(
            f"time={time!r}", "names no column of the signal", "write for example time='ts'"
        )
    source.check_columns([time])
    times = source.read_places(source.table[time])
    if (times.dtype.kind == "M") != found.is_timed:
        raise FanlightError(
            f"column {time!r} is of type {source.table.schema.field(time).type}, but windows are "
            f"of {'times' if found.is_timed else 'numbers'}: name the column that they were cut by"
        )
    name = _choose_column(source, column, (time, *found.keys))
    keys = source.key_texts(found.keys, "the signal has")
    known = ~(np.isnat(times) if found.is_timed else np.isnan(times))
    values = source.read_numbers(name)
    return Signal(source, name, times[known], values[known], keys[known])


def _break_at_silence(found: Result, times: Array, values: Array) -> tuple[Array, Array]:
    """A signal that breaks where no row came for long, and does not run on as if it were known."""
    steps = np.diff(times)
    if len(steps) < 2:
        return times, values
    longest = SILENCE * np.median(steps.astype("int64" if found.is_timed else "float64"))
    longest = np.timedelta64(int(longest), "us") if found.is_timed else longest
    gaps = np.flatnonzero((steps > longest) & (longest > steps.dtype.type(0))) + 1
    if not len(gaps):
        return times, values
    found.notes.append(
        f"the signal breaks where no row came for more than {spell_duration(longest)}"
    )
    return np.insert(times, gaps, times[gaps]), np.insert(values, gaps, np.nan)


def _choose_column(source: TimedTable, asked: str | None, others: Sequence[str]) -> str:
    if asked is not None:
        source.check_columns([asked])
        return asked
    for name in source.names:
        if name not in others and is_number(source.table.schema.field(name).type):
            return str(name)
    raise FanlightError(
        f"the signal has no column of numbers among {', '.join(source.names)}: write column='…'"
    )


def add_signal(
    figure: Any,
    found: Result,
    signal: Signal,
    rows: tuple[Array, Array],
    points: int,
    of: str = "",
    **more: Any,
) -> None:
    """Rows of a signal as a thin line."""
    times, values = _break_at_silence(found, *rows)
    kept = thin_line(values, points)
    found.note_thinned(f"the signal{of}", "points", kept, times)
    x, y = break_at_clock_changes(found, signal.source.to_axis(times[kept]), values[kept])
    found.notes.extend(signal.source.notes)
    figure.add_scatter(
        x=x, y=y, mode="lines", name=escape_text(f"{signal.name}{of}"),
        line={"width": 1, "color": SIGNAL}, **more,
    )  # fmt: skip
