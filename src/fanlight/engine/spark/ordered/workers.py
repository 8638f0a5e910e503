"""Runs functions over Arrow in Spark's Python workers, and keeps their garbage collector quick.

A worker collects garbage after each task and looks at all objects for it. Most are those of loaded
modules, which stay: looking at them takes longer than many a task.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark import TaskContext

from fanlight.engine.plan.ways import INSTALL, PACKAGE, SAME_PYTHON, check_compiler
from fanlight.engine.spec.formats import RELEASE

if TYPE_CHECKING:  # a stream's first worker needs none of it
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# From record batches of a partition to record batches.
Function: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"

_spared = 0  # modules that were loaded when the collector was last told to pass over them


def run_in_workers(rows: DataFrame, function: Function, schema: StructType) -> DataFrame:
    """Send the rows of each partition through a function.

    Refused where numba is missing here; a worker that lacks it, or fanlight, says so by itself.
    """
    check_compiler("windows that Python workers compute")
    return rows.mapInArrow(_make_task(function), schema)


class Guard:
    """Unpickled in a Python worker, it checks that these packages are there, fanlight as here.

    What is pickled after it, in the same tuple, may be of fanlight. The check itself is defined in
    a function, because pickle then sends its code.
    """

    def __init__(self, *packages: str) -> None:
        self._packages = packages

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str, ...]]:
        def check_worker(*packages: str) -> None:
            import sys
            from importlib.util import find_spec

            lacking = [name for name in packages if find_spec(name) is None]
            if lacking:
                raise ModuleNotFoundError(
                    f"the Python of Spark's workers, {sys.executable}, has no "
                    f"{' and no '.join(lacking)}, which these windows need there; {write}"
                )
            from fanlight.engine.spec import formats

            if release != formats.RELEASE:
                raise RuntimeError(
                    f"the Python of Spark's workers, {sys.executable}, has fanlight "
                    f"{formats.RELEASE}, and these windows were asked with {release}; {write}"
                )

        release = RELEASE
        write = (
            f"before the session is made, write: {SAME_PYTHON}, so that workers run the Python of "
            f"the driver; on a cluster write, for that Python: {INSTALL}, or send an environment "
            "along that has it"
        )
        return check_worker, self._packages


def _make_task(function: Function) -> Function:
    """A function that a worker without fanlight can unpickle far enough to say what is missing."""
    guarded = (Guard("fanlight", PACKAGE, "pyarrow"), function)

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from fanlight.engine.spark.ordered.workers import freeze_modules

        yield from guarded[1](batches)
        freeze_modules()

    name = getattr(function, "__name__", type(function).__name__)
    task.__name__ = f"fanlight_{name.strip('_').lower()}"  # in Spark's plans and UI
    return task


def load_guarded() -> Callable[..., Any]:
    """The function that ``__reduce__`` of an object names, which goes with a guard, by its code."""

    def load(_: object, kind: Any, attributes: dict[str, Any]) -> Any:
        loaded = kind.__new__(kind)
        loaded.__dict__.update(attributes)
        return loaded

    return load


def freeze_modules() -> None:
    """Exclude loaded modules from garbage collection, if there are new ones since the last time.

    Called at the end of a task, when few other objects are alive; never in the user's driver.
    """
    global _spared  # noqa: PLW0603 - a worker has one collector
    if len(sys.modules) > _spared and TaskContext.get() is not None:
        _spared = len(sys.modules)
        gc.collect()  # garbage must go first, or it would be excluded, too
        gc.freeze()
