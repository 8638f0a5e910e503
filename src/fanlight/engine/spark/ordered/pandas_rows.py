"""Packed rows in data frames of pandas, as Spark takes and gives them before 4.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Row


def rows_of(frames: Iterable[Any]) -> Iterator[Any]:
    """The rows of data frames."""
    return (row for frame in frames for row in frame.itertuples(index=False))


def as_frames(rows: Iterable[Row]) -> Iterator[Any]:
    """Packed results, a data frame for each."""
    import pyarrow as pa

    for row in rows:
        late, found = pa.array([row.late], pa.int64()), pa.array([row.found], pa.binary())
        yield pa.table({"late": late, "found": found}).to_pandas()
