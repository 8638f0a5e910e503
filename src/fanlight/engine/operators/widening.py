"""The operator of progressive widening: takes rows, returns pages of windows to search.

Of a batch, of any level, only the first and the last ``max_rows`` rows are needed. So all levels
share one table of sorted rows, the union of the rows that each level still needs. A row's ``gap``
says that rows directly before it have been dropped.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from fanlight.engine.kernels.widening import KeptLevel, keep_rows, level_windows
from fanlight.engine.operators.arrow_tables import (
    Ints,
    argsort_rows,
    as_array,
    encode_keys,
    flags,
    ints,
    starts_of_runs,
    with_column,
    with_schema_of,
)
from fanlight.engine.operators.pages import Page, Windows, pages_of
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE
from fanlight.engine.operators.snapshots import Snapshot
from fanlight.engine.plan.widening import Level

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
