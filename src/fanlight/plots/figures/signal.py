"""Signals: the rows that windows were cut from, as thin lines behind the windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import refuse
from fanlight.plots.figures.axes import break_at_clock_changes, spell_duration
from fanlight.plots.figures.result import Array, Result, TimedTable, is_number
from fanlight.plots.figures.style import escape_text
from fanlight.plots.figures.thinning import find_silence, thin_line

SIGNAL = "#8795a1"  # a grey that is seen on light and on dark grounds


@dataclass(frozen=True)
class Signal:
    """Rows with a time and a number; ``keys`` has the key of each row as text."""

    source: TimedTable
    name: str
    times: Array
    values: Array
    keys: Array

    def select_key(self, key: str, span: tuple[Any, Any] | None = None) -> tuple[Array, Array]:
        """The times and values of one key in order of time; with ``span``, only those within it."""
        rows = np.flatnonzero(self.keys == key)
        rows = rows[np.argsort(self.times[rows], kind="stable")]
        times, values = self.times[rows], self.values[rows]
        if span is None:
            return times, values
        inside = (times >= span[0]) & (times <= span[1])
        return times[inside], values[inside]


def read_signal(given: Any, time: str | None, column: str | None, result: Result) -> Signal:
    """Read the signal of a result, and check that it has the result's keys and kind of times."""
    source = TimedTable(given, result.zone, result.naive)
    if not isinstance(time, str):
        raise refuse(
            f"time={time!r}", "names no column of the signal", "write for example time='ts'"
        )
    source.check_columns([time])
    times = source.read_instants(source.table[time])
    if (times.dtype.kind == "M") != result.is_timed:
        raise FanlightError(
            f"column {time!r} is of type {source.table.schema.field(time).type}, but windows are "
            f"of {'times' if result.is_timed else 'numbers'}: name the time column that you gave "
            "to fl.over"
        )
    name = _choose_column(source, column, (time, *result.keys))
    keys = source.key_texts(result.keys, "the signal has")
    known = ~(np.isnat(times) if result.is_timed else np.isnan(times))
    values = source.read_numbers(name)
    return Signal(source, name, times[known], values[known], keys[known])


def _break_at_silence(result: Result, times: Array, values: Array) -> tuple[Array, Array]:
    """Break a signal where no row came for long: a line would claim values that nobody knows."""
    longest = find_silence(times)
    if longest is None:
        return times, values
    gaps = np.flatnonzero(np.diff(times) > longest) + 1
    if not len(gaps):
        return times, values
    result.notes.append(
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
    result: Result,
    signal: Signal,
    rows: tuple[Array, Array],
    points: int,
    of: str = "",
    **more: Any,
) -> None:
    """Add rows of a signal to a figure, as a thin line of ``points`` points at most."""
    times, values = _break_at_silence(result, *rows)
    kept = thin_line(values, points)
    result.note_thinned(f"the signal{of}", "points", kept, times)
    x, y = break_at_clock_changes(result, signal.source.to_axis(times[kept]), values[kept])
    result.notes.extend(signal.source.notes)
    figure.add_scatter(
        x=x, y=y, mode="lines", name=escape_text(f"{signal.name}{of}"),
        line={"width": 1, "color": SIGNAL}, **more,
    )  # fmt: skip
