"""An operator over complete input, which it takes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from fanlight.engine.operators.protocol import COMPLETE, Query

CHUNK = 10_000  # rows that go out at a time


@dataclass(frozen=True)
class Complete:
    """The function that Spark maps over the batches of a partition."""

    query: Query
    out: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the operator makes of all rows."""
        schema = self.query.schema
        parts = [pa.Table.from_batches([batch]).select(schema.names) for batch in batches]
        rows = pa.concat_tables([schema.empty_table(), *(part.cast(schema) for part in parts)])
        found = self.query.start().take(rows, COMPLETE)
        if found is not None:
            yield from found.cast(self.out).to_batches(max_chunksize=CHUNK)
