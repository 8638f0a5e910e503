"""Stored pieces: read from files, kept in order of keys and time, and what windows of them hold."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from numpy.typing import NDArray

from fanlight.engine.algebra.aggregate import Aggregate
from fanlight.engine.algebra.monoids import Monoid
from fanlight.engine.algebra.split_sums import split_sum_of
from fanlight.engine.algebra.sql_text import find_places
from fanlight.engine.algebra.stored import NOTE, Stored
from fanlight.engine.arrow import is_of_spark, to_arrow
from fanlight.engine.operators.arrow_tables import (
    as_array,
    codes_of_rows,
    ints,
    python_values,
    to_hashable,
)
from fanlight.engine.plan.stored_pieces import TablePieces, end_of, find_pieces
from fanlight.engine.plan.trailing import EVER, Horizon, horizon_of
from fanlight.engine.spec.errors import FanlightError, refuse
from fanlight.engine.spec.trailing import Labelled, name_column

Ints = NDArray[np.int64]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Column:
    """The partials of one aggregate, and how its result is read off them."""

    label: str
    parts: Mapping[str, tuple[Runs, ...]]
    split: Mapping[str, str]
    places: Mapping[str, Any]
    lower: Any

    def answer(self, run: Run, start: int) -> Any:
        """The result of a run of pieces, in a window that begins at ``start``."""
        found: dict[str, Any] = {**self.places, "start": start}
        for part, runs in self.parts.items():
            values = [one(run) for one in runs]
            found[part] = values[0] if len(values) == 1 else self._add(part, *values)
        return self.lower(found)

    def _add(self, part: str, upper: Any, lower: Any) -> Any:
        sums = split_sum_of(self.split[part])
        if upper is None or sums is None:
            return None
        try:
            return sums.sum_values(upper, lower)
        except ValueError as error:
            msg = f"{self.label}: the sum {error} does not fit {self.split[part]}; cast the column"
            raise FanlightError(msg) from error


@dataclass(frozen=True, eq=False)
class Index:
    """Pieces in order of keys and time, and the windows that are asked of them."""

    pieces: TablePieces
    spec: Labelled
    horizons: tuple[Horizon, ...]
    kind: pa.DataType  # of the time
    key_types: tuple[pa.DataType, ...]
    places: Mapping[tuple[Any, ...], tuple[int, int]]  # the pieces of each key
    starts: Ints
    columns: tuple[Column, ...]
    names: tuple[str, ...]  # of the answers, in order

    @property
    def until(self) -> int:
        """The end of the last piece."""
        return int(self.starts.max()) + int(self.pieces.length)

    def answer(self, key: Any, at: Any) -> dict[str, Any]:
        """What :meth:`Server.ask` returns."""
        first, last = self.places.get(self._read_key(key), (0, 0))
        shift = 1 if self.spec.windows[0].closed == "right" else 0
        asked = self._read_time(at) + shift
        edge = asked - (asked - int(self.pieces.offset)) % int(self.pieces.length)
        starts, found = self.starts[first:last], {}
        for label, horizon in zip(self.spec.labels, self.horizons, strict=True):
            since = edge - shift - horizon.first
            begin = 0 if horizon.first == EVER else int(np.searchsorted(starts, since))
            end = int(np.searchsorted(starts, edge - shift - horizon.last, "right"))
            run = Run(first, last, first + min(begin, end), first + end)
            for column in self.columns:
                answer = column.answer(run, edge - shift - horizon.back)
                found[name_column(column.label, label)] = answer
        return {name: found[name] for name in self.names}

    def _read_key(self, given: Any) -> tuple[Any, ...]:
        names = self.pieces.by
        values = given if isinstance(given, tuple) else (given,)
        if len(values) != len(names):
            raise refuse(
                f"ask({given!r})",
                f"has {len(values)} keys where the pieces have {len(names)}: {list(names)}",
                "write a tuple of their values, in this order",
            )
        try:
            for value, kind in zip(values, self.key_types, strict=True):
                pa.scalar(value, kind)
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise refuse(
                f"ask({given!r})",
                "is not a key of these pieces",
                f"write a value of type {', '.join(map(str, self.key_types))}",
            ) from error
        key: tuple[Any, ...] = to_hashable(values)
        return key

    def _read_time(self, at: Any) -> int:
        timed = pa.types.is_timestamp(self.kind)
        zoned = timed and self.kind.tz is not None
        if at is None and timed:
            now = datetime.now(UTC)
            at = now if zoned else now.replace(tzinfo=None)
        if timed and isinstance(at, datetime) and (at.tzinfo is not None) == zoned:
            since = at - (_EPOCH if zoned else _EPOCH.replace(tzinfo=None))
            return since // timedelta(microseconds=1)
        if not timed and isinstance(at, int) and not isinstance(at, bool):
            return at
        one = "datetime.now(UTC)" if zoned else "datetime.now()" if timed else "10"
        why = "is not a time of these pieces"
        if timed and isinstance(at, datetime):
            why = f"has {'no' if zoned else 'a'} time zone, unlike the times of these pieces"
        raise refuse(f"ask(at={at!r})", why, f"write for example {one}")

    def time_of(self, coordinate: int) -> Any:
        """A coordinate as a time of the table."""
        if not pa.types.is_timestamp(self.kind):
            return coordinate
        epoch = _EPOCH if self.kind.tz else _EPOCH.replace(tzinfo=None)
        return epoch + timedelta(microseconds=coordinate)


def read_index(pieces: Any, spec: Labelled, own: tuple[Aggregate, ...]) -> Index:
    """Check the table and the windows, and put the pieces in order."""
    told = Described.of(read_table(pieces))
    window, cut, stored = find_pieces(told.notes, told.table.column_names)
    cut.check_trailing(spec)
    columns = {name: told.column(name) for name in (*cut.by, *(one.label for one in stored))}
    begins = told.column(window)
    if pa.types.is_struct(begins.type):
        begins, ends = begins.field("start"), begins.field("end")
    else:  # a database has no structs
        ends = told.column(end_of(window))
    starts = _coordinates(begins)
    length = int(cut.length)
    whole = ((starts - int(cut.offset)) % length == 0) & (_coordinates(ends) - starts == length)
    if not whole.all():
        raise refuse(
            f"serve({pieces!r})",
            "has pieces of another length than its schema tells",
            "write pieces of one kind into one folder",
        )
    keys = [columns[name] for name in cut.by]
    codes = codes_of_rows(keys)[0] if keys else np.zeros(len(starts), np.int64)
    order = np.lexsort((starts, codes))
    codes, starts = codes[order], starts[order]
    kind = "timestamp" if pa.types.is_timestamp(begins.type) else "integer"
    horizons = tuple(horizon_of(one, kind) for one in spec.windows)
    names = tuple(name_column(one.label, window) for one in stored for window in spec.labels)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise refuse(
            f"serve(pieces, {spec!r})",
            f"has two answers of the name {twice!r}",
            "label the windows otherwise",
        )
    scale = 1e6 if kind == "timestamp" else 1.0
    taken = pa.array(order)
    return Index(
        cut,
        spec,
        horizons,
        begins.type,
        tuple(key.type for key in keys),
        _places_of_keys([key.take(taken) for key in keys], codes),
        starts,
        tuple(
            _read_column(one, columns[one.label].take(taken), own, spec, scale) for one in stored
        ),
        names,
    )


def _coordinates(times: pa.Array) -> Ints:
    if not (pa.types.is_timestamp(times.type) or pa.types.is_integer(times.type)):
        raise refuse(
            f"pieces of type {times.type}",
            "have no whole number as time, so nothing looks back exactly",
            "write pieces over a timestamp or a whole number",
        )
    return ints(times.cast(pa.int64()))


def _places_of_keys(keys: list[pa.Array], codes: Ints) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Where the pieces of each key begin and end."""
    if not len(codes):
        return {}
    begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    ends = np.append(begins[1:], len(codes))
    first = pa.array(begins)
    values = [key.take(first).to_pylist() for key in keys]
    rows = zip(*values, strict=True) if values else [()] * len(begins)
    runs = zip(begins.tolist(), ends.tolist(), strict=True)
    return dict(zip(map(to_hashable, rows), runs, strict=True))


