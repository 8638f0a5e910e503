"""The rows that windows were cut from, as thin lines below what is drawn of the windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import refuse
from fanlight.plots.figures.axes import broken
from fanlight.plots.figures.look import plain
from fanlight.plots.figures.result import Array, Result, Timed, is_number
from fanlight.plots.figures.thinned import thinned
from fanlight.plots.figures.words import duration

SIGNAL = "#8795a1"  # a grey that both grounds show
SILENCE = 10  # usual steps between rows: longer ones break the line


@dataclass(frozen=True)
class Signal:
    """Rows with a time and a number; ``keys`` has the key of each row as a text."""

    source: Timed
    name: str
    times: Array
    values: Array
    keys: Array

    def of(self, key: str) -> Array:
        """The rows of a key, in order of time."""
        rows = np.flatnonzero(self.keys == key)
        ordered: Array = rows[np.argsort(self.times[rows], kind="stable")]
        return ordered


def signal_of(given: Any, time: str | None, column: str | None, found: Result) -> Signal:
    """The signal of a result: its rows, checked against the result's keys and times."""
    source = Timed(given, found.zone, found.naive)
    if not isinstance(time, str):
        raise refuse(
            f"time={time!r}", "names no column of the signal", "write for example time='ts'"
        )
    source.check([time])
    times = source.places(source.table[time])
    if (times.dtype.kind == "M") != found.timed:
        raise FanlightError(
            f"column {time!r} is of type {source.table.schema.field(time).type}, but windows are "
            f"of {'times' if found.timed else 'numbers'}: name the column that they were cut by"
        )
    name = _column(source, column, (time, *found.keys))
    missing = [key for key in found.keys if key not in source.names]
    if missing:
        raise FanlightError(
            f"the signal has no column {missing[0]!r}, which is a key of the windows: give rows "
            f"with {', '.join(found.keys)}"
        )
    texts = [[str(one) for one in source.table[key].to_pylist()] for key in found.keys]
    keys = np.full(source.table.num_rows, "", dtype=object)
    if texts:
        keys = np.array([", ".join(parts) for parts in zip(*texts, strict=True)], dtype=object)
    known = ~(np.isnat(times) if found.timed else np.isnan(times))
    values = source.numbers(name)
    return Signal(source, name, times[known], values[known], keys[known])


def torn(found: Result, times: Array, values: Array) -> tuple[Array, Array]:
    """A signal that breaks where no row came for long, and does not run on as if it were known."""
    steps = np.diff(times)
    if len(steps) < 2:
        return times, values
    longest = SILENCE * np.median(steps.astype("int64" if found.timed else "float64"))
    longest = np.timedelta64(int(longest), "us") if found.timed else longest
    gaps = np.flatnonzero((steps > longest) & (longest > steps.dtype.type(0))) + 1
    if not len(gaps):
        return times, values
    found.notes.append(f"the signal breaks where no row came for more than {duration(longest)}")
    return np.insert(times, gaps, times[gaps]), np.insert(values, gaps, np.nan)


def _column(source: Timed, asked: str | None, others: Sequence[str]) -> str:
    if asked is not None:
        source.check([asked])
        return asked
    for name in source.names:
        if name not in others and is_number(source.table.schema.field(name).type):
            return str(name)
    raise FanlightError(
        f"the signal has no column of numbers among {', '.join(source.names)}: write column='…'"
    )


def add_signal(
    figure: Any, found: Result, signal: Signal, key: str, points: int, **more: Any
) -> None:
    """The rows of a key as a thin line."""
    rows = signal.of(key)
    times, values = torn(found, signal.times[rows], signal.values[rows])
    kept = thinned(values, points)
    of = f" of {key}" if key else ""
    if len(kept) < len(rows):
        found.notes.append(
            f"the signal{of}: {len(kept):,} of {len(times):,} points are drawn, the lowest and the "
            "highest of each stretch"
        )
    x, y = broken(found, signal.source.shown(times[kept]), values[kept])
    found.notes.extend(signal.source.notes)
    figure.add_scatter(
        x=x, y=y, mode="lines", name=plain(f"{signal.name}{of}"), hoverinfo="skip",
        line={"width": 1, "color": SIGNAL}, **more,
    )  # fmt: skip
