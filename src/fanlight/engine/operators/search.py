"""Searching the windows of a page with a user's function, and reporting each match once.

From the middle of a window rows have been left out, but never between the first and the last row of
a match that is new (Theorem 1). So the function is given each run of rows between which nothing is
missing; or, if asked for, the whole window, with rows that the cut made neighbours.

A window at a level above 0 has parts that earlier windows have searched: its earlier batch, and
each two neighbouring batches of the level below that end in its later one. At level 0 it is the
earlier batch. A match within a part is not new. There are two ways to find out where a match is:

- the function says when its first and last row were (``span``); then arithmetic decides;
- or the function is called again, for the parts: of equal matches, as many are new as the window
  has more than its parts. It is called again only for windows in which it has found something.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.owners import owners
from fanlight.engine.operators.pages import Page
from fanlight.engine.operators.runs import runs_of
from fanlight.engine.operators.tables import Ints, frozen, ints, retyped, whole
from fanlight.engine.plan.widening import Level

RowsAs = Literal["arrow", "pandas", "dicts"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Ranges = list[tuple[int, int]]


class DetectorError(RuntimeError):
    """The detector failed, or returned what its schema does not say."""


@dataclass(frozen=True)
class Place:
    """What a detector may know of the window that it searches: its second argument."""

    key: Mapping[str, Any]
    level: int
    start: Any  # a datetime in UTC, or a number where the time is one
    end: Any
    cuts: tuple[int, ...]  # numbers of rows before which rows have been left out


@dataclass(frozen=True)
class PageFormat:
    """How pages are read and results written: what every kind of search has in common."""

    levels: tuple[Level, ...]
    max_rows: int
    keys: tuple[tuple[str, str, pa.DataType], ...]  # (name, column of the page, type)
    columns: tuple[tuple[str, str, pa.DataType], ...]  # the same of what a detector sees
    result: pa.Schema  # of a match
    numeric_result: pa.Schema  # the same with times as whole numbers
    out: pa.Schema  # of an output row, with times as whole numbers
    records_errors: bool  # whether the output has a column ``error``
    has_timestamps: bool  # whether times are microseconds

    def rows_of(self, page: Page) -> pa.Table:
        """A page's rows as a detector sees them."""
        found = [retyped(whole(page.rows[source]), kind) for _, source, kind in self.columns]
        names = [name for name, _, _ in self.columns]
        schema = pa.schema([(name, kind) for name, _, kind in self.columns])
        return pa.table(found, schema=schema) if names else page.rows.select([])

    def instant(self, number: int) -> Any:
        """A whole number as a time."""
        return _EPOCH + timedelta(microseconds=number) if self.has_timestamps else number

    def key_of(self, page: Page, row: int) -> dict[str, Any]:
        """The key of a row, under its own names."""
        return {
            name: retyped(whole(page.rows[source].slice(row, 1)), kind)[0].as_py()
            for name, source, kind in self.keys
        }

    def written(
        self,
        page: Page,
        owners: Ints,
        matches: pa.Table | None,
        errors: list[str | None] | None = None,
    ) -> pa.Table:
        """Output rows: for each match the number of its window in the page, and its fields."""
        windows, count = page.windows, len(owners)
        first = windows.ranges[windows.starts[owners], 0]
        columns = [whole(page.rows[source]).take(pa.array(first)) for _, source, _ in self.keys]
        durations = np.array([level.duration for level in self.levels], np.int64)
        sizes = durations[windows.levels[owners]]
        ends = (windows.batches[owners] + 1) * sizes
        columns += [pa.array(ends - 2 * sizes), pa.array(ends)]
        columns += [pa.array(windows.levels[owners].astype(np.int32)), pa.array(ends)]
        if matches is None:
            columns += [pa.nulls(count, kind) for kind in self.numeric_result.types]
        else:
            columns += [
                retyped(whole(matches[name]), kind)
                for name, kind in zip(self.numeric_result.names, self.numeric_result.types, strict=True)
            ]
        if self.records_errors:
            columns.append(pa.array(errors or [None] * count, pa.string()))
        return pa.table(columns, schema=self.out)

    def warn_if_dense(self, page: Page) -> None:
        """Warn if a first batch has more rows than Theorem 2 assumes."""
        windows = page.windows
        long = np.flatnonzero((windows.levels == 0) & (windows.lengths > self.max_rows))
        if not len(long):
            return
        times, most = ints(page.rows["t"]), 0
        for at in long.tolist():
            low, high = windows.ranges[windows.ends[at] - 1].tolist()
            start = int(windows.batches[at]) * self.levels[0].duration
            most = max(most, high - low - int(np.searchsorted(times[low:high], start)))
        if most > self.max_rows:
            warnings.warn(
                f"a first batch holds {most:,} rows of a key, more than max_rows={self.max_rows}: "
                "patterns are still found, but the bounds on memory and work do not hold; write a "
                "shorter first or a larger max_rows",
                RuntimeWarning,
                stacklevel=2,
            )