def _read_column(
    stored: Stored, column: pa.Array, own: tuple[Aggregate, ...], spec: Labelled, scale: float
) -> Column:
    partials = stored.find_aggregate(own).partials(stored.types)
    monoids = partials.fields.values()
    if partials.lower_values is None or not all(monoid.in_python for monoid in monoids):
        raise refuse(
            f"the column {stored.label!r}",
            f"has partials of {stored.aggregate}, which cannot be read in Python",
            "leave the column out, store an exact aggregate, or pass lower_values to your own",
        )
    if "start" in find_places(partials.lower) and any(one.range is None for one in spec.windows):
        raise refuse(
            f"the column {stored.label!r}",
            "counts time from the beginning of a window, and one of these has none",
            "give Trailing a range",
        )
    parts = {}
    for part, monoid in partials.fields.items():
        kept = column.field(part)
        halves = ("upper", "lower") if part in stored.split else ()
        arrays = [kept.field(half) for half in halves] or [kept]
        parts[part] = tuple(read_runs(one, monoid) for one in arrays)
    places = {**partials.strings, "scale": scale}
    return Column(stored.label, parts, stored.split, places, partials.lower_values)


MOST_KEYS = 10_000  # whose trees are kept


class Run(NamedTuple):
    """The pieces ``[begin, end)`` among those of their key, ``[first, last)``."""

    first: int
    last: int
    begin: int
    end: int


