"""The stateful processor that runs an operator in a stream's Python workers.

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
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from fanlight.engine.operators.store import HEAD, KEYS, WAITING
from fanlight.engine.spark.ordered.pickled import Pickled
from fanlight.engine.spark.ordered.workers import freeze_modules

if TYPE_CHECKING:
    import pyarrow as pa

    from fanlight.engine.operators.group import Group
    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.state_header import Fingerprint

FIRST = 1_000  # a timer at this time waits for the first watermark
MOST = 100_000  # rows of a result that leave as one value

# One layout for all operators, so that each finds what another has left; earlier formats had the
# head's variable alone.
_HEAD = "state"
_NUMBER = StructType([StructField("number", LongType())])
_VALUE = StructType([StructField("state", BinaryType())])


class GroupProcessor(StatefulProcessor):
    """An operator over a group of keys: packed rows in, packed results of the schema ``out`` out.

    ``asked`` is the fingerprint of the query: state that a query with another one left is refused.
    """

    def __init__(self, query: Query, asked: Fingerprint, out: pa.Schema) -> None:
        self._packed = Pickled((query, out))
        self._asked = dict(asked)
        self._handle: Any = None
        self._head: Any = None
        self._variables: dict[str, Any] = {}

    @cached_property
    def _setup(self) -> tuple[Query, pa.Schema]:
        setup: tuple[Query, pa.Schema] = self._packed.value()
        return setup

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
        packed = [(row.groups, row.rows) for row in rows]
        group = self._open_group(packed[0][0])
        watermark = _watermark(timerValues)
        results, late = group.feed([rows for _, rows in packed], watermark)
        yield from self._save(group, watermark, results, late)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """Release what is complete now that the watermark has reached the timer."""
        del key, expiredTimerInfo
        group = self._open_group(None)
        group.alarm = None  # Spark has removed the timer
        watermark = _watermark(timerValues)
        yield from self._save(group, watermark, group.release(watermark), 0)

    def close(self) -> None:
        """The end of a task."""
        freeze_modules()

    # The group's state, in the form of a store.

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

    def _open_group(self, groups: int | None) -> Group:
        from fanlight.engine.operators.group import Group
        from fanlight.engine.operators.state_header import older_format_error

        group = Group(self._setup[0], self, self._asked, groups)
        if not group.has_state and any(True for _ in self._handle.listTimers()):
            raise older_format_error()  # a timer comes only for a group that has state
        return group

    def _save(
        self, group: Group, watermark: int | None, results: pa.Table | None, late: int
    ) -> Iterator[Row]:
        due = self._set_timer(group, watermark)
        if due != group.alarm:
            if group.alarm is not None:
                self._handle.deleteTimer(group.alarm)
            if due is not None:
                self._handle.registerTimer(due)
            group.alarm = due
        group.save()
        yield from self._pack_results(results, late)

    def _set_timer(self, group: Group, watermark: int | None) -> int | None:
        """Set a timer for when the group has to go on even if no row comes."""
        if watermark is None:
            return FIRST
        if self._setup[0].has_no_late_rows:
            return None if group.next_time is None else -(-group.next_time // 1000)
        # All groups go with the watermark, so that which rows are late depends on it alone.
        return watermark // 1000 + 1

    def _pack_results(self, results: pa.Table | None, late: int) -> Iterator[Row]:
        """Results as packed rows, with the count of late rows."""
        from fanlight.engine.operators.table_bytes import pack

        make, out = Row("late", "found"), self._setup[1]
        if results is not None:
            results = results.select(out.names).cast(out)
            for at in range(0, len(results), MOST):
                yield make(0, pack([results.slice(at, MOST)]))
        if late:
            yield make(late, None)


def _watermark(times: Any) -> int | None:
    """The watermark in microseconds; None before the first one, while Spark says 1970."""
    watermark = times.getCurrentWatermarkInMs()
    return watermark * 1000 if watermark > 0 else None
