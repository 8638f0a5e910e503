"""Progressive widening: pages of windows, and the operator that makes them of rows.

A page has many windows to search, packed together so that each row is stored once.

Of a batch, of any level, only the first and the last ``max_rows`` rows are needed. So all levels
share one table of sorted rows, the union of the rows that each level still needs. A row's ``gap``
says that rows directly before it have been dropped.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fanlight.engine.kernels.widening import KeptLevel, keep_rows, level_windows
from fanlight.engine.operators.arrow_tables import (
    Ints,
    argsort_rows,
    as_array,
    encode_keys,
    flags,
    from_arrow_stream,
    ints,
    starts_of_runs,
    to_arrow_stream,
    with_column,
    with_schema_of,
)
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.plan.widening import Level

FORMAT = 1
WORK = 200_000  # row visits per page: small enough to spread pages over tasks
_HEADER = struct.Struct("<BQQQ")  # format, bytes of the rows, windows, ranges


@dataclass(frozen=True)
class Windows:
    """Windows over sorted rows: key code, level, number of the later batch, row ranges."""

    codes: Ints
    levels: Ints
    batches: Ints
    ends: Ints  # window i has the ranges [ends[i - 1], ends[i])
    ranges: NDArray[np.int64]  # (lo, hi)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def starts(self) -> Ints:
        """The first range of each window."""
        return np.append(np.zeros(1, np.int64), self.ends[:-1])[: len(self.ends)]

    @property
    def lengths(self) -> Ints:
        """How many rows each window has."""
        before = np.append(0, np.cumsum(self.ranges[:, 1] - self.ranges[:, 0]))
        lengths: Ints = before[self.ends] - before[self.starts]
        return lengths

    def slice(self, low: int, high: int) -> Windows:
        """The windows with numbers in ``[low, high)``."""
        first = int(self.starts[low]) if high > low else 0
        last = int(self.ends[high - 1]) if high > low else 0
        return Windows(
            self.codes[low:high],
            self.levels[low:high],
            self.batches[low:high],
            self.ends[low:high] - first,
            self.ranges[first:last],
        )

    @classmethod
    def concatenate(cls, parts: list[Windows]) -> Windows:
        """Concatenate windows of several levels over the same rows; sort by key, level, batch."""
        codes = np.concatenate([part.codes for part in parts])
        levels = np.concatenate([part.levels for part in parts])
        batches = np.concatenate([part.batches for part in parts])
        counts = np.concatenate([part.ends - part.starts for part in parts])
        shift = np.cumsum([0, *(len(part.ranges) for part in parts[:-1])])
        begin = np.concatenate(
            [part.starts + move for part, move in zip(parts, shift, strict=True)]
        )
        ranges = np.concatenate([part.ranges for part in parts])
        order = np.lexsort((batches, levels, codes))
        counts, begin = counts[order], begin[order]
        ends = np.cumsum(counts)
        # Each range moves with its window.
        places = np.repeat(begin - (ends - counts), counts) + np.arange(int(counts.sum()))
        return cls(codes[order], levels[order], batches[order], ends, ranges[places])


@dataclass(frozen=True)
class Page:
    """Rows sorted by key and time, and windows over them."""

    rows: pa.Table  # keys, ``t``, payload, ``gap``: whether rows of the key before it are missing
    windows: Windows

    def pack(self) -> bytes:
        """The page as bytes."""
        rows, windows = to_arrow_stream(self.rows), self.windows
        header = _HEADER.pack(FORMAT, len(rows), len(windows), len(windows.ranges))
        numbers = (windows.codes, windows.levels, windows.batches, windows.ends, windows.ranges)
        return b"".join(
            [header, rows, *(np.ascontiguousarray(part, np.int64).tobytes() for part in numbers)]
        )

    @classmethod
    def unpack(cls, data: bytes) -> Page:
        """The page that was packed to ``data``."""
        version, size, windows, ranges = _HEADER.unpack_from(data)
        if version != FORMAT:
            msg = (
                f"a page of format {version} where this version of fanlight reads format {FORMAT}: "
                "the driver and the workers have different versions installed"
            )
            raise ValueError(msg)
        at = _HEADER.size + size
        rows = from_arrow_stream(memoryview(data)[_HEADER.size : at])
        parts = []
        for count in (windows, windows, windows, windows, 2 * ranges):
            parts.append(np.frombuffer(data, np.int64, count, at))
            at += 8 * count
        codes, levels, batches, ends, flat = parts
        return cls(rows, Windows(codes, levels, batches, ends, flat.reshape(-1, 2)))


def pages_of(rows: pa.Table, gaps: NDArray[np.bool_], windows: Windows) -> Iterator[Page]:
    """Split windows into pages of about ``WORK`` row visits each.

    ``gaps`` is true for rows that do not directly follow the one before: rows between are missing,
    or a new key begins.
    """
    work = np.cumsum(windows.lengths + 8)
    low = 0
    while low < len(windows):
        done = int(work[low - 1]) if low else 0
        high = max(int(np.searchsorted(work, done + WORK, "right")), low + 1)
        yield _make_page(rows, gaps, windows.slice(low, high))
        low = high


def _make_page(rows: pa.Table, gaps: NDArray[np.bool_], windows: Windows) -> Page:
    ranges = windows.ranges
    # Windows and rows are sorted by key, so only the rows between these two are needed.
    first, last = int(ranges[:, 0].min()), int(ranges[:, 1].max())
    change = np.zeros(last - first + 1, np.int64)
    np.add.at(change, ranges[:, 0] - first, 1)
    np.add.at(change, ranges[:, 1] - first, -1)
    used = np.cumsum(change[:-1]) > 0
    places = np.cumsum(np.append(0, used))
    gap = gaps[first:last] | np.append(False, ~used[:-1])
    mine = rows.slice(first, last - first)
    if not used.all():
        mine = mine.filter(pa.array(used))
    mine = mine.append_column("gap", pa.array(gap[used]))
    moved = places[ranges - first]
    return Page(mine, Windows(windows.codes, windows.levels, windows.batches, windows.ends, moved))


CHUNK = 200_000  # rows of sorted input that are handled at a time
_LIFE = pa.field("life", pa.int64())  # the time of the first row of a row's life
PAGE_SCHEMA = pa.schema([("part", pa.int32()), ("page", pa.binary())])


@dataclass(frozen=True)
class WideningQuery:
    """The fixed setup of the operator."""

    schema: pa.Schema  # a row: keys, ``t``, tiebreaks, ``hash``, payload
    keys: int
    tiebreaks: int
    levels: tuple[Level, ...]
    max_rows: int
    forget_after: int | None = None  # see operators/lives.py
    eager: ClassVar[bool] = False
    has_no_late_rows: ClassVar[bool] = False

    @property
    def key_names(self) -> list[str]:
        """The columns of the key."""
        return list(self.schema.names[: self.keys])

    @property
    def tiebreak_names(self) -> list[str]:
        """The columns that order rows of the same time."""
        return list(self.schema.names[self.keys + 1 : self.keys + 1 + self.tiebreaks])

    @property
    def page_names(self) -> list[str]:
        """The columns of a page's rows."""
        return [*self.key_names, "t", *self.schema.names[self.keys + 2 + self.tiebreaks :]]

    @property
    def stored_schema(self) -> pa.Schema:
        """The columns of a row in the state."""
        schema = self.schema.append(pa.field("gap", pa.bool_()))
        return schema if self.forget_after is None else schema.append(_LIFE)

    def start(self) -> Widening:
        """An operator without state."""
        return Widening(self)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function that Spark maps over the sorted rows of a partition, to pages."""
        for table in pages_from_sorted(self, iter(batches)):
            yield from table.to_batches()

    def resume(self, snapshot: Snapshot) -> Widening:
        """The operator as it was at a snapshot; its deadlines are known after ``take``."""
        operator = self.start()
        (operator.rows,), operator.released = snapshot.tables, snapshot.released
        return operator


class Widening:
    """The running state of some keys in a stream."""

    def __init__(self, query: WideningQuery) -> None:
        self.query = query
        self.released = BEGINNING
        self.rows = query.stored_schema.empty_table()
        self.deadlines: Ints = np.empty(0, np.int64)

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows; return pages of the windows that the watermark completes."""
        before, self.released = self.released, max(self.released, watermark)
        new = rows.append_column("gap", pa.array(np.zeros(len(rows), np.bool_)))
        if self.query.forget_after is not None:
            new = new.append_column(_LIFE, pa.nulls(len(rows), _LIFE.type))
        rows = pa.concat_tables([self.rows, with_schema_of(self.rows, new)]).combine_chunks()
        codes, count = _encode_keys_of(rows, self.query)
        order = argsort_rows(rows, codes, self.query.tiebreak_names, last=ints(rows["hash"]))
        rows, codes = rows.take(pa.array(order)).combine_chunks(), codes[order]
        forgotten = np.full(count, COMPLETE)
        if self.query.forget_after is not None:
            rows, codes, forgotten = number_lives(rows, codes, self.query.forget_after)
        prev = np.full(len(forgotten), before, np.int64)
        # A life that no row can go on with is complete, and so are all of its windows.
        over = forgotten <= self.released
        closed = np.where(over, COMPLETE, self.released)
        due = forgotten.copy()
        pages = pages_of_windows(self.query, rows, codes, prev, closed, due)
        packed = [page.pack() for page in pages]
        if over.any():
            stay = ~over[codes]
            rows, codes = rows.filter(pa.array(stay)).combine_chunks(), codes[stay]
        self.rows, of = drop_unneeded_rows(self.query, rows, codes, closed, due)
        self.deadlines = due[of]
        return page_table(packed) if packed else None

    def snapshot(self) -> Snapshot:
        """The state as tables."""
        return Snapshot((self.rows,), self.released)