Runs = Callable[[Run], Any]  # the partial of a run; None if it has none


def read_runs(column: pa.Array, monoid: Monoid) -> Runs:
    """What combines the partials of a column: numbers by numpy, others in a tree for each key."""
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if number and monoid.combining:
        return _NumberRuns(column, monoid.combining)
    return _TreeRuns(column, monoid.combine_values)


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "least": np.fmin.reduce,
    "greatest": np.max,
}


class _NumberRuns:
    """Runs of numbers. NaN is greater than all other numbers, as in Spark."""

    def __init__(self, column: pa.Array, combining: str) -> None:
        self.valid = np.asarray(column.is_valid())
        self.all_valid = not column.null_count
        filled = column if self.all_valid else column.fill_null(0)
        self.values = filled.to_numpy(zero_copy_only=False)
        self.combine = _OPERATIONS[combining]
        # Sums that do not fit 64 bits were kept in two parts, so that these do.
        self.whole = self.values.dtype.kind == "i"

    def __call__(self, run: Run) -> Any:
        values = self.values[run.begin : run.end]
        if not self.all_valid:
            values = values[self.valid[run.begin : run.end]]
        if not len(values):
            return None
        found = self.combine(values.astype(np.int64) if self.whole else values)
        return found.item()


class _TreeRuns:
    """Runs of any partials: of each key a tree of the partials of 2, 4, 8, … pieces."""

    def __init__(self, column: pa.Array, combine: Callable[[Any, Any], Any]) -> None:
        self.column = column
        self.combine = combine
        self.tree = lru_cache(MOST_KEYS)(self._grow)

    def __call__(self, run: Run) -> Any:
        if run.begin >= run.end:
            return None
        levels = self.tree(run.first, run.last)
        left: Any = None
        right: Any = None
        low, high = run.begin - run.first, run.end - run.first
        for level in levels:
            if low >= high:
                break
            if low & 1:
                left, low = self.combine(left, level[low]), low + 1
            if high & 1:
                high -= 1
                right = self.combine(level[high], right)
            low, high = low >> 1, high >> 1
        return self.combine(left, right)

    def _grow(self, first: int, last: int) -> list[list[Any]]:
        level = python_values(self.column.slice(first, last - first))
        levels = [level]
        while len(level) > 1:
            pairs = range(0, len(level) - 1, 2)
            odd = level[-1:] if len(level) % 2 else []
            level = [self.combine(level[at], level[at + 1]) for at in pairs] + odd
            levels.append(level)
        return levels


_LOG = "_spark_metadata"  # where a stream lists the files that are complete


def read_table(pieces: Any) -> pa.Table:
    """The pieces, whose schema carries that of Spark."""
    if isinstance(pieces, pa.Table):
        return pieces
    if is_of_spark(pieces):
        if pieces.isStreaming:
            raise refuse(
                "serve(pieces) of a stream", "has no end", "write it, and serve its folder"
            )
        return to_arrow(pieces).replace_schema_metadata({SCHEMA: pieces.schema.json().encode()})
    if not isinstance(pieces, (str, os.PathLike)):
        raise refuse(
            f"serve({type(pieces).__name__})",
            "is neither a folder of Parquet, nor a table, nor a DataFrame",
            "write fl.serve('pieces', fl.Trailing('30 days'))",
        )
    try:
        return _read_files(Path(pieces))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise refuse(
            f"serve({str(pieces)[:200]!r})",
            f"is not a folder of Parquet files that can be read: {str(error).splitlines()[0]}",
            "write pieces there first: pieces(…).write.parquet(…)",
        ) from error