@dataclass(frozen=True)
class FunctionSearch:
    """The search by a user's function, called for every window of a page."""

    format: PageFormat
    function: Callable[..., Any]
    rows: RowsAs = "arrow"
    span: tuple[str, str] | None = None
    once: tuple[str, ...] = ()
    context: bool = False
    across_cuts: bool = False
    on_error: Literal["fail", "record"] = "fail"
    _warned: list[bool] = field(default_factory=list, compare=False)

    def __call__(self, page: Page) -> list[pa.Table]:
        """The new matches of a page's windows, as output rows."""
        if not self._warned:
            self._warned.append(True)
            self.format.warn_if_dense(page)
        run = _PageSearch(self, page)
        return run.tables()


class _PageSearch:
    """One page being searched."""

    def __init__(self, search: FunctionSearch, page: Page) -> None:
        self.search, self.format, self.page = search, search.format, page
        self.times, self.starts = ints(page.rows["t"]), page.windows.starts
        self.rows = self.format.rows_of(page).combine_chunks()
        gaps = np.flatnonzero(np.asarray(whole(page.rows["gap"])))
        self.runs = runs_of(page.windows, gaps)

    def tables(self) -> list[pa.Table]:
        found, owners, failed = [], [], []
        for at, parts in self._rows_to_search():
            try:
                matches = self._new_matches(at, parts)
            except Exception as error:  # whatever a user's function raises
                message = self._error_message(at, error)
                if self.search.on_error == "fail":
                    raise DetectorError(message) from error
                failed.append((at, message))
                continue
            if matches is not None and len(matches):
                found.append(matches)
                owners += [at] * len(matches)
        tables = []
        if found:
            matches = pa.concat_tables(found).combine_chunks()
            tables.append(self.format.written(self.page, np.array(owners, np.int64), matches))
        if failed:
            places = np.array([at for at, _ in failed], np.int64)
            errors: list[str | None] = [message for _, message in failed]
            tables.append(self.format.written(self.page, places, None, errors))
        return tables

    def _rows_to_search(self) -> Iterator[tuple[int, list[Ranges]]]:
        """The windows that are searched, by their numbers, and their parts: rows as ranges."""
        if self.search.across_cuts:
            for at in range(len(self.page.windows)):
                yield at, [self._ranges_of_window(at)]
        else:
            for at, runs in self.runs.new(self.page.windows, self.times, self.format.levels):
                yield at, [[run] for run in runs]

    def _ranges_of_window(self, at: int) -> Ranges:
        """The rows of a window."""
        windows = self.page.windows
        found: Ranges = windows.ranges[self.starts[at] : windows.ends[at]].tolist()
        return found

    def _error_message(self, at: int, error: Exception) -> str:
        """What went wrong, and in which window."""
        place = self._place_of_window(at)
        start, end = (
            bound.isoformat() if isinstance(bound, datetime) else bound
            for bound in (place.start, place.end)
        )
        key = ", ".join(f"{name}={value!r}" for name, value in place.key.items()) or "all rows"
        what = (
            str(error) if isinstance(error, DetectorError) else f"{type(error).__name__}: {error}"
        )
        return (
            f"the detector failed for {key}, level {place.level}, window [{start}, {end}): {what}"
        )

    def _place_of_window(self, at: int) -> Place:
        level = self.format.levels[int(self.page.windows.levels[at])]
        start, end = level.window(int(self.page.windows.batches[at]))
        cuts = tuple(np.cumsum(self.runs.lengths(at)[:-1]).tolist())
        key = self.format.key_of(self.page, self._ranges_of_window(at)[0][0])
        instant = self.format.instant
        return Place(key, level.number, instant(start), instant(end), cuts)

    def _call_function(self, at: int, spans: Ranges) -> pa.Table | None:
        """What the function returns for some rows of a window, as its schema says."""
        parts = [self.rows.slice(low, high - low) for low, high in spans]
        rows = parts[0] if len(parts) == 1 else pa.concat_tables(parts)
        given: Any = rows
        if self.search.rows == "pandas":
            given = rows.to_pandas()
        elif self.search.rows == "dicts":
            given = rows.to_pylist()
        if self.search.context:
            returned = self.search.function(given, self._place_of_window(at))
        else:
            returned = self.search.function(given)
        return as_table(returned, self.format.result)

    def _new_matches(self, at: int, parts: list[Ranges]) -> pa.Table | None:
        asked = (self._new_matches_in(at, spans) for spans in parts)
        found = [matches for matches in asked if matches is not None]
        return pa.concat_tables(found) if found else None

    def _level_and_batch(self, at: int) -> tuple[int, int]:
        windows = self.page.windows
        return int(windows.levels[at]), int(windows.batches[at])

    def _new_matches_in(self, at: int, spans: Ranges) -> pa.Table | None:
        matches = self._call_function(at, spans)
        if matches is None or not len(matches):
            return None
        if self.search.span is not None:
            return self._filter_owned(at, spans, matches)
        return self._filter_unseen(at, spans, matches)

    def _filter_owned(self, at: int, spans: Ranges, matches: pa.Table) -> pa.Table:
        """The matches that this window has to report, by their times."""
        low, high = int(self.times[spans[0][0]]), int(self.times[spans[-1][1] - 1])
        names = self.search.span or ()
        firsts, lasts = (retyped(whole(matches[name]), pa.int64()) for name in names)
        for first, last in zip(firsts.to_pylist(), lasts.to_pylist(), strict=True):
            if first is None or last is None or not low <= first <= last <= high:
                raise DetectorError(
                    f"a match has {' and '.join(names)} from {first} to {last}, which are not the "
                    "times of two of the rows that were given"
                )
        level, batch = owners(self.format.levels, ints(firsts), ints(lasts))
        mine = self._level_and_batch(at)
        return matches.filter(pa.array((level == mine[0]) & (batch == mine[1])))

    def _filter_unseen(self, at: int, spans: Ranges, matches: pa.Table) -> pa.Table:
        """The matches that the window has beyond those of the parts that were searched before."""
        names = list(self.search.once) or self.format.result.names
        mine = _hashable_records(matches, names)
        seen: Counter[Any] = Counter()
        parts = parts_of(self.format.levels, self.page.windows, at)
        # Parts follow one another, so what lies in several of them lies in neighbours' overlaps.
        overlaps = [(other[0], one[1]) for one, other in pairwise(parts)]
        for sign, pieces in ((1, parts), (-1, overlaps)):
            for low, high in pieces:
                inside = self._rows_between(spans, low, high)
                if inside == spans:
                    return matches.slice(0, 0)  # the same rows have been searched before
                found = self._call_function(at, inside) if inside else None
                if found is not None:
                    for record in _hashable_records(found, names):
                        seen[record] += sign
        fresh = Counter(mine)
        for record in fresh:
            fresh[record] -= max(seen[record], 0)
        keep = []
        for record in reversed(mine):  # of equal matches, the later ones are new
            keep.append(fresh[record] > 0)
            fresh[record] -= 1
        return matches.filter(pa.array(keep[::-1]))

    def _rows_between(self, spans: Ranges, low: int, high: int) -> Ranges:
        """The rows of a window from an instant on, and before another."""
        found = []
        for first, last in spans:
            times = self.times[first:last]
            a, b = np.searchsorted(times, (low, high))
            if a < b:
                found.append((first + int(a), first + int(b)))
        return found


