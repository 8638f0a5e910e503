"""Runs functions over Arrow in Spark's Python workers, and keeps their garbage collector quick.

A worker collects garbage after each task and looks at all objects for it. Most are those of loaded
modules, which stay: looking at them takes longer than many a task.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark import TaskContext

if TYPE_CHECKING:  # a stream's first worker needs none of it
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# From record batches of a partition to record batches.
Function: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"

_spared = 0  # modules that were loaded when the collector was last told to pass over them


def run_in_workers(rows: DataFrame, function: Function, schema: StructType) -> DataFrame:
    """Send the rows of each partition through a function."""
    return rows.mapInArrow(_Task(function), schema)


@dataclass(frozen=True)
class _Task:
    function: Function

    @property
    def __name__(self) -> str:
        """The name in Spark's plans and UI."""
        function: Any = self.function
        name = getattr(function, "__name__", type(function).__name__)
        return f"fanlight_{name.strip('_').lower()}"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from self.function(batches)
        freeze_modules()


def freeze_modules() -> None:
    """Exclude loaded modules from garbage collection, if there are new ones since the last time.

    Called at the end of a task, when few other objects are alive; never in the user's driver.
    """
    global _spared  # noqa: PLW0603 - a worker has one collector
    if len(sys.modules) > _spared and TaskContext.get() is not None:
        _spared = len(sys.modules)
        gc.collect()  # garbage must go first, or it would be excluded, too
        gc.freeze()
