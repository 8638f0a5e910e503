"""A stateful processor over data frames of pandas; a row is a packed table, so there are few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fanlight.engine.spark.ordered.pandas_rows import as_frames, rows_of
from fanlight.engine.spark.ordered.processor import GroupProcessor


class PandasProcessor(GroupProcessor):
    """The same operator as of rows."""

    def feed(self, rows: Iterable[Any], milliseconds: int) -> Iterator[Any]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        return as_frames(super().feed(rows_of(rows), milliseconds))

    def wake(self, milliseconds: int) -> Iterator[Any]:
        """Release what is complete now that the watermark has reached the timer."""
        return as_frames(super().wake(milliseconds))
