"""A batch's pass over Arrow data: sorted rows, a key's in one partition, through a function.

The function may be an operator, which takes rows part by part.

Rows go in and come out in plain types, as in a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from fanlight.engine.operators.arrow_tables import ints, join_batches
from fanlight.engine.operators.protocol import BEGINNING, COMPLETE, Query
from fanlight.engine.spark.ordered.arrow_types import arrow_schema
from fanlight.engine.spark.ordered.encoding import Out, from_plain, plain_schema, to_plain
from fanlight.engine.spark.ordered.workers import Function, run_in_workers

CHUNK = 10_000  # rows in an output batch of an operator
PART = 500_000  # rows that it takes at a time


class Passing:
    """Sends rows through a function, partition by partition, and brings its results back.

    ``texts`` is SQL for the columns that the function gets; rows are sorted by ``order``.
    """

    def __init__(
        self, rows: DataFrame, keys: Sequence[str], order: Sequence[str], texts: Sequence[str]
    ) -> None:
        placed = rows.repartition(*keys) if keys else rows.repartition(1)
        placed = placed.sortWithinPartitions(*order) if order else placed
        self._rows = placed.selectExpr(*texts)
        self.types = {f.name: f.dataType for f in self._rows.schema.fields}
        self.schema: pa.Schema = arrow_schema(plain_schema(list(self.types.items())))

    def run(self, function: Function, out: Out, more: Sequence[str] = ()) -> DataFrame:
        """Run the function; return its columns ``out`` in their own types, and ``more``.

        ``more`` is SQL over what the function returns.
        """
        return run_over_partitions(self._rows, self.types, function, out, more)


def run_over_partitions(
    rows: DataFrame,
    types: Mapping[str, DataType],
    function: Function,
    out: Out,
    more: Sequence[str] = (),
) -> DataFrame:
    """Send these columns of rows through a function, partition by partition."""
    results = run_in_workers(to_plain(rows, types), function, plain_schema(out))
    return from_plain(results, out, more)


@dataclass(frozen=True)
class BatchOperator:
    """The function that Spark maps over the batches of a partition.

    The operator takes rows part by part. If they come in the order of a column ``by``, an instant,
    it keeps of them what it keeps in a stream.
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
        for part in join_batches(batches, PART):
            rows = part.select(schema.names).cast(schema)
            yield rows, int(ints(rows[self.by])[-1]) - 1 if self.by else BEGINNING
        yield schema.empty_table(), COMPLETE
