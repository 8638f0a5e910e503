"""The state of many keys in buckets; a micro-batch reads and writes only the buckets it touches.

A key's hash decides its bucket. A group starts with one bucket; once buckets are too large on
average, they are split one after another (linear hashing: Litwin, VLDB 1980). Where each
micro-batch has rows of most keys, every bucket is written anyway, and few cost less than many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, ints, with_schema_of
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE, Operator, Query
from fanlight.engine.operators.snapshots import Snapshot, concatenate_snapshots, split_snapshot
from fanlight.engine.operators.store import KEYS, Store
from fanlight.engine.operators.table_bytes import pack, unpack

HASH = "key_hash"
BUCKET_BYTES = 4_096  # average size of a bucket before buckets are split
MOST = 4  # split buckets only if a micro-batch has rows of fewer than one key in MOST


def bucket_of(hashes: Ints, buckets: int) -> Ints:
    """The bucket of each hash; hashes are not negative."""
    highest = 1 << (buckets - 1).bit_length()
    numbers = hashes & (highest - 1)
    return np.where(numbers < buckets, numbers, numbers & (highest // 2 - 1))


def _hashes_of(rows: pa.Table) -> Ints:
    """The hash of each row's key; 0 for every row if the query has no keys."""
    return ints(rows[HASH]) if HASH in rows.column_names else np.zeros(len(rows), np.int64)


def _parent_bucket(bucket: int, buckets: int) -> int:
    """The bucket, among the first ``buckets``, whose split creates ``bucket``."""
    while bucket >= buckets:
        bucket -= 1 << (bucket.bit_length() - 1)
    return bucket


class Buckets:
    """The state of the keys of one group, for one operator at a time."""

    def __init__(
        self, query: Query, store: Store, groups: int, size: Sequence[int], deadlines: Ints
    ) -> None:
        self.query, self.store, self.groups = query, store, groups
        self.size, self.rows = size  # of all buckets: bytes, and rows of their first tables
        self.deadlines = deadlines  # the earliest deadline in each bucket
        self.touched: list[int] = []
        # Of the touched buckets that were in the store: bytes, and rows of the first table.
        self.stored: dict[int, tuple[int, int]] = {}
        self.empty = query.start().snapshot()
        self.schemas = [table.schema for table in self.empty.tables]

    @property
    def next_time(self) -> int:
        """The earliest deadline of any key; ``COMPLETE`` if no key has one."""
        return int(self.deadlines.min())

    def _buckets_of(self, hashes: Ints) -> Ints:
        """The bucket of each hash: of the quotient, as the remainder chose the group of keys."""
        return bucket_of((hashes & 0xFFFF_FFFF) // self.groups, len(self.deadlines))

    def load(self, rows: pa.Table, watermark: int, released: int) -> Operator:
        """Load the keys of all buckets that rows belong to or that are due, as one operator."""
        count = len(self.deadlines)
        hashes = np.unique(_hashes_of(rows))
        sparse = MOST * len(hashes) < self.rows
        through = max(count, self.size // BUCKET_BYTES) if sparse else count
        wanted = set(np.flatnonzero(self.deadlines <= watermark).tolist())
        wanted.update(self._buckets_of(hashes).tolist())
        wanted.update(_parent_bucket(new, count) for new in range(count, through))
        self.stored = {}
        parts = list(self.read(sorted(wanted)))
        self.deadlines = np.append(self.deadlines, np.full(through - count, COMPLETE))
        self.touched = [*sorted(wanted), *range(count, through)]
        return self.query.resume(concatenate_snapshots(parts, self.empty, released))

    def read(self, numbers: Iterable[int]) -> Iterator[Snapshot]:
        """Read the state of some buckets; empty ones are left out."""
        for number in numbers:
            data = self.store.get(KEYS, number)
            if data is not None:
                tables = tuple(unpack(data, self.schemas))
                self.stored[number] = (len(data), len(tables[0]))
                yield Snapshot(tables, BEGINNING)

    def save(self, operator: Operator) -> None:
        """Write the state of the operator that ``load`` returned back to its buckets."""
        snapshot, deadlines = operator.snapshot(), operator.deadlines
        pairs = zip(self.empty.tables, snapshot.tables, strict=True)
        tables = tuple(with_schema_of(empty, table) for empty, table in pairs)
        places = self._buckets_of(_hashes_of(tables[0]))
        self.deadlines[self.touched] = COMPLETE
        np.minimum.at(self.deadlines, places, deadlines)
        self.size -= sum(size for size, _ in self.stored.values())
        self.rows += len(tables[0]) - sum(rows for _, rows in self.stored.values())
        parts = split_snapshot(Snapshot(tables, snapshot.released), places)
        for number in self.touched:
            part = parts.pop(number, None)
            if part is None:
                if number in self.stored:
                    self.store.remove(KEYS, number)
                continue
            data = pack(part.tables)
            self.size += len(data)
            self.store.put(KEYS, number, data)
        if parts:
            raise AssertionError(parts.keys())
