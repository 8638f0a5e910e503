"""The stateful processor of Spark for an operator: what a stream's Python workers unpickle.

The first batch of a stream starts a worker only to ask which state there will be. So the operator's
query stays packed until rows come, and nothing here loads numpy, pyarrow or a kernel before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming import (  # type: ignore[attr-defined]  # where Spark documents them
    StatefulProcessor,
    StatefulProcessorHandle,
)
from pyspark.sql.types import BinaryType, StructField, StructType

from fanlight.spark.ordered.packed import Packed

if TYPE_CHECKING:
    import pyarrow as pa

    from fanlight.operators.protocol import Operator, Query
    from fanlight.operators.snapshots import Fingerprint

FIRST = 1_000  # the time of a timer that waits for the watermark to move at all


STATE = "state"  # one name for all operators, so that each finds what another has left


class BucketProcessor(StatefulProcessor):
    """An operator over a group of keys: state in, rows in, results out, state out.

    ``asked`` is the fingerprint of the query: state that a query with another one left is refused.
    """

    def __init__(self, query: Query, asked: Fingerprint) -> None:
        self._packed = Packed(query)
        self._asked = dict(asked)
        self._handle: Any = None
        self._state: Any = None

    @cached_property
    def _query(self) -> Query:
        query: Query = self._packed.unpacked()
        return query

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the one state variable."""
        self._handle = handle
        schema = StructType([StructField("state", BinaryType())])
        self._state = handle.getValueState(STATE, schema)

    def handleInputRows(  # noqa: N802 - Spark's interface
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        from fanlight.operators.tables import typed

        del key
        operator = self._restored()
        operator.feed(typed(_columns(list(rows)), self._query.schema))
        yield from self._released(operator, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Release what the watermark, which has reached the timer, completes."""
        del key, expiredTimerInfo
        yield from self._released(self._restored(), timerValues)

    def close(self) -> None:
        """Nothing to close."""

    def _restored(self) -> Operator:
        from fanlight.operators.snapshots import older, opened

        kept = self._state.get() if self._state.exists() else None
        if kept is not None:
            return self._query.resume(opened(bytes(kept[0]), self._asked))
        if any(True for _ in self._handle.listTimers()):  # which come with state
            raise older()
        return self._query.start()

    def _released(self, operator: Operator, times: Any) -> Iterator[Row]:
        from fanlight.operators.snapshots import sealed

        watermark = times.getCurrentWatermarkInMs()
        # Until it moves, it is at 1970, and earlier rows may still come.
        moved = watermark > 0
        found = operator.release(watermark * 1000) if moved else None
        self._state.update((sealed(operator.snapshot(), self._asked),))
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        due = operator.next_time if moved else FIRST
        if due is not None:
            self._handle.registerTimer(-(-due // 1000))
        if found is not None:
            yield from _rows(found)


def _columns(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    """Rows as columns, all at once: to look up names in each Row is slow."""
    return dict(zip(rows[0].__fields__, zip(*rows, strict=True), strict=True))


def _rows(found: pa.Table) -> Iterator[Row]:
    names = found.column_names
    make = Row(*names)
    for batch in found.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield make(*values)
