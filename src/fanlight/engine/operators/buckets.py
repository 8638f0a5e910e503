"""Where the state of a key is: the hash of the key decides its group, and in that its bucket.

Groups have numbers that give each task of Spark as many of them. A micro-batch reads and writes
only the buckets that it touches. A group starts with one bucket; once buckets are too large on
average, they are split one after another (linear hashing: Litwin, VLDB 1980). Where each
micro-batch has rows of most keys, every bucket is written anyway, and few cost less than many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import (
    Ints,
    ints,
    pack,
    positions_in_runs,
    starts_of_runs,
    unpack,
    with_schema_of,
)
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE, Operator, Query
from fanlight.engine.operators.snapshots import Snapshot, concatenate_snapshots, split_snapshot
from fanlight.engine.operators.stored_state import KEYS, Store

HASH = "key_hash"
SEED = 42  # of Spark's hash
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
    """The state of a group's keys, for one operator at a time."""

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


@lru_cache
def balanced_group_numbers(groups: int, tasks: int) -> Ints:
    """A number for each group, chosen so that Spark assigns equally many groups to each task.

    Spark assigns a number to a task by its hash. Should Spark change the hash, only the balance
    would be lost.
    """
    quota = np.full(tasks, groups // tasks)
    quota[: groups % tasks] += 1
    parts: list[Ints] = []
    start, size = 0, 4 * max(groups, tasks) + 64
    while quota.any():
        numbers = np.arange(start, start + size)
        tasks_of = murmur3(numbers) % tasks
        order = np.argsort(tasks_of, kind="stable")
        rank = np.empty(size, np.int64)
        rank[order] = positions_in_runs(starts_of_runs(tasks_of[order]), size)
        chosen = rank < quota[tasks_of]
        parts.append(numbers[chosen])
        quota = quota - np.bincount(tasks_of[chosen], minlength=tasks)
        start += size
    return np.concatenate(parts)


def murmur3(numbers: Ints) -> Ints:
    """Murmur3 of 32-bit numbers, as Spark's ``hash`` computes it."""
    block = numbers.astype(np.uint32)
    block = _rotate_left(block * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = _rotate_left(np.uint32(SEED) ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed = mixed ^ np.uint32(4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    return (mixed ^ (mixed >> np.uint32(16))).astype(np.int32).astype(np.int64)


def _rotate_left(values: np.ndarray, by: int) -> np.ndarray:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))
