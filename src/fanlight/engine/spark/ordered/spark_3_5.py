"""Spark 3.5: a function of a group's rows and of its state, which is one value with one timer.

The state is in whatever store the session has. A group's is read and written whole.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import BinaryType, StructField, StructType

from fanlight.engine.spark.ordered.group_run import FOUND, GroupRun, as_frames, rows_of
from fanlight.engine.spark.sql import WATERMARK, expr

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STATE = StructType([StructField("state", BinaryType())])
# Spark wants an event time, and drops rows whose own has passed: a null never has. Which rows are
# late, the operator says.
_NEVER = "cast(null as timestamp)"


class WholeState(GroupRun):
    """An operator whose variables are one value of Spark's, by name and number."""

    _kept: dict[tuple[str, int], bytes]
    _state: Any
    _milliseconds: int

    def over(self, packed: DataFrame, mode: str) -> DataFrame:
        """Groups of packed rows through it: ``late`` and ``found``, packed results."""

        def run_group(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
            return self.call(key, frames, state)

        never = expr(packed, _NEVER).alias("never", metadata={WATERMARK: 0})
        groups = packed.select("*", never).groupBy("group")
        return groups.applyInPandasWithState(run_group, FOUND, _STATE, mode, "EventTimeTimeout")

    def call(self, key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:
        """Take the rows of a micro-batch, or wake up; release what the watermark completes."""
        del key
        self._state, self._milliseconds = state, state.getCurrentWatermarkMs()
        self._kept = pickle.loads(state.get[0]) if state.exists else {}  # noqa: S301 - its own
        if state.hasTimedOut:
            found = list(self.wake(self._milliseconds))
        else:
            found = list(self.feed(rows_of(frames), self._milliseconds))
        state.update((pickle.dumps(self._kept, pickle.HIGHEST_PROTOCOL),))
        self.close()
        yield from as_frames(found)

    def get(self, variable: str, number: int) -> bytes | None:
        """A value of the group, if there is one."""
        return self._kept.get((variable, number))

    def put(self, variable: str, number: int, value: bytes) -> None:
        """Keep a value of the group."""
        self._kept[variable, number] = value

    def remove(self, variable: str, number: int) -> None:
        """Forget a value of the group."""
        del self._kept[variable, number]

    def _has_timer(self) -> bool:
        return False  # no earlier format has been left by this version of Spark

    def _move_timer(self, before: int | None, after: int | None) -> None:
        del before  # Spark takes the timer off with each call
        if after is not None:
            # Spark wakes a group when the watermark has passed the timer, not yet when it is there.
            self._state.setTimeoutTimestamp(max(after - 1, self._milliseconds + 1))
