"""Functions over Arrow in Spark's Python workers, and what such a worker keeps between its tasks.

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
    """The rows through a function over each partition."""
    return rows.mapInArrow(_Task(function), schema)


@dataclass(frozen=True)
class _Task:
    function: Function

    @property
    def __name__(self) -> str:
        """How Spark's plans and its UI call it."""
        function: Any = self.function
        name = getattr(function, "__name__", type(function).__name__)
        return f"fanlight_{name.strip('_').lower()}"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from self.function(batches)
        freeze_modules()


def freeze_modules() -> None:
    """Have the collector pass over what is there, if modules were loaded since it last did.

    For the end of a task, when there is little else. Not outside of a task: a driver is its user's.
    """
    global _spared  # noqa: PLW0603 - a worker has one collector
    if len(sys.modules) > _spared and TaskContext.get() is not None:
        _spared = len(sys.modules)
        gc.collect()  # or garbage would stay, too
        gc.freeze()
