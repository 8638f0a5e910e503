"""The interface between operators and their hosts, and how an operator runs over a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from fanlight.engine.operators.arrow_tables import Ints, ints, join_batches
from fanlight.engine.operators.snapshots import Snapshot

BEGINNING = -(2**62)  # the watermark before the first row
COMPLETE = 2**62  # the watermark that follows the last row


class Operator(Protocol):
    """The running state of some keys."""

    def take(self, rows: pa.Table, watermark: int) -> pa.Table | None:
        """Take rows, in any order; return the results that the watermark completes.

        Rows are those up to the watermark, in microseconds, that have not been taken yet; if the
        query is ``eager``, later ones too. The watermark ``COMPLETE`` says that no row will follow.
        """

    @property
    def deadlines(self) -> Ints:
        """For each row of the snapshot's first table, the watermark at which it is due."""

    def snapshot(self) -> Snapshot:
        """The state as tables."""


class Query(Protocol):
    """The fixed setup of an operator: it can be pickled, and creates operators."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row; one is ``t``, its time in microseconds."""

    @property
    def eager(self) -> bool:
        """Whether the operator takes rows on arrival, not only once the watermark passes them."""

    @property
    def has_no_late_rows(self) -> bool:
        """Whether late rows have been left out before rows come here."""

    def start(self) -> Operator:
        """An operator without state."""

    def resume(self, snapshot: Snapshot) -> Operator:
        """The operator with the state of a snapshot."""


CHUNK = 10_000  # rows in an output batch
PART = 200_000  # rows that an operator takes at a time; more if it holds more


@dataclass(frozen=True)
class BatchOperator:
    """The function that Spark maps over the batches of a partition, to batches of schema ``out``.

    If rows come in the order of a column ``by``, an instant, the operator keeps of them what it
    keeps in a stream. Those of the last instant wait for the next part, which may have more of it.
    """

    query: Query
    out: pa.Schema
    by: str = ""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The operator's result for all rows of the partition."""
        for result in self.results(batches):
            found = result.select(self.out.names).cast(self.out)
            yield from found.to_batches(max_chunksize=CHUNK)

    def results(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """What the operator returns for each part, as it is."""
        operator = self.query.start()
        for rows, watermark in self._parts(batches, operator):
            result = operator.take(rows, watermark)
            if result is not None:
                yield result

    def _parts(
        self, batches: Iterable[pa.RecordBatch], operator: Operator
    ) -> Iterator[tuple[pa.Table, int]]:
        """Rows, and the watermark that follows them."""
        schema = self.query.schema
        rest = schema.empty_table()
        for part in join_batches(batches, lambda: max(PART, getattr(operator, "held", 0))):
            rows = pa.concat_tables([rest, part.select(schema.names).cast(schema)])
            if not self.by:
                yield rows.combine_chunks(), BEGINNING
                continue
            times = ints(rows[self.by].fill_null(BEGINNING))  # what has none comes first
            complete = int(np.searchsorted(times, max(int(times[-1]), BEGINNING + 1)))
            rest = rows.slice(complete)
            if complete:
                yield rows.slice(0, complete).combine_chunks(), int(times[complete - 1])
        yield rest.combine_chunks(), COMPLETE
