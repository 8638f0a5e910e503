"""The state of many keys in buckets, of which only those are read and written that change.

Keys are in buckets by their hash. There is one bucket to begin with; when they have become too
large on average, one is split after the other (linear hashing: Litwin, VLDB 1980). Where each
micro-batch has rows of most keys, all is written anyway, and few buckets cost less than many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.packing import pack, unpack
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE, Operator, Query
from fanlight.engine.operators.snapshots import Snapshot, joined, split
from fanlight.engine.operators.store import KEYS, Store
from fanlight.engine.operators.tables import Ints, ints, like

HASH = "key_hash"
BUCKET_BYTES = 4_096  # bytes a bucket, on average
MOST = 4  # buckets are split once rows are of less than one in so many keys


def bucket_of(hashes: Ints, buckets: int) -> Ints:
    """The bucket of each hash, a number that is not negative."""
    highest = 1 << (buckets - 1).bit_length()
    found = hashes & (highest - 1)
    return np.where(found < buckets, found, found & (highest // 2 - 1))


def _hashes_of(rows: pa.Table) -> Ints:
    """The hash of each row's key; without keys they have one."""
    return ints(rows[HASH]) if HASH in rows.column_names else np.zeros(len(rows), np.int64)


def _parent_bucket(bucket: int, buckets: int) -> int:
    """Of so many buckets, the one that has the keys of a later one."""
    while bucket >= buckets:
        bucket -= 1 << (bucket.bit_length() - 1)
    return bucket


class Buckets:
    """The state of the keys of one group, for one operator at a time."""

    def __init__(
        self, query: Query, store: Store, groups: int, size: Sequence[int], deadlines: Ints
    ) -> None:
        self.query, self.store, self.groups = query, store, groups
        self.size, self.rows = size  # bytes of all buckets, rows of their first tables
        self.deadlines = deadlines  # the earliest of each bucket
        self.touched: list[int] = []
        # Of those touched that are in the store, bytes, and rows of the first table.
        self.stored: dict[int, tuple[int, int]] = {}
        self.empty = query.start().snapshot()
        self.schemas = [table.schema for table in self.empty.tables]

    @property
    def next_time(self) -> int:
        """The earliest time that a key waits for; ``COMPLETE`` if none does."""
        return int(self.deadlines.min())

    def _buckets_of(self, hashes: Ints) -> Ints:
        """The buckets of keys by their hash; its remainder says in which group they are."""
        return bucket_of((hashes & 0xFFFF_FFFF) // self.groups, len(self.deadlines))

    def open(self, rows: pa.Table, watermark: int, released: int) -> Operator:
        """The operator of all keys in the buckets of rows, and in those that are due."""
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
        return self.query.resume(joined(parts, self.empty, released))

    def read(self, numbers: Iterable[int]) -> Iterator[Snapshot]:
        """The state of the keys in some buckets."""
        for number in numbers:
            data = self.store.get(KEYS, number)
            if data is not None:
                tables = tuple(unpack(data, self.schemas))
                self.stored[number] = (len(data), len(tables[0]))
                yield Snapshot(tables, BEGINNING)

    def close(self, operator: Operator) -> None:
        """Keep the state of the operator that has been opened."""
        snapshot, deadlines = operator.snapshot(), operator.deadlines
        pairs = zip(self.empty.tables, snapshot.tables, strict=True)
        tables = tuple(like(empty, table) for empty, table in pairs)
        places = self._buckets_of(_hashes_of(tables[0]))
        self.deadlines[self.touched] = COMPLETE
        np.minimum.at(self.deadlines, places, deadlines)
        self.size -= sum(size for size, _ in self.stored.values())
        self.rows += len(tables[0]) - sum(rows for _, rows in self.stored.values())
        found = split(Snapshot(tables, snapshot.released), places)
        for number in self.touched:
            part = found.pop(number, None)
            if part is None:
                if number in self.stored:
                    self.store.remove(KEYS, number)
                continue
            data = pack(part.tables)
            self.size += len(data)
            self.store.put(KEYS, number, data)
        if found:
            raise AssertionError(found.keys())
