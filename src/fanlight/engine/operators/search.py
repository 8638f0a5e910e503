"""Searches the windows of a page with a user's function, and reports each match once.

Rows have been left out from the middle of a window, but never between the first and the last row of
a match that is new (Theorem 1). So the function is given each run of rows in which none is missing;
or, on request, the whole window, in which the cut has made distant rows neighbours.

Earlier windows have already searched parts of a window: at level 0 its earlier batch; at a level
above also each two neighbouring batches of the level below of which the second is in its later
batch. A match inside a part is not new. There are two ways to tell:

- the function returns the times of the match's first and last row (``span``): arithmetic decides;
- otherwise the function is called again for the parts, and of equal matches as many are new as the
  window has beyond those in its parts. This happens only for windows that have matches at all.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, as_array, convert_times, ints, to_hashable
from fanlight.engine.operators.widening import Page, Windows
from fanlight.engine.plan.widening import Level
from fanlight.types import OnError, RowsAs

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Ranges = list[tuple[int, int]]


class DetectorError(RuntimeError):
    """The detector failed, or returned something that does not fit its schema."""


@dataclass(frozen=True)
class Place:
    """What a detector may know of the window it searches; passed as its second argument."""

    key: Mapping[str, Any]
    level: int
    start: Any  # a datetime in UTC; a number if the time column is a number
    end: Any
    cuts: tuple[int, ...]  # numbers of rows before which rows have been left out


@dataclass(frozen=True)
class PageFormat:
    """How to read pages and write results, the same for every kind of search."""

    levels: tuple[Level, ...]
    max_rows: int
    keys: tuple[tuple[str, str, pa.DataType], ...]  # (name, column of the page, type)
    columns: tuple[tuple[str, str, pa.DataType], ...]  # the same, of what a detector sees
    result: pa.Schema  # of a match
    numeric_result: pa.Schema  # ``result`` with times as whole numbers
    out: pa.Schema  # of an output row, with times as whole numbers
    records_errors: bool  # whether the output has a column ``error``
    has_timestamps: bool  # whether times are microseconds

    def rows_of(self, page: Page) -> pa.Table:
        """The rows of a page with the columns, names and types that a detector sees."""
        columns = [
            convert_times(as_array(page.rows[source]), kind) for _, source, kind in self.columns
        ]
        names = [name for name, _, _ in self.columns]
        schema = pa.schema([(name, kind) for name, _, kind in self.columns])
        return pa.table(columns, schema=schema) if names else page.rows.select([])

    def instant(self, number: int) -> Any:
        """A coordinate as a detector sees it: a datetime, or the number itself."""
        return _EPOCH + timedelta(microseconds=number) if self.has_timestamps else number

    def key_of(self, page: Page, row: int) -> dict[str, Any]:
        """The key of a row, by the names of the key columns."""
        return {
            name: convert_times(as_array(page.rows[source].slice(row, 1)), kind)[0].as_py()
            for name, source, kind in self.keys
        }

    def make_output(
        self,
        page: Page,
        owners: Ints,
        matches: pa.Table | None,
        errors: list[str | None] | None = None,
    ) -> pa.Table:
        """Output rows for matches; ``owners`` has the number of each one's window in the page."""
        windows, count = page.windows, len(owners)
        first = windows.ranges[windows.starts[owners], 0]
        columns = [as_array(page.rows[source]).take(pa.array(first)) for _, source, _ in self.keys]
        durations = np.array([level.duration for level in self.levels], np.int64)
        sizes = durations[windows.levels[owners]]
        ends = (windows.batches[owners] + 1) * sizes
        columns += [pa.array(ends - 2 * sizes), pa.array(ends)]
        columns += [pa.array(windows.levels[owners].astype(np.int32)), pa.array(ends)]
        if matches is None:
            columns += [pa.nulls(count, kind) for kind in self.numeric_result.types]
        else:
            columns += [
                convert_times(as_array(matches[field.name]), field.type)
                for field in self.numeric_result
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
    """Searches every window of a page with a user's function."""

    format: PageFormat
    function: Callable[..., Any]
    rows: RowsAs = "arrow"
    span: tuple[str, str] | None = None
    once: tuple[str, ...] = ()
    context: bool = False
    across_cuts: bool = False
    on_error: OnError = "fail"
    _warned: list[bool] = field(default_factory=list, compare=False)

    def __call__(self, page: Page) -> list[pa.Table]:
        """Output rows for the new matches in the windows of a page."""
        if not self._warned:
            self._warned.append(True)
            self.format.warn_if_dense(page)
        return _PageSearch(self, page).search_windows()


class _PageSearch:
    """The search of one page."""

    def __init__(self, search: FunctionSearch, page: Page) -> None:
        self.search, self.format, self.page = search, search.format, page
        self.times, self.starts = ints(page.rows["t"]), page.windows.starts
        self.rows = self.format.rows_of(page).combine_chunks()
        gaps = np.flatnonzero(np.asarray(as_array(page.rows["gap"])))
        self.runs = runs_of(page.windows, gaps)

    def search_windows(self) -> list[pa.Table]:
        """Output rows for the new matches, then for the windows whose search failed."""
        results, owners, failed = [], [], []
        for at, parts in self._rows_to_search():
            try:
                matches = self._new_matches(at, parts)
            except Exception as error:  # a user's function may raise anything
                message = self._error_message(at, error)
                if self.search.on_error == "fail":
                    raise DetectorError(message) from error
                failed.append((at, message))
                continue
            if matches is not None and len(matches):
                results.append(matches)
                owners += [at] * len(matches)
        tables = []
        if results:
            matches = pa.concat_tables(results).combine_chunks()
            tables.append(self.format.make_output(self.page, np.array(owners, np.int64), matches))
        if failed:
            places = np.array([at for at, _ in failed], np.int64)
            errors: list[str | None] = [message for _, message in failed]
            tables.append(self.format.make_output(self.page, places, None, errors))
        return tables

    def _rows_to_search(self) -> Iterator[tuple[int, list[Ranges]]]:
        """Yield the number of each window to search, and the parts of it: ranges of rows."""
        if self.search.across_cuts:
            for at in range(len(self.page.windows)):
                yield at, [self._ranges_of_window(at)]
        else:
            for at, runs in self.runs.new_runs(self.page.windows, self.times, self.format.levels):
                yield at, [[run] for run in runs]

    def _ranges_of_window(self, at: int) -> Ranges:
        """The rows of a window, as ranges."""
        windows = self.page.windows
        ranges: Ranges = windows.ranges[self.starts[at] : windows.ends[at]].tolist()
        return ranges

    def _error_message(self, at: int, error: Exception) -> str:
        """An error text that says what failed in which window."""
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
        start, end = level.window_of_batch(int(self.page.windows.batches[at]))
        cuts = tuple(np.cumsum(self.runs.lengths(at)[:-1]).tolist())
        key = self.format.key_of(self.page, self._ranges_of_window(at)[0][0])
        instant = self.format.instant
        return Place(key, level.number, instant(start), instant(end), cuts)

    def _call_function(self, at: int, spans: Ranges) -> pa.Table | None:
        """Call the function for some rows of a window; its result as a table of its schema."""
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
        searched = (self._new_matches_in(at, spans) for spans in parts)
        tables = [matches for matches in searched if matches is not None]
        return pa.concat_tables(tables) if tables else None

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
        """The matches that this window has to report, as their times tell."""
        low, high = int(self.times[spans[0][0]]), int(self.times[spans[-1][1] - 1])
        names = self.search.span or ()
        firsts, lasts = (convert_times(as_array(matches[name]), pa.int64()) for name in names)
        for first, last in zip(firsts.to_pylist(), lasts.to_pylist(), strict=True):
            if first is None or last is None or not low <= first <= last <= high:
                raise DetectorError(
                    f"a match has {' and '.join(names)} from {first} to {last}, which are not the "
                    "times of two of the rows that were given"
                )
        level, batch = owning_windows(self.format.levels, ints(firsts), ints(lasts))
        mine = self._level_and_batch(at)
        return matches.filter(pa.array((level == mine[0]) & (batch == mine[1])))

    def _filter_unseen(self, at: int, spans: Ranges, matches: pa.Table) -> pa.Table:
        """The matches that the window has beyond those in parts that were searched before."""
        names = list(self.search.once) or self.format.result.names
        mine = _hashable_records(matches, names)
        seen: Counter[Any] = Counter()
        parts = parts_of(self.format.levels, self.page.windows, at)
        # Parts follow one another: matches in several parts lie in the overlaps of neighbours.
        overlaps = [(other[0], one[1]) for one, other in pairwise(parts)]
        for sign, pieces in ((1, parts), (-1, overlaps)):
            for low, high in pieces:
                inside = self._rows_between(spans, low, high)
                if inside == spans:
                    return matches.slice(0, 0)  # the same rows have been searched before
                again = self._call_function(at, inside) if inside else None
                if again is not None:
                    for record in _hashable_records(again, names):
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
        """The rows in ``spans`` whose times are in ``[low, high)``."""
        inside = []
        for first, last in spans:
            times = self.times[first:last]
            a, b = np.searchsorted(times, (low, high))
            if a < b:
                inside.append((first + int(a), first + int(b)))
        return inside


def parts_of(levels: tuple[Level, ...], windows: Any, at: int) -> list[tuple[int, int]]:
    """The intervals of a window that earlier windows have searched, in order of time."""
    level, batch = levels[int(windows.levels[at])], int(windows.batches[at])
    start, end = level.window_of_batch(batch)
    parts = [(start, start + level.duration)]
    if level.number:
        step = level.duration_below
        parts += [
            (first - step, first + step) for first in range(start + level.duration, end, step)
        ]
    return parts


def _hashable_records(matches: pa.Table, names: list[str]) -> list[Any]:
    columns = [matches[name].to_pylist() for name in names]
    return [tuple(map(to_hashable, record)) for record in zip(*columns, strict=True)]


def as_table(returned: Any, schema: pa.Schema) -> pa.Table | None:
    """Convert what a detector returned to a table of its schema; None if it has no match."""
    if returned is None:
        raise DetectorError("it returned nothing (None); return [] where there is no match")
    if isinstance(returned, list) and not returned:
        return None  # the usual case
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


def owning_windows(levels: Sequence[Level], first: Ints, last: Ints) -> Ints:
    """The window that reports each match: its level and later batch; -1 if no window holds it.

    >>> from fanlight.engine.plan.widening import levels_of
    >>> from fanlight.engine.spec.widening import ProgressiveWidening
    >>> levels = levels_of(ProgressiveWidening(1, max_duration=8, max_rows=10))
    >>> owning_windows(levels, np.array([3, 3, 0]), np.array([4, 5, 100])).tolist()
    [[0, 1, -1], [4, 2, -1]]
    """
    windows = np.full((2, len(first)), -1, np.int64)
    for level in reversed(levels):
        batch = last // level.duration
        near = batch - first // level.duration <= 1
        windows[0, near], windows[1, near] = level.number, batch[near]
    return windows


def owned_matches(
    windows: Windows, levels: Sequence[Level], times: Ints, first: Ints, last: Ints
) -> tuple[Ints, Ints]:
    """The matches that the windows of a page report, and the window number of each.

    ``first`` and ``last`` are row numbers. Each key may have a window of the wanted level and
    batch; the one that holds these rows is that of the match's key.
    """
    wanted = owning_windows(levels, times[first], times[last])
    rows, window = len(times), np.full(len(first), -1, np.int64)
    lows = windows.ranges[windows.starts, 0]
    highs = windows.ranges[windows.ends - 1, 1]
    for level in levels:
        asked = np.flatnonzero(wanted[0] == level.number)
        there = np.flatnonzero(windows.levels == level.number)
        if not len(there):
            continue
        batches, place = np.unique(windows.batches[there], return_inverse=True)
        begins = place * rows + lows[there]
        order = np.argsort(begins)
        # Of the windows with the wanted batch, the last that begins no later than the match.
        wished = np.minimum(np.searchsorted(batches, wanted[1, asked]), len(batches) - 1)
        at = np.searchsorted(begins, wished * rows + first[asked], side="right", sorter=order) - 1
        window[asked] = there[order[np.maximum(at, 0)]]
    same = (wanted == [windows.levels[window], windows.batches[window]]).all(axis=0)
    holds = (window >= 0) & same & (lows[window] <= first) & (last < highs[window])
    reported = np.flatnonzero(holds)
    return reported, window[reported]


@dataclass(frozen=True)
class Runs:
    """Runs sorted by window: the number of the window, the first row, the row after the last."""

    owners: Ints
    lows: Ints
    highs: Ints

    def lengths(self, window: int) -> Ints:
        """The number of rows in each run of a window."""
        mine = slice(*np.searchsorted(self.owners, (window, window + 1)))
        lengths: Ints = self.highs[mine] - self.lows[mine]
        return lengths

    def new_runs(
        self, windows: Windows, times: Ints, levels: Sequence[Level]
    ) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The windows that may hold new matches, by number, each with the runs to search."""
        mine = owning_windows(levels, times[self.lows], times[self.highs - 1])
        new = mine == [windows.levels[self.owners], windows.batches[self.owners]]
        chosen = np.flatnonzero(new.all(axis=0))
        runs = list(zip(self.lows[chosen].tolist(), self.highs[chosen].tolist(), strict=True))
        numbers, begins = np.unique(self.owners[chosen], return_index=True)
        ends = np.append(begins, len(runs))[1:]
        bounds = zip(numbers.tolist(), begins.tolist(), ends.tolist(), strict=True)
        for number, first, last in bounds:
            yield number, runs[first:last]


def runs_of(windows: Windows, gaps: Ints) -> Runs:
    """All runs of windows; ``gaps`` are the numbers of rows before which rows are missing."""
    low, high = windows.ranges.T
    first, last = np.searchsorted(gaps, low + 1), np.searchsorted(gaps, high)
    cuts = last - first
    of = np.repeat(np.arange(len(low)), cuts + 1)
    at = np.arange(len(of)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
    # A gap is added at either end, so that the lookups below always find one.
    around = np.concatenate([[0], gaps, [0]])
    lows = np.where(at == 0, low[of], around[first[of] + at])
    highs = np.where(at == cuts[of], high[of], around[first[of] + at + 1])
    ranges = windows.ends - windows.starts
    return Runs(np.repeat(np.arange(len(windows)), ranges)[of], lows, highs)
