"""Results as pictures need them: times, numbers, and which rows make a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fanlight.engine.spec import FanlightError
from fanlight.engine.spec.errors import advise_choice, list_some, refuse
from fanlight.plots.figures.clock import find_zone, local_time, to_utc
from fanlight.plots.figures.given import check_names, table_of
from fanlight.plots.figures.style import list_names
from fanlight.plots.figures.thinning import find_silence

Array = np.ndarray[Any, Any]
End = Literal["start", "end"]
Names = str | Sequence[str] | None

_LABELS = ("level", "query")  # columns that tell several windows of one result apart
FRAMES = ("frame_id", "rows", "closed")
FINAL = "final"  # false of windows that were given while they were still open
MATCHES = "found_at"
FIT = ("slope", "intercept", "r2")
OPENED = "windows that are still open are dotted: rows may yet change them"
KEYS = 8  # keys that are drawn unless more are asked for: as many as there are colours


@dataclass(frozen=True)
class Line:
    """The rows that make a line, in order of time, and the usual ``step`` from one to the next."""

    name: str
    rows: Array
    step: Any
    key: str = ""
    label: str = ""


class TimedTable:
    """A table with times, which a picture writes in ``zone``; or with numbers instead of times."""

    def __init__(self, given: Any, zone: str, naive: str | None) -> None:
        self.table = table_of(given)
        self.names = self.table.column_names
        self.notes: list[str] = []
        self.zone, self.naive = zone, naive
        find_zone("zone", zone)
        if naive is not None:
            find_zone("naive", naive)

    def check_columns(self, wanted: Sequence[str]) -> None:
        """Refuse names that the table has no column for."""
        for name in wanted:
            if not isinstance(name, str):
                raise refuse(f"{name!r}", "is not the name of a column", "write it as text")
            if name not in self.names:
                raise refuse(
                    f"{name!r}", "is not a column of the result", advise_choice(name, self.names)
                )

    def read_numbers(self, name: str) -> Array:
        """A column as doubles, NaN for null."""
        self.check_columns([name])
        kind = self.table.schema.field(name).type
        if not is_number(kind):
            raise FanlightError(f"column {name!r} is of type {kind}: name a column of numbers")
        numbers: Array = pc.cast(self.table[name], pa.float64(), safe=False).to_numpy().copy()
        endless = int(np.isinf(numbers).sum())
        if endless:
            self.notes.append(f"{endless:,} infinite values of {name} are left out")
            numbers[np.isinf(numbers)] = np.nan
        return numbers

    def key_texts(self, keys: Sequence[str], owner: str = "the result has") -> Array:
        """The key of each row as text; ``owner`` begins the error if a column of it is missing."""
        missing = [key for key in keys if key not in self.names]
        if missing:
            raise FanlightError(
                f"{owner} no column {missing[0]!r}, which is a key of the windows: give rows with "
                f"{', '.join(keys)}"
            )
        texts = [[str(one) for one in self.table[key].to_pylist()] for key in keys]
        if not texts:
            return np.full(self.table.num_rows, "", dtype=object)
        return np.array([", ".join(parts) for parts in zip(*texts, strict=True)], dtype=object)

    def note_thinned(self, name: str, things: str, kept: Array, whole: Array) -> None:
        """Add a note below the picture if not all things of a line are drawn."""
        if len(kept) < len(whole):
            self.notes.append(
                f"{name}: {len(kept):,} of {len(whole):,} {things} are drawn, the lowest and the "
                "highest of each stretch"
            )

    def read_instants(self, column: pa.ChunkedArray | pa.Array) -> Array:
        """A column of times as instants in UTC, with NaT for null; one of numbers as doubles."""
        if not pa.types.is_timestamp(column.type):
            numbers: Array = pc.cast(column, pa.float64(), safe=False).to_numpy(
                zero_copy_only=False
            )
            return numbers
        if column.type.tz is None:
            if self.naive is None:
                self.notes.append("times came without a zone and are read as UTC")
            elif self.naive != "UTC":
                self.notes.append(f"times came without a zone and are read as {self.naive}")
        times = pc.cast(column, pa.timestamp("us", column.type.tz), safe=False)
        micros: Array = times.cast(pa.int64()).to_numpy(zero_copy_only=False)
        missing = np.isnan(micros) if micros.dtype.kind == "f" else None
        instants = np.where(missing, 0, micros).astype("int64") if missing is not None else micros
        instants = instants.astype("datetime64[us]")
        if missing is not None:
            instants[missing] = np.datetime64("NaT")
        return to_utc(instants, self.naive or "UTC") if column.type.tz is None else instants

    def to_axis(self, places: Array) -> Array:
        """Instants in the local time of the zone, as an axis has them; numbers as they are."""
        return local_time(places, self.zone) if places.dtype.kind == "M" else places


class Result(TimedTable):
    """A result of windows as a table; or rows with a ``time``, each a window that lasts no time.

    ``keys`` are its columns of the key, ``label`` is ``level`` or ``query`` if it has such a
    column, and ``after_window`` are the columns after ``window``. ``known`` is true of rows that
    are drawn: all but those without a time.
    """

    def __init__(
        self,
        given: Any,
        by: Names,
        zone: str = "UTC",
        naive: str | None = None,
        time: str | None = None,
    ) -> None:
        super().__init__(given, zone, naive)
        self._ends: dict[End, Array] = {}
        self.time, self.things = time, "windows" if time is None else "rows"
        self.known = np.ones(self.table.num_rows, dtype=bool)
        if time is not None and self.names:
            self._take_rows(time, by)
        self.is_timed = _check_window_column(self.table)
        if not self.known.any():
            why = "no window was reported" if time is None else "none has a time"
            raise FanlightError(
                f"there are no rows to draw, since {why}: look at windows.rejected()"
            )
        place = self.names.index("window")
        self.keys = self.names[:place] if by is None else check_names("by", by)
        self.check_columns(self.keys)
        self.after_window = [name for name in self.names[place + 1 :] if name not in self.keys]
        several = MATCHES not in self.after_window and len(self.after_window) > 1 and time is None
        self.label = self.after_window[0] if several and self.after_window[0] in _LABELS else None
        self.opened = find_open(self.table) & (time is None)
        if self.opened.any():
            self.notes.append(OPENED)

    def _take_rows(self, time: str, by: Names) -> None:
        """Take rows with a time for windows that begin and end then."""
        if "window" in self.names:
            raise refuse(
                f"time={time!r}", "is for rows without windows", "leave it out: windows have times"
            )
        self.check_columns([time])
        kind = self.table.schema.field(time).type
        if not _is_time_or_number(kind):
            raise refuse(
                f"time={time!r}",
                f"is a column of type {kind}, which is neither a time nor a number",
                "name the column that you gave to fl.over",
            )
        if by is None:
            raise refuse(
                f"time={time!r} without by",
                "leaves open which rows make a line",
                "write by=['…'] with the columns of the key, or by=() if all rows make one",
            )
        given = self.table[time]
        numbers = is_number(kind)
        timed = pc.is_finite(given.cast(pa.float64(), safe=False)) if numbers else given.is_valid()
        self.known = timed.fill_null(fill_value=False).to_numpy()
        missing = int((~self.known).sum())
        if missing:
            self.notes.append(f"{missing:,} rows without a time are left out")
        times = given.combine_chunks()
        self.table = self.table.append_column(
            "window", pa.StructArray.from_arrays([times, times], ["start", "end"])
        )
        self.names = self.table.column_names

    def require_columns(self, names: Sequence[str], advice: str, where: str = "there is") -> None:
        """Refuse a result that lacks one of these columns after ``window``."""
        missing = [name for name in names if name not in self.after_window]
        if missing:
            raise FanlightError(f"{where} no column {missing[0]!r}: {advice}")

    def choose_value(self, asked: str | None, *others: str, otherwise: str = "") -> str:
        """The column to draw: as asked, or the first one after ``window`` that holds numbers.

        If there is none besides ``others``, it is ``otherwise``.
        """
        if asked is not None:
            self.check_columns([asked])
            return asked
        if self.time is not None:
            given = self.table.schema
            numbers = [name for name in self.names if is_number(given.field(name).type)]
            raise refuse(
                f"time={self.time!r} without value",
                "leaves open which feature is drawn",
                f"write value='…', one of {list_some(numbers)}",
            )
        passed = (self.label, *others, *((FINAL,) if has_final(self.table) else ()))
        for name in map(str, self.after_window):
            if name not in passed and is_number(self.table.schema.field(name).type):
                return name
        if otherwise in self.after_window:
            return otherwise
        raise FanlightError(
            f"there is no column of numbers after 'window', among {', '.join(self.names)}: ask for "
            "an aggregate that is a number, such as agg.count()"
        )

    def read_bounds(self, end: End) -> Array:
        """The start or the end of each window: an instant in UTC, or a number."""
        if not isinstance(end, str) or end not in ("start", "end"):
            raise refuse(
                f"at={end!r}", "is neither end of a window", "write at='start' or at='end'"
            )
        if end not in self._ends:
            column = pc.struct_field(self.table["window"].combine_chunks(), end)
            self._ends[end] = self.read_instants(column)
        return self._ends[end]

    def split_into_lines(
        self, value: str, end: End = "start", keys: Any = None, *, once: bool = False
    ) -> list[Line]:
        """Split the rows into lines, one per key and level or query.

        A level with windows of several lengths makes one line per length.

        ``keys`` are the keys to draw, or how many. With ``once``, two rows of a line at the same
        time are an error: a column that tells them apart must be missing among the keys.
        """
        times = self.read_bounds(end)
        order = np.argsort(times, kind="stable")
        order = order[self.known[order]]
        texts = self.key_texts(self.keys)
        chosen = self._choose_keys(texts[self.known], keys)
        lines = []
        for name, where in self._split_by_label(value):
            shared = None if self.time is not None else _least_step(times[where])
            for key in sorted(chosen):
                rows = order[(where & (texts == key))[order]]
                if not len(rows):
                    continue
                step = self._find_step(times[rows]) if shared is None else shared
                if once:
                    self._refuse_shared_times(times[rows], key)
                parts = [part for part in (key, name) if part]
                lines.append(Line(", ".join(parts) or value, rows, step, key, name))
        return sorted(lines, key=lambda line: line.key)

    def _find_step(self, times: Array) -> Any:
        """The step of rows, of which a line bridges as many as ten that are usual."""
        longest = find_silence(times)
        if longest is None:
            return (times[-1:] - times[:1]).sum()
        silent = "lines break where no row came for ten times the usual step"
        if (np.diff(times) > longest).any() and silent not in self.notes:
            self.notes.append(silent)
        return longest / 1.5  # which `mark_gaps` allows for

    def _choose_keys(self, texts: Array, asked: Any) -> set[str]:
        """The keys to draw: those that were asked for, or those with the most windows."""
        counted = Counter(texts.tolist())
        distinct = np.array(sorted(counted), dtype=object)
        counts = np.array([counted[one] for one in distinct])
        if asked is not None and (isinstance(asked, bool) or not isinstance(asked, int)):
            given = _list_keys(asked)
            wanted = [
                ", ".join(map(str, one)) if isinstance(one, (tuple, list)) else str(one)
                for one in given
            ]
            if not wanted:
                raise refuse(f"keys={asked!r}", "draws no key", "write their names, or how many")
            known = set(distinct.tolist())
            for one in wanted:
                if one not in known:
                    raise refuse(
                        f"keys={asked!r}",
                        f"asks for {one!r}, which is not a key of this result",
                        advise_choice(one, sorted(known)),
                    )
            return set(wanted)
        most = KEYS if asked is None else asked
        if most < 1:
            raise refuse(f"keys={asked!r}", "draws no key", "write keys=1 or more, or their names")
        if len(distinct) <= most:
            return set(distinct.tolist())
        best = np.argsort(-counts, kind="stable")[:most]
        names = sorted(distinct[best].tolist())
        self.notes.append(
            f"{most} of {len(distinct):,} keys are drawn, those with the most {self.things}: "
            f"{list_names(names)}"
        )
        return set(names)

    def _refuse_shared_times(self, times: Array, key: str) -> None:
        twice = np.flatnonzero(times[1:] == times[:-1])
        if not len(twice):
            return
        of = f" of key {key!r}" if key else ""
        raise FanlightError(
            f"two rows{of} are at {times[twice[0]]}, so that no line can go through both: name the "
            f"columns that tell rows apart, by=[…], among {list_some(self.names)}"
        )

    def _split_by_label(self, value: str) -> Iterator[tuple[str, Array]]:
        """Select the rows of each level or query and length, by name."""
        if self.label is None or value == self.label:
            yield "", np.ones(self.table.num_rows, dtype=bool)
            return
        numbers = np.array(self.table[self.label].to_pylist())
        lengths = self.read_bounds("end") - self.read_bounds("start")
        for number in np.unique(numbers):
            own = numbers == number
            several = np.unique(lengths[own])
            for length in several:
                more = f", {length.item()}" if len(several) > 1 else ""
                yield f"{self.label} {number}{more}", own & (lengths == length)


def has_final(table: pa.Table) -> bool:
    """Whether windows say if they are final, as those do that a stream gives early."""
    return FINAL in table.column_names and pa.types.is_boolean(table.schema.field(FINAL).type)


def find_open(table: pa.Table) -> Array:
    """Which windows are still open: rows may yet change them."""
    if not has_final(table):
        return np.zeros(table.num_rows, dtype=bool)
    return np.array([one is False for one in table[FINAL].to_pylist()], dtype=bool)


def _list_keys(keys: Any) -> list[Any]:
    """The keys that were asked for as a list."""
    if not isinstance(keys, (list, tuple, set, frozenset, range, np.ndarray, str)):
        raise refuse(f"keys={keys!r}", "names no keys", "write keys=['a', 'b'], or how many")
    return [keys] if isinstance(keys, str) else list(keys)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type can be drawn as numbers, null and booleans included."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in (*tests, pa.types.is_null))


def _least_step(times: Array) -> Any:
    """The shortest step between two different times."""
    steps = np.diff(np.unique(times))
    if len(steps):
        return steps.min()
    return np.timedelta64(1, "us") if times.dtype.kind == "M" else 1.0


def _check_window_column(table: pa.Table) -> bool:
    """Whether windows are of times, not of numbers; refuses a table without windows."""
    names = table.column_names
    if not names and not table.num_rows:
        raise FanlightError("there are no rows to draw, and no columns: give an Arrow table")
    kind = table.schema.field("window").type if "window" in names else None
    if kind is None and "frame_id" in names:
        raise FanlightError(
            "these are single rows, each with the number of its frame: write plots.frames(frames, "
            "signal=rows, time='ts'), with frames from frames() or agg()"
        )
    struct = kind is not None and pa.types.is_struct(kind)
    ends = [kind.field(place) for place in range(kind.num_fields)] if kind and struct else []
    if [one.name for one in ends] != ["start", "end"] or not _is_time_or_number(ends[0].type):
        raise FanlightError(
            "there is no column 'window' of times or numbers, with a start and an end: give what "
            "fl.over(...).agg(...) returned; or draw rows with features, which attach() returned, "
            "over their time: plots.draw(rows, 'spend_1h', time='ts', by='card')"
        )
    return bool(pa.types.is_timestamp(ends[0].type))


def _is_time_or_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind)) or (
        is_number(kind) and not pa.types.is_boolean(kind) and not pa.types.is_null(kind)
    )
