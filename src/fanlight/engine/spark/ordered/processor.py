"""The stateful processor of Spark 4, which calls it with the rows of a group, and on its timers.

PySpark 3.5 has none, so this file is imported only where one runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming import (  # type: ignore[attr-defined]  # where Spark documents them
    StatefulProcessor,
    StatefulProcessorHandle,
)
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from fanlight.engine.operators.stored_state import HEAD, KEYS, WAITING
from fanlight.engine.spark.ordered.group_run import GroupRun, as_frames, rows_of

if TYPE_CHECKING:
    from pyspark.sql import Row

# One layout for all operators, so that each finds what another has left; earlier formats had the
# head's variable alone.
_HEAD = "state"
_NUMBER = StructType([StructField("number", LongType())])
_VALUE = StructType([StructField("state", BinaryType())])


class GroupProcessor(GroupRun, StatefulProcessor):
    """An operator whose state is in variables of Spark's state store."""

    _handle: Any
    _head: Any
    _variables: dict[str, Any]

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._head = handle.getValueState(_HEAD, _VALUE)
        numbered = (WAITING, KEYS)
        self._variables = {name: handle.getMapState(name, _NUMBER, _VALUE) for name in numbered}

    def handleInputRows(  # noqa: N802 - Spark's interface
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        del key
        yield from self.feed(rows, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Release what is complete now that the watermark has reached the timer."""
        del key, expiredTimerInfo
        yield from self.wake(timerValues.getCurrentWatermarkInMs())

    def get(self, variable: str, number: int) -> bytes | None:
        """A value of the group, if there is one."""
        # None if there is no value; asking first would take another round trip.
        at = (number,)
        kept = self._head.get() if variable == HEAD else self._variables[variable].getValue(at)
        return None if kept is None else bytes(kept[0])

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Keep a value of the group."""
        if variable == HEAD:
            self._head.update((value,))
        else:
            self._variables[variable].updateValue((number,), (value,))

    def remove(self, variable: str, number: int) -> None:
        """Forget a value of the group."""
        self._variables[variable].removeKey((number,))

    def _has_timer(self) -> bool:
        return any(True for _ in self._handle.listTimers())

    def _move_timer(self, before: int | None, after: int | None) -> None:
        if before == after:
            return
        if before is not None:
            self._handle.deleteTimer(before)
        if after is not None:
            self._handle.registerTimer(after)


class PandasProcessor(GroupProcessor):
    """The same over data frames of pandas; a row is a packed table, so there are few."""

    def feed(self, rows: Iterable[Any], milliseconds: int) -> Iterator[Any]:
        """Take the rows of a micro-batch; release what the watermark completes."""
        return as_frames(super().feed(rows_of(rows), milliseconds))

    def wake(self, milliseconds: int) -> Iterator[Any]:
        """Release what is complete now that the watermark has reached the timer."""
        return as_frames(super().wake(milliseconds))