def pages_from_sorted(
    query: WideningQuery, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.Table]:
    """Pages of complete input, which is sorted by key, time, tiebreaks and ``hash``.

    Input is handled in chunks of rows, so a single key with all rows needs no more memory than
    many keys.
    """
    held = query.stored_schema.empty_table()
    before = BEGINNING  # windows of the first key in ``held`` are out up to here
    waiting: list[pa.Table] = []
    size = 0
    for batch in batches:
        table = pa.Table.from_batches([batch]).cast(query.schema)
        waiting.append(table.append_column("gap", pa.array(np.zeros(len(table), np.bool_))))
        size += len(table)
        if size >= CHUNK:
            held, before, pages = _cut_chunk(query, [held, *waiting], before, last=False)
            waiting, size = [], 0
            yield from pages
    yield from _cut_chunk(query, [held, *waiting], before, last=True)[2]


def _cut_chunk(
    query: WideningQuery, tables: list[pa.Table], before: int, *, last: bool
) -> tuple[pa.Table, int, Iterator[pa.Table]]:
    rows = pa.concat_tables(tables).combine_chunks()
    if not len(rows):
        return rows, before, iter(())
    codes, _ = _encode_keys_of(rows, query)
    # Rows are sorted by key: a new code begins where the key changes.
    codes = np.cumsum(np.append(0, codes[1:] != codes[:-1])).astype(np.int64)
    count = int(codes[-1]) + 1
    prev, closed = np.full(count, BEGINNING), np.full(count, COMPLETE)
    prev[0] = before
    if not last:  # more rows of the last key, even of its last instant, may follow
        closed[-1] = max(int(ints(rows["t"])[-1]) - 1, int(prev[-1]))
    due = np.full(count, COMPLETE)
    pages = pages_of_windows(query, rows, codes, prev, closed, due)
    tables_of_pages = (page_table([page.pack()]) for page in pages)
    if last:
        return rows.slice(0, 0), before, tables_of_pages
    going_on = int(np.searchsorted(codes, count - 1))
    mine = rows.slice(going_on).combine_chunks()
    needed, _ = drop_unneeded_rows(
        query, mine, np.zeros(len(mine), np.int64), closed[-1:], due[-1:]
    )
    return needed, int(closed[-1]), tables_of_pages


