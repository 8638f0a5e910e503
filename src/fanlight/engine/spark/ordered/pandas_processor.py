"""A stateful processor over data frames of pandas; a row is a packed table, so there are few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fanlight.engine.spark.ordered.processor import GroupProcessor

if TYPE_CHECKING:
    from pyspark.sql import Row


class PandasProcessor(GroupProcessor):
    """The same operator as of rows."""

    def feed(self, rows: Iterable[Any], milliseconds: int) -> Iterator[Any]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        each = (row for frame in rows for row in frame.itertuples(index=False))
        return _as_frames(super().feed(each, milliseconds))

    def wake(self, milliseconds: int) -> Iterator[Any]:
        """Release what is complete now that the watermark has reached the timer."""
        return _as_frames(super().wake(milliseconds))


def _as_frames(rows: Iterable[Row]) -> Iterator[Any]:
    """Packed results, a data frame for each."""
    import pyarrow as pa

    for row in rows:
        late, found = pa.array([row.late], pa.int64()), pa.array([row.found], pa.binary())
        yield pa.table({"late": late, "found": found}).to_pandas()
