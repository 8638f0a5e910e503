"""An operator over complete input: fed with all rows, then released once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from fanlight.operators.protocol import COMPLETE, Query

CHUNK = 10_000  # rows that go out at a time


@dataclass(frozen=True)
class Complete:
    """The function that Spark maps over the batches of a partition."""

    query: Query
    out: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the operator makes of all rows."""
        operator = self.query.start()
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            operator.feed(rows.select(self.query.schema.names).cast(self.query.schema))
        found = operator.release(COMPLETE)
        if found is not None:
            yield from found.cast(self.out).to_batches(max_chunksize=CHUNK)