def number_lives(rows: pa.Table, codes: Ints, forget_after: int) -> tuple[pa.Table, Ints, Ints]:
    """Sorted rows with their lives, the code of each, and when each life is forgotten.

    A life is known by the time of its first row. Of rows in the state it is known; those that have
    been dropped between them make no new one.
    """
    times, fresh = ints(rows["t"]), np.asarray(as_array(rows[_LIFE.name]).is_null())
    begins = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
    begins[1:] |= times[1:] - times[:-1] > forget_after
    known = np.where(fresh, times, ints(rows[_LIFE.name].fill_null(0)))
    life = known[np.maximum.accumulate(np.where(begins | ~fresh, np.arange(len(codes)), 0))]
    starts = starts_of_runs(codes, life)
    lengths = np.diff(np.append(starts, len(codes)))
    lives = np.repeat(np.arange(len(starts)), lengths)
    forgotten = times[starts + lengths - 1] + forget_after
    followed = np.append(codes[starts][1:] == codes[starts][:-1], False)[: len(starts)]
    forgotten[followed] = BEGINNING
    return with_column(rows, _LIFE.name, pa.array(life)), lives, forgotten


def pages_of_windows(
    query: WideningQuery, rows: pa.Table, codes: Ints, prev: Ints, closed: Ints, due: Ints
) -> Iterator[Page]:
    """Pages of the windows, of all levels, that end between two watermarks.

    Lowers ``due`` to the time at which each key's next window ends.
    """
    times, parts = ints(rows["t"]), []
    for level in query.levels:
        owners, batches, ends, ranges = level_windows(
            codes, times, prev, closed, level.duration, level.duration_below, query.max_rows, due
        )
        if len(owners):
            numbers = np.full(len(owners), level.number, np.int64)
            parts.append(Windows(owners, numbers, batches, ends, ranges))
    if not parts:
        return iter(())
    gaps = flags(rows["gap"]) | np.append(True, codes[1:] != codes[:-1])
    return pages_of(rows.select(query.page_names), gaps, Windows.concatenate(parts))


