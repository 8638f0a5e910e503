"""Packs many rows into one value of bytes, for a stateful operator, and unpacks its results.

Spark takes each row through a stateful Python operator by itself, and bytes as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

from fanlight.engine.operators.arrow_tables import (
    Ints,
    ints,
    join_batches,
    pack,
    starts_of_runs,
    unpack,
)
from fanlight.engine.operators.buckets import HASH, balanced_group_numbers
from fanlight.engine.spark.fingerprint import PARTITIONS, tasks_of_setting

# Types, not text: a word of SQL, such as `group`, may be reserved in this session.
PACKED = StructType([
    StructField("group", IntegerType()),
    StructField("groups", IntegerType()),
    StructField("rows", BinaryType()),
])  # fmt: skip
MOST = 1_000_000  # rows that are packed at a time
BATCH = "streaming.sql.batchId"  # the task property with the number of the micro-batch
_SCHEMA = pa.schema([("group", pa.int32()), ("groups", pa.int32()), ("rows", pa.binary())])


@dataclass(frozen=True)
class Pack:
    """Packs rows, those of each group of keys into values of their own.

    There are as many groups as tasks, unless ``groups`` says otherwise. The first micro-batch has
    something for each of them: a group that exists goes with the watermark, so that a row of it is
    late, too, if it is the first.

    ``number`` is that of the operator: where plans are equal up to a shuffle, Spark would reuse
    that of the first, and give the other operator no watermark.
    """

    schema: pa.Schema
    groups: int | None = None
    number: int = 0

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed rows, one or more for each group that has rows."""
        task: Any = TaskContext.get()
        # The number of partitions in the checkpoint, which later settings do not change.
        tasks = tasks_of_setting(task.getLocalProperty(PARTITIONS))
        if task.getLocalProperty(BATCH) == "0" and task.partitionId() == 0:
            yield self._begin_groups(tasks)
        for rows in join_batches(batches, lambda: MOST):
            yield self._pack_rows(rows.cast(self.schema), tasks)

    def _begin_groups(self, tasks: int) -> pa.RecordBatch:
        """An empty value for each group, which begins it."""
        count = self.groups or tasks
        numbers = balanced_group_numbers(count, tasks)
        if HASH not in self.schema.names:
            numbers = numbers[:1]
        none = pack([self.schema.empty_table()])
        return _record_batch(numbers, count, [none] * len(numbers))

    def _pack_rows(self, rows: pa.Table, tasks: int) -> pa.RecordBatch:
        count = self.groups or tasks
        numbers = balanced_group_numbers(count, tasks)
        if HASH not in rows.column_names:
            which, starts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        else:
            group = (ints(rows[HASH]) & 0xFFFF_FFFF) % count
            order = np.argsort(group.astype(np.int32), kind="stable")
            rows, group = rows.take(pa.array(order)).combine_chunks(), group[order]
            starts = starts_of_runs(group)
            which = group[starts]
        lengths = np.diff(np.append(starts, len(rows)))
        pieces = zip(starts.tolist(), lengths.tolist(), strict=True)
        values = [pack([rows.slice(*piece)]) for piece in pieces]
        return _record_batch(numbers[which], count, values)


def _record_batch(numbers: Ints, count: int, values: Sequence[bytes]) -> pa.RecordBatch:
    columns = [
        pa.array(numbers, pa.int32()),
        pa.array(np.full(len(numbers), count), pa.int32()),
        pa.array(values, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


@dataclass(frozen=True)
class Unpack:
    """Unpacks results to rows."""

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of all packed values."""
        for batch in batches:
            for value in batch.column("found"):
                if value.is_valid:
                    (rows,) = unpack(value.as_buffer(), [self.schema])
                    yield from rows.to_batches()
