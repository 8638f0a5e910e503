"""What differs from one version of Spark to the next, in how it runs an operator."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import BinaryType, StructField, StructType

from fanlight.engine.spark.ordered.group_run import FOUND, GroupRun, as_frames, rows_of
from fanlight.engine.spark.sql import WATERMARK, expr, is_connect
from fanlight.engine.spark.supported import INSTALLED
from fanlight.engine.spec.errors import refuse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.stored_state import Fingerprint


NEEDS_ROCKSDB = INSTALLED >= (4, 0)  # for an operator's state; in 3.5 it is a value as any other


def run_groups(
    packed: DataFrame, query: Query, asked: Fingerprint, out: pa.Schema, mode: str, postponed: int
) -> DataFrame:
    """Groups of packed rows through an operator: ``late`` and ``found``, packed results.

    The operator is told of a watermark that is ``postponed`` by so many microseconds.
    """
    if INSTALLED < (4, 0):
        return WholeState(query, asked, out, postponed).over(packed, mode)
    from fanlight.engine.spark.ordered.processor import GroupProcessor, PandasProcessor

    groups, how = packed.groupBy("group"), (FOUND, mode, "eventTime")
    if INSTALLED >= (4, 1):
        return groups.transformWithState(GroupProcessor(query, asked, out, postponed), *how)
    if is_connect(packed):
        raise refuse(
            "a stream whose state is in Python, over Spark Connect 4.0,",
            "needs a stateful processor, which Spark has there since 4.1",
            "use a classic session, or Spark 4.1",
        )
    return groups.transformWithStateInPandas(PandasProcessor(query, asked, out, postponed), *how)


def check_place(what: str, *, aggregated: bool, collects: bool) -> None:
    """Refuse an operator where Spark cannot run one.

    It is over rows that Spark has aggregated, or beside another one, which collects late rows.
    """
    if INSTALLED >= (4, 0):
        return
    if aggregated:
        raise refuse(
            f"{what} in a stream",
            "would follow an aggregation, where Spark 3.5 allows no function with state",
            "use Spark 4.0 or newer, or store what is aggregated, and read that in a batch",
        )
    if collects:
        raise refuse(
            f"{what} in a stream with late='collect'",
            "would be a second function with state, where Spark 3.5 allows one in a query",
            "use Spark 4.0 or newer, or late='drop': fl.progress(query).late then counts them, but "
            "for those of windows over time, of which fl.progress(query).dropped counts groups",
        )


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
