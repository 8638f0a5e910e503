"""Runs an operator on complete input, all of it at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from fanlight.engine.operators.protocol import COMPLETE, Query

CHUNK = 10_000  # rows in an output batch


@dataclass(frozen=True)
class BatchOperator:
    """The function that Spark maps over the batches of a partition."""

    query: Query
    out: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The operator's result for all rows of the partition."""
        schema = self.query.schema
        parts = [pa.Table.from_batches([batch]).select(schema.names) for batch in batches]
        rows = pa.concat_tables([schema.empty_table(), *(part.cast(schema) for part in parts)])
        result = self.query.start().take(rows, COMPLETE)
        if result is not None:
            yield from result.cast(self.out).to_batches(max_chunksize=CHUNK)