def drop_unneeded_rows(
    query: WideningQuery, rows: pa.Table, codes: Ints, closed: Ints, due: Ints
) -> tuple[pa.Table, Ints]:
    """Drop the rows that no later window needs; returns the others, and their key codes.

    Lowers ``due`` to the time at which each key's first row can be dropped.
    """
    times, keep = ints(rows["t"]), np.zeros(len(rows), np.bool_)
    levels = query.levels
    for level in levels:
        above = levels[level.number + 1].duration if level is not levels[-1] else 0
        rule = KeptLevel(level.duration, above, query.max_rows, level.number == 0)
        keep_rows(codes, times, closed, rule, keep, due)
    if keep.all():
        return rows, codes
    gaps = flags(rows["gap"]) | np.append(False, ~keep[:-1])
    stay = with_column(rows, "gap", pa.array(gaps)).filter(pa.array(keep))
    return stay.combine_chunks(), codes[keep]


def page_table(pages: Sequence[bytes]) -> pa.Table:
    """A table of packed pages, each with a number that decides which task searches it."""
    parts = [zlib.crc32(page) & 0x7FFF_FFFF for page in pages]
    return pa.table([pa.array(parts, pa.int32()), pa.array(pages, pa.binary())], schema=PAGE_SCHEMA)


def _encode_keys_of(rows: pa.Table, query: WideningQuery) -> tuple[Ints, int]:
    """The code of each row's key, and the number of keys."""
    keys = rows.select(query.key_names)
    codes, fresh = encode_keys(keys.slice(0, 0), keys)
    return codes, len(fresh)
