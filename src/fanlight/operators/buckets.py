"""The state of many keys in buckets, of which only those are read and written that change.

Keys are in buckets by their hash. There is one bucket to begin with; when they have become too
large on average, one is split after the other (linear hashing: Litwin, VLDB 1980), so that nothing
ever has to be moved at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from fanlight.operators.packing import pack, unpack
from fanlight.operators.protocol import BEGINNING, COMPLETE, Operator, Query
from fanlight.operators.snapshots import Snapshot, joined, split
from fanlight.operators.store import KEYS, Store
from fanlight.operators.tables import Ints, ints, like

HASH = "key_hash"
SIZE = 4_096  # bytes a bucket, on average


def bucket_of(hashes: Ints, buckets: int) -> Ints:
    """The bucket of each hash, a number that is not negative."""
    highest = 1 << (buckets - 1).bit_length()
    found = hashes & (highest - 1)
    return np.where(found < buckets, found, found & (highest // 2 - 1))


def _source(bucket: int, buckets: int) -> int:
    """Of so many buckets, the one that has the keys of a later one."""
    while bucket >= buckets:
        bucket -= 1 << (bucket.bit_length() - 1)
    return bucket


class Buckets:
    """The state of the keys of one group, for one operator at a time."""

    def __init__(self, query: Query, store: Store, groups: int, size: int, deadlines: Ints) -> None:
        self.query, self.store, self.groups = query, store, groups
        self.size = size  # bytes of all buckets
        self.deadlines = deadlines  # the earliest of each bucket
        self.touched: list[int] = []
        self.there: dict[int, int] = {}  # those touched that are in the store, and their bytes
        self.empty = query.start().snapshot()
        self.schemas = [table.schema for table in self.empty.tables]

    @property
    def next_time(self) -> int:
        """The earliest time that a key waits for; ``COMPLETE`` if none does."""
        return int(self.deadlines.min())

    def _places(self, rows: pa.Table) -> Ints:
        """The bucket of each row's key."""
        if HASH not in rows.column_names:
            return np.zeros(len(rows), np.int64)
        # Groups are made of the remainder of the hash.
        return bucket_of((ints(rows[HASH]) & 0xFFFF_FFFF) // self.groups, len(self.deadlines))

    def open(self, rows: pa.Table, watermark: int, released: int) -> Operator:
        """The operator of all keys in the buckets of rows, and in those that are due."""
        count = len(self.deadlines)
        through = max(count, self.size // SIZE)
        wanted = set(np.flatnonzero(self.deadlines <= watermark).tolist())
        wanted.update(np.unique(self._places(rows)).tolist())
        wanted.update(_source(new, count) for new in range(count, through))
        self.there = {}
        parts = list(self.read(sorted(wanted)))
        self.deadlines = np.append(self.deadlines, np.full(through - count, COMPLETE))
        self.touched = [*sorted(wanted), *range(count, through)]
        return self.query.resume(joined(parts, self.empty, released))

    def read(self, numbers: Iterable[int]) -> Iterator[Snapshot]:
        """The state of the keys in some buckets."""
        for number in numbers:
            data = self.store.get(KEYS, number)
            if data is not None:
                self.there[number] = len(data)
                yield Snapshot(tuple(unpack(data, self.schemas)), BEGINNING)

    def close(self, operator: Operator) -> None:
        """Keep the state of the operator that has been opened."""
        snapshot, deadlines = operator.snapshot(), operator.deadlines
        pairs = zip(self.empty.tables, snapshot.tables, strict=True)
        tables = tuple(like(empty, table) for empty, table in pairs)
        places = self._places(tables[0])
        self.deadlines[self.touched] = COMPLETE
        np.minimum.at(self.deadlines, places, deadlines)
        self.size -= sum(self.there.values())
        found = split(Snapshot(tables, snapshot.released), places)
        for number in self.touched:
            part = found.pop(number, None)
            if part is None:
                if number in self.there:
                    self.store.remove(KEYS, number)
                continue
            data = pack(part.tables)
            self.size += len(data)
            self.store.put(KEYS, number, data)
        if found:
            raise AssertionError(found.keys())
