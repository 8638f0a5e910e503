"""What a result holds, as pictures need it: times, numbers, and which rows make a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fanlight.spec import FanlightError

Array = np.ndarray[Any, Any]
End = Literal["start", "end"]

_LABELS = ("level", "query")  # several windows in one result: levels, lists
FRAMES = ("frame_id", "rows", "closed")
MATCHES = "found_at"


@dataclass(frozen=True)
class Line:
    """Rows of a table, in the order of their times, and how far apart such windows begin or end."""

    name: str
    rows: Array
    apart: np.timedelta64


class Result:
    """A result as a table. ``label`` is the column that tells its levels or queries apart."""

    def __init__(self, given: Any, by: str | Sequence[str] | None) -> None:
        self.table = _table(given)
        self.names = self.table.column_names
        _check_window(self.table)
        place = self.names.index("window")
        self.keys = self.names[:place] if by is None else [by] if isinstance(by, str) else list(by)
        self._check(self.keys)
        self.after = [name for name in self.names[place + 1 :] if name not in self.keys]
        several = MATCHES not in self.after and len(self.after) > 1
        self.label = self.after[0] if several and self.after[0] in _LABELS else None

    def value(self, asked: str | None, *others: str) -> str:
        """The column to draw: as asked, or the first one after ``window`` that holds numbers."""
        if asked is not None:
            self._check([asked])
            return asked
        passed = (self.label, *others)
        for name in map(str, self.after):
            if name not in passed and _is_number(self.table.schema.field(name).type):
                return name
        raise FanlightError(
            f"no column after 'window' holds numbers, among {', '.join(self.names)}: aggregate "
            "something that is a number, such as agg.count()"
        )

    def numbers(self, name: str) -> Array:
        """A column as doubles, NaN for null."""
        self._check([name])
        kind = self.table.schema.field(name).type
        if not _is_number(kind):
            raise FanlightError(f"column {name!r} is of type {kind}: name a column of numbers")
        found: Array = pc.cast(self.table[name], pa.float64()).to_numpy()
        return found

    def instants(self, end: End) -> Array:
        """One end of each window, in UTC."""
        times = pc.struct_field(self.table["window"].combine_chunks(), end)
        times = times.cast(pa.timestamp("us", times.type.tz))
        found: Array = times.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return found.astype("datetime64[us]")

    def lines(self, value: str, end: End = "start") -> list[Line]:
        """A line for each key and level, or query; and length, where a level has several."""
        times = self.instants(end)
        order = np.argsort(times, kind="stable")
        keys = self._keys()
        found = []
        for name, where in self._sets(value):
            apart = _apart(times[where])
            for key in np.unique(keys[where]):
                rows = order[(where & (keys == key))[order]]
                parts = [part for part in (str(key), name) if part]
                found.append(Line(", ".join(parts) or value, rows, apart))
        return sorted(found, key=lambda line: str(keys[line.rows[0]]))

    def _keys(self) -> Array:
        texts = [[str(one) for one in self.table[key].to_pylist()] for key in self.keys]
        if not texts:
            return np.full(self.table.num_rows, "")
        return np.array([", ".join(parts) for parts in zip(*texts, strict=True)])

    def _sets(self, value: str) -> Iterator[tuple[str, Array]]:
        """The windows that follow one another: of one level or query, and of one length."""
        if self.label is None or value == self.label:
            yield "", np.ones(self.table.num_rows, dtype=bool)
            return
        numbers = np.array(self.table[self.label].to_pylist())
        lengths = self.instants("end") - self.instants("start")
        for number in np.unique(numbers):
            there = numbers == number
            several = np.unique(lengths[there])
            for length in several:
                more = f", {length.item()}" if len(several) > 1 else ""
                yield f"{self.label} {number}{more}", there & (lengths == length)

    def _check(self, wanted: Sequence[str]) -> None:
        for name in wanted:
            if name not in self.names:
                raise FanlightError(f"there is no column {name!r} among {', '.join(self.names)}")


def _apart(times: Array) -> np.timedelta64:
    """The least distance that occurs."""
    steps = np.diff(np.unique(times))
    return np.timedelta64(1, "us") if not len(steps) else steps.min()


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in (*tests, pa.types.is_null))


def _check_window(table: pa.Table) -> None:
    names = table.column_names
    if not names and not table.num_rows:
        raise FanlightError("there are no rows to draw, and no columns: give an Arrow table")
    kind = table.schema.field("window").type if "window" in names else None
    if kind is None or not pa.types.is_struct(kind) or not pa.types.is_timestamp(kind[0].type):
        raise FanlightError(
            "there is no column 'window' of times: give what fl.over(...).agg(...) returned over "
            "a timestamp"
        )


def _table(result: Any) -> pa.Table:
    if isinstance(result, pa.Table):
        return result
    if getattr(result, "isStreaming", False):
        raise FanlightError(
            "a stream has no end that could be drawn: write it to a table, and draw that"
        )
    if hasattr(result, "toArrow"):
        return result.toArrow()
    if hasattr(result, "iloc"):  # pandas, which need not be installed
        result = _rows(result)
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes)):
        raise FanlightError(
            f"a {type(result).__name__} cannot be drawn: give the DataFrame that agg() returned, "
            "its Arrow table, its pandas DataFrame, or its rows"
        )
    return pa.Table.from_pylist([_dict(row) for row in result])


def _rows(given: Any) -> list[dict[str, Any]]:
    """The rows of a pandas DataFrame, None for what is missing."""
    columns = [
        given[name].astype(object).where(given[name].notna(), None).tolist()
        for name in given.columns
    ]
    return [dict(zip(given.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _dict(row: Any) -> dict[str, Any]:
    if hasattr(row, "asDict"):
        row = row.asDict(recursive=True)
    if not isinstance(row, Mapping):
        raise FanlightError(f"a row is a {type(row).__name__}: give Rows or dicts")
    return {
        name: value.asDict() if hasattr(value, "asDict") else value for name, value in row.items()
    }