def _read_files(path: Path) -> pa.Table:
    """The table in a folder of Parquet files, in one file, or in a Delta folder."""
    if (path / "_delta_log").is_dir():
        return _read_delta(path)
    times = ds.ParquetReadOptions(coerce_int96_timestamp_unit="us")
    files: Any = path if not (path / _LOG).is_dir() else _list_complete(path)
    kind = ds.ParquetFileFormat(read_options=times)
    return ds.dataset(files, format=kind, partitioning="hive").to_table()


def _read_delta(path: Path) -> pa.Table:
    try:
        from deltalake import DeltaTable
    except ModuleNotFoundError as error:
        msg = (
            "serve of a Delta folder needs deltalake, which is not installed; write: "
            "pip install 'fanlight[delta]'"
        )
        raise FanlightError(msg) from error
    found: pa.Table = DeltaTable(path).to_pyarrow_table()
    return found


def _list_complete(path: Path) -> list[str]:
    """The files of a folder that a stream wrote, without those of a batch that it did not end."""
    logs = {log.name: log for log in (path / _LOG).iterdir() if log.name[0].isdigit()}
    numbers = {name: int(name.split(".")[0]) for name in logs}
    compact = [name for name in logs if name.endswith(".compact")]
    since = max((numbers[name] for name in compact), default=-1)
    kept = [n for n in logs if numbers[n] > since or n == f"{since}.compact"]
    files = []
    for name in sorted(kept, key=numbers.__getitem__):
        for line in logs[name].read_text().splitlines()[1:]:
            told = json.loads(line)
            if told["action"] == "add":
                files.append(str(path / Path(told["path"]).name))
    return files


SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"

_PLAIN: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "integer": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.string(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}  # fmt: skip


@dataclass(frozen=True)
class Described:
    """A table, with the metadata and Spark types of its columns.

    Files of Spark's tell it in a schema of its own, other tables with their columns, whose types
    are then as they are.
    """

    table: pa.Table
    notes: Mapping[str, str]
    types: Mapping[str, Any]

    @classmethod
    def of(cls, table: pa.Table) -> Described:
        """Read the metadata of the columns."""
        text = (table.schema.metadata or {}).get(SCHEMA)
        if text is not None:
            fields = json.loads(text)["fields"]
            told = {field["name"]: field["metadata"].get(NOTE) for field in fields}
            types = {field["name"]: field["type"] for field in fields}
        else:
            found = {
                field.name: (field.metadata or {}).get(NOTE.encode()) for field in table.schema
            }
            told = {name: None if note is None else note.decode() for name, note in found.items()}
            types = {}
        notes = {name: note for name, note in told.items() if note is not None}
        if text is None and not notes:
            raise refuse(
                "serve(pieces)",
                "has files without Spark's own schema, which tells what partials they have",
                "pass the folder that pieces(…).write.parquet(…) made, or a DataFrame",
            )
        return cls(table, notes, types)

    def column(self, name: str) -> pa.Array:
        """A column, of the type that Spark has it in; times are in microseconds, UTC."""
        column = self.table[name]
        if name in self.types:
            column = column.cast(arrow_type(self.types[name]))
        return as_array(column)


def arrow_type(kind: Any) -> pa.DataType:
    """The Arrow type of a type of Spark's, as its JSON has it; times are in microseconds, UTC."""
    if isinstance(kind, str):
        if kind.startswith("decimal("):
            precision, scale = kind[len("decimal(") : -1].split(",")
            return pa.decimal128(int(precision), int(scale))
        if kind not in _PLAIN:
            kind = kind.split("(")[0].split(" ")[0]  # texts with a collation or a length
            return _PLAIN["string"] if kind in ("char", "varchar", "string") else _refuse(kind)
        return _PLAIN[kind]
    if kind["type"] == "struct":
        return pa.struct([(part["name"], arrow_type(part["type"])) for part in kind["fields"]])
    if kind["type"] == "array":
        return pa.list_(arrow_type(kind["elementType"]))
    return _refuse(kind["type"])


def _refuse(kind: str) -> pa.DataType:
    raise refuse(f"a column of type {kind}", "cannot be served", "leave it out of the pieces")
