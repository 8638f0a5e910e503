"""Runs an operator on complete input: all of it at once, or part by part in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from fanlight.engine.operators.arrow_tables import ints
from fanlight.engine.operators.protocol import COMPLETE, Query

CHUNK = 10_000  # rows in an output batch
PART = 500_000  # rows that an operator takes at a time, where they come in order


@dataclass(frozen=True)
class BatchOperator:
    """The function that Spark maps over the batches of a partition.

    If rows come in the order of a column ``by``, an instant, the operator takes them part by part,
    and keeps of them what it keeps in a stream.
    """

    query: Query
    out: pa.Schema
    by: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The operator's result for all rows of the partition."""
        operator = self.query.start()
        for rows, watermark in self._parts(batches):
            result = operator.take(rows, watermark)
            if result is not None:
                yield from result.cast(self.out).to_batches(max_chunksize=CHUNK)

    def _parts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.Table, int]]:
        """Rows, and the watermark that follows them."""
        schema = self.query.schema
        rows = schema.empty_table()
        for batch in batches:
            fresh = pa.Table.from_batches([batch]).select(schema.names).cast(schema)
            rows = pa.concat_tables([rows, fresh])
            if self.by and len(rows) >= PART:
                yield rows, int(ints(rows[self.by].slice(len(rows) - 1))[0]) - 1
                rows = schema.empty_table()
        yield rows, COMPLETE