def parts_of(levels: tuple[Level, ...], windows: Any, at: int) -> list[tuple[int, int]]:
    """The intervals of a window that earlier windows have searched, from left to right."""
    level, batch = levels[int(windows.levels[at])], int(windows.batches[at])
    start, end = level.window(batch)
    parts = [(start, start + level.duration)]
    if level.number:
        step = level.below
        parts += [
            (first - step, first + step) for first in range(start + level.duration, end, step)
        ]
    return parts


def _hashable_records(matches: pa.Table, names: list[str]) -> list[Any]:
    columns = [matches[name].to_pylist() for name in names]
    return [tuple(map(frozen, record)) for record in zip(*columns, strict=True)]


def as_table(returned: Any, schema: pa.Schema) -> pa.Table | None:
    """What a detector returned, checked against its schema; None for no match."""
    if returned is None:
        raise DetectorError("it returned nothing (None); return [] where there is no match")
    if isinstance(returned, list) and not returned:
        return None  # as most of them
    if isinstance(returned, pa.RecordBatch):
        returned = pa.Table.from_batches([returned])
    elif hasattr(returned, "to_dict") and hasattr(returned, "columns"):  # a pandas DataFrame
        returned = pa.Table.from_pandas(returned, preserve_index=False)
    if isinstance(returned, pa.Table):
        _check_names(returned.column_names, schema)
        columns = [_convert_column(returned[f.name], f) for f in schema]
        return pa.table(columns, schema=schema)
    if isinstance(returned, (str, bytes, Mapping)) or not isinstance(returned, Iterable):
        raise DetectorError(
            f"it returned {_shorten(returned)}; return a list of dicts, one a match, or a table"
        )
    matches = list(returned)
    if not matches:
        return None
    for match in matches:
        if not isinstance(match, Mapping):
            raise DetectorError(f"a match is {_shorten(match)}; give a dict of {schema.names}")
        _check_names(list(match), schema)
    columns = [_convert_column([match[f.name] for match in matches], f) for f in schema]
    return pa.table(columns, schema=schema)


def _check_names(names: list[Any], schema: pa.Schema) -> None:
    if set(names) != set(schema.names):
        extra = [name for name in names if name not in schema.names]
        missing = [name for name in schema.names if name not in names]
        wrong = [f"has {extra}, which the schema does not name"] if extra else []
        wrong += [f"lacks {missing}"] if missing else []
        raise DetectorError(f"a match {' and '.join(wrong)}; the schema says {schema.names}")


def _convert_column(values: Any, wanted: pa.Field) -> Any:
    try:
        if isinstance(values, list):
            return pa.array(values, wanted.type)
        return values if values.type == wanted.type else values.cast(wanted.type)
    except (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
        OverflowError,
    ) as error:
        raise DetectorError(
            f"a match's {wanted.name!r} is not of type {wanted.type}, as the schema says: {error}"
        ) from error


def _shorten(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
