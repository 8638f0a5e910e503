"""The newest windows: read now and then, in a thread of its own, and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.arrow_tables import table_of
from fanlight.plots.figures.draw import draw
from fanlight.plots.figures.result import Result
from fanlight.watching.query_status import shorten_error

SHOWN = 12  # rows of the table
SHARE = 10  # reading takes a tenth of the time at most, however long it takes
TICK = 0.2  # seconds between two looks at whether it is due
LONGEST = 80  # characters of a value


@dataclass(frozen=True)
class Reading:
    """What was read last. What was drawn before stays if ``trouble`` says that a reading failed."""

    figure: Any = None
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()
    count: int = 0
    seconds: float = 0.0
    trouble: str | None = None


class NewestWindows:
    """The newest windows of a stream, read again while somebody looks, and once after its end."""

    def __init__(
        self, windows: Any, running: Callable[[], bool], most: int, every: float, options: Any
    ) -> None:
        self._windows, self._running = windows, running
        self._most, self._every, self._options = most, every, dict(options)
        self._asked, self._stopped = Event(), Event()
        self._next = 0.0
        self.latest = Reading()
        self.done = windows is None

    def start(self) -> None:
        """Read, from now on, whenever it is asked for and due."""
        if self._windows is not None:
            Thread(target=self._run, name="fanlight windows", daemon=True).start()

    def request(self) -> None:
        """Somebody looks."""
        self._asked.set()

    def stop(self) -> None:
        """Read no more."""
        self._stopped.set()
        self._asked.set()

    def _run(self) -> None:
        while not self.done:
            self._asked.wait()
            self._asked.clear()
            while self._running() and time.monotonic() < self._next:
                if self._stopped.wait(TICK):
                    return
            if self._stopped.is_set():
                return
            self.read()

    def read(self) -> None:
        """Read once."""
        ended, begin = not self._running(), time.monotonic()
        try:
            found = self._to_reading(self._read_table())
        except Exception as error:  # noqa: BLE001 - a user's function, and whatever Spark raises
            found = replace(self.latest, trouble=shorten_error(error))
        seconds = time.monotonic() - begin
        self._next = time.monotonic() + max(self._every, SHARE * seconds)
        self.latest = replace(found, seconds=seconds)
        self.done = ended

    def _read_table(self) -> pa.Table:
        found = self._windows() if callable(self._windows) else self._windows
        if getattr(found, "isStreaming", False) is True or not hasattr(found, "toArrow"):
            return table_of(found)
        if "window" in found.columns:
            found = found.orderBy(found["window"]["end"].desc())
        return found.limit(self._most).toArrow()

    def _to_reading(self, table: pa.Table) -> Reading:
        if not table.num_rows and "window" in table.column_names:
            return Reading()  # none yet
        zone = self._options["zone"]
        ends = Result(table, None, zone).read_bounds("end")
        order = np.argsort(ends, kind="stable")[::-1][: self._most]
        table = table.take(pa.array(order))
        head, rows = format_rows(Result(table, None, zone), SHOWN)
        read = Reading(self.latest.figure, head, rows, table.num_rows)
        try:
            figure = draw(table, **self._options).update_layout(uirevision="kept")
        except FanlightError as error:  # numbers can be shown that cannot be drawn
            return replace(read, trouble=shorten_error(error))
        return replace(read, figure=figure)


def format_rows(
    result: Result, most: int
) -> tuple[tuple[str, ...], tuple[tuple[str | int, ...], ...]]:
    """The first rows of a result as text, with both ends of each window by the clock."""
    few = result.table.slice(0, most)
    columns: list[list[Any]] = []
    for name in result.names:
        if name == "window":
            columns += [
                _format_times(result.to_axis(result.read_bounds(end)[:most]))
                for end in ("start", "end")
            ]
        else:
            columns.append([_format_value(one) for one in few[name].to_pylist()])
    head = []
    for name in result.names:
        head += [f"{name} start", f"{name} end"] if name == "window" else [name]
    return tuple(head), tuple(zip(*columns, strict=True))


def _format_times(places: Any) -> list[str]:
    if places.dtype.kind != "M":
        return [f"{one:,g}" for one in places]
    whole = places.astype("datetime64[s]")
    unit = "s" if (whole == places).all() else "us"
    texts: list[str] = places.astype(f"datetime64[{unit}]").astype(str).tolist()
    return [text.replace("T", " ") for text in texts]


def _format_value(one: Any) -> str | int:
    """A whole number as it is; of all else a text, a double in all its digits."""
    if isinstance(one, bool) or one is None:
        return {True: "yes", False: "no", None: "null"}[one]
    if isinstance(one, int):
        return one
    text = f"{one:,}" if isinstance(one, float) else str(one)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def check_source(windows: Any) -> Any:
    """What the windows can be read from, checked as far as can be before they are there."""
    if windows is None or callable(windows):
        return windows
    if getattr(windows, "isStreaming", False) is True:
        raise FanlightError(
            "windows=… is the stream itself, which cannot be read: write where it goes to, for "
            "example windows=spark.table(query.name) for a memory sink"
        )
    if hasattr(windows, "inputFiles") and windows.inputFiles():
        raise FanlightError(
            "windows=… is a DataFrame of the files that were there when it was made, and would "
            "never show a new one: give what makes it, for example "
            "windows=lambda: spark.read.parquet(path)"
        )
    return windows if hasattr(windows, "toArrow") else table_of(windows)
