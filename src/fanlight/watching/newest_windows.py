"""The newest windows of a stream: read again and again by a thread, and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.engine.algebra.sql_text import quote
from fanlight.engine.arrow import is_of_spark, to_arrow
from fanlight.engine.spark.quiet import quietly
from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.draw import draw
from fanlight.plots.figures.given import table_of
from fanlight.plots.figures.result import FINAL, FRAMES, Result, find_open, has_final
from fanlight.watching.progress import shorten_error

SHOWN = 12  # rows in the page's table
SHARE = 10  # after a reading, wait so many times as long as it took
TICK = 0.2  # seconds between two checks whether to read again
LONGEST = 80  # characters of a value, of which the rest is cut off


@dataclass(frozen=True)
class Reading:
    """What was read and drawn last; ``trouble`` says why newer windows could not be."""

    figure: Any = None
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str | int, ...], ...] = ()
    count: int = 0
    opened: int = 0  # of these, those that are still open
    seconds: float | None = None  # how long it took; None until there is an answer
    trouble: str | None = None


class NewestWindows:
    """Reads the newest windows while a page is open, and once more after the query has ended."""

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
        """Start the thread: it reads when a page has asked and the last reading is old enough."""
        if self._windows is not None:
            Thread(target=self._run, name="fanlight windows", daemon=True).start()

    def request(self) -> None:
        """Ask for a new reading, since a page is open."""
        self._asked.set()

    def stop(self) -> None:
        """Stop reading."""
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
        """Read and draw the windows once."""
        ended, begin = not self._running(), time.monotonic()
        try:
            with quietly():
                reading = self._to_reading(self._read_table())
        except Exception as error:  # noqa: BLE001 - a user's function, and whatever Spark raises
            reading = replace(self.latest, trouble=shorten_error(error))
        seconds = time.monotonic() - begin
        self._next = time.monotonic() + max(self._every, SHARE * seconds)
        self.latest = replace(reading, seconds=seconds)
        self.done = ended

    def _read_table(self) -> pa.Table:
        windows = self._windows() if callable(self._windows) else self._windows
        if getattr(windows, "isStreaming", False) is True or not is_of_spark(windows):
            return keep_latest(table_of(windows))
        windows = _keep_latest_of_spark(windows)
        if "window" in windows.columns:
            windows = windows.orderBy(windows["window"]["end"].desc())
        return to_arrow(windows.limit(self._most))

    def _to_reading(self, table: pa.Table) -> Reading:
        if not table.num_rows and "window" in table.column_names:
            return Reading()  # no window yet
        zone = self._options["zone"]
        ends = Result(table, None, zone).read_bounds("end")
        order = np.argsort(ends, kind="stable")[::-1][: self._most]
        table = table.take(pa.array(order))
        result = Result(table, None, zone)
        head, rows = format_rows(result, SHOWN)
        opened = int(result.opened.sum())
        reading = Reading(self.latest.figure, head, rows, table.num_rows, opened)
        try:
            figure = draw(table, **self._options).update_layout(uirevision="kept")
        except FanlightError as error:  # the table can be shown, though not drawn
            return replace(reading, trouble=shorten_error(error))
        return replace(reading, figure=figure)


def format_rows(
    result: Result, most: int
) -> tuple[tuple[str, ...], tuple[tuple[str | int, ...], ...]]:
    """The head and the first rows of a result as text; a window is two columns of local times."""
    few = result.table.slice(0, most)
    columns: list[list[Any]] = []
    for name in result.names:
        if name == "window":
            columns += [
                _format_times(result.to_axis(result.read_bounds(end)[:most]))
                for end in ("start", "end")
            ]
        elif name == FINAL and has_final(few):
            columns.append(["still open" if one else "yes" for one in find_open(few)])
        else:
            columns.append([_format_value(one) for one in few[name].to_pylist()])
    head = []
    for name in result.names:
        head += [f"{name} start", f"{name} end"] if name == "window" else [name]
    return tuple(head), tuple(zip(*columns, strict=True))


def _naming_columns(names: Sequence[str]) -> list[str] | None:
    """The columns that identify a window emitted again. None if windows are emitted once.

    An open frame's window changes, so frames are told apart by their numbers.
    """
    if FINAL not in names or "window" not in names:
        return None
    several = [one for one in ("level", "query") if one in names]
    own = [FRAMES[0]] if FRAMES[0] in names else ["window", *several]
    return [*names[: names.index("window")], *own]


def keep_latest(table: pa.Table) -> pa.Table:
    """The rows without those of open windows for which another row came later."""
    naming = _naming_columns(table.column_names)
    if naming is None or not has_final(table):
        return table
    final = ~find_open(table)
    texts = [str(row) for row in table.select(naming).to_pylist()]
    place: list[tuple[Any, ...]] = [
        (n,) if FRAMES[0] in naming else (bool(final[n]), n) for n in range(len(texts))
    ]
    last: dict[str, tuple[Any, ...]] = {}
    for text, at in zip(texts, place, strict=True):
        last[text] = max(at, last.get(text, at))
    kept = [final[n] or last[text] == place[n] for n, text in enumerate(texts)]
    return table.filter(pa.array(kept, pa.bool_()))


def _keep_latest_of_spark(windows: Any) -> Any:
    """The same of a DataFrame, whose rows come in the order of its partitions."""
    from pyspark.sql.types import BooleanType

    from fanlight.engine.spark.sql import free_name

    naming = _naming_columns(windows.columns)
    if naming is None or windows.schema[FINAL].dataType != BooleanType():
        return windows
    number, last = (free_name(name, windows.columns) for name in ("number", "last"))
    of = [number] if FRAMES[0] in naming else [FINAL, number]
    place = f"struct({', '.join(map(quote, of))})"
    named = f"partition by {', '.join(map(quote, naming))}"
    numbered = windows.selectExpr("*", f"monotonically_increasing_id() as {quote(number)}")
    found = numbered.selectExpr("*", f"max({place}) over ({named}) as {quote(last)}")
    return found.where(f"{quote(FINAL)} or {place} = {quote(last)}").drop(number, last)


def _format_times(places: Any) -> list[str]:
    if places.dtype.kind != "M":
        return [f"{one:,g}" for one in places]
    whole = places.astype("datetime64[s]")
    unit = "s" if (whole == places).all() else "us"
    texts: list[str] = places.astype(f"datetime64[{unit}]").astype(str).tolist()
    return [text.replace("T", " ") for text in texts]


def _format_value(one: Any) -> str | int:
    """A whole number as it is, anything else as text; a double with all its digits."""
    if isinstance(one, bool) or one is None:
        return {True: "yes", False: "no", None: "null"}[one]
    if isinstance(one, int):
        return one
    text = f"{one:,}" if isinstance(one, float) else str(one)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def check_source(windows: Any) -> Any:
    """Check ``windows=``, which may be read only later, as far as possible now; and return it."""
    if windows is None or callable(windows):
        return windows
    if getattr(windows, "isStreaming", False) is True:
        raise FanlightError(
            "windows=… is the stream itself, which cannot be read: give what it is written to, for "
            "example windows=spark.table(query.name) for a memory sink"
        )
    if hasattr(windows, "inputFiles") and windows.inputFiles():
        raise FanlightError(
            "windows=… is a DataFrame of the files that were there when it was made, and would "
            "never show a new one: give a function that reads them anew, for example "
            "windows=lambda: spark.read.parquet(path)"
        )
    return windows if is_of_spark(windows) else table_of(windows)
