"""The host of operators in a stream: one stateful processor, keys hashed into groups.

A state variable a key would cost a round trip between Spark and Python each; a group of keys has
one, read and written once a micro-batch, and one timer. Rows go in and come out in plain types:
times are whole numbers of microseconds in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, DataType, StructField, StructType

from fanlight.operators.tables import typed
from fanlight.spark.codec import decoded, encoded, plain
from fanlight.spark.sql import event_time
from fanlight.spec.errors import FanlightError

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues

GROUPS = 32  # part of the state's layout: another number would not find the state of a checkpoint
_END = 2**62  # later than any coordinate
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Operator(Protocol):
    """The running state of one group of keys."""

    @property
    def next_time(self) -> int | None:
        """The earliest time that waits for the watermark, in microseconds."""

    def feed(self, rows: pa.Table) -> None:
        """Take rows of a micro-batch, in any order."""

    def release(self, watermark: int) -> pa.Table | None:
        """What the watermark (microseconds) completes."""

    def snapshot(self) -> bytes:
        """The state as bytes, led by a format version."""


class Query(Protocol):
    """What an operator is asked: picklable, and it makes operators."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a row as they are fed."""

    def start(self) -> Operator:
        """An operator without state."""

    def resume(self, state: bytes) -> Operator:
        """The operator as it was at a snapshot."""


class Hosting:
    """Rows (keys, ``t``, more columns) on their way into operators, and results on theirs out."""

    def __init__(self, rows: DataFrame, keys: Sequence[str], columns: Sequence[str]) -> None:
        self._rows, self._keys, self._columns = rows, list(keys), list(columns)
        self._types = {f.name: f.dataType for f in rows.schema.fields}
        fields = [StructField(name, plain(self._types[name])) for name in columns]
        self.schema: pa.Schema = to_arrow_schema(StructType(fields))

    def run(
        self,
        query: Query,
        out: Sequence[tuple[str, DataType]],
        *,
        name: str,
        delay: Any,
        what: str,
    ) -> DataFrame:
        """The operators' results, with the columns ``out``, restored to their types.

        ``name`` names the state variable; ``what`` names the windows in the error that a missing
        state store raises; ``delay`` is the watermark's.
        """
        check_provider(self._rows, what)
        at = event_time(self._rows, "timestamp_micros(t)", "at", delay)
        rows = self._rows.select(*self._rows.columns, at).selectExpr("at", *self._texts())
        found = rows.groupBy("g").transformWithState(
            statefulProcessor=GroupProcessor(query, name),
            outputStructType=self._out(out),
            outputMode="append",
            timeMode="eventTime",
        )
        return found.selectExpr(*(f"{decoded(n, kind)} as {n}" for n, kind in out))

    def complete(self, query: Query, out: Sequence[tuple[str, DataType]]) -> DataFrame:
        """The operators' results over a batch: every group is fed whole, and released."""
        rows = self._rows.selectExpr(*self._texts())
        arrow = to_arrow_schema(self._out(out), timezone="UTC")
        found = rows.groupBy("g").applyInArrow(_completing(query, arrow), schema=self._out(out))
        return found.selectExpr(*(f"{decoded(n, kind)} as {n}" for n, kind in out))

    def _texts(self) -> list[str]:
        """The group of a row's key, and its columns in plain types."""
        group = f"pmod(hash({', '.join(self._keys)}), {GROUPS})" if self._keys else "0"
        texts = [f"{encoded(column, self._types[column])} as {column}" for column in self._columns]
        return [f"cast({group} as int) as g", *texts]

    @staticmethod
    def _out(out: Sequence[tuple[str, DataType]]) -> StructType:
        return StructType([StructField(n, plain(kind)) for n, kind in out])


def _completing(query: Query, out: pa.Schema) -> Callable[[pa.Table], pa.Table]:
    """A whole group of keys through an operator; a function, whose annotations Spark reads."""

    def complete(rows: pa.Table) -> pa.Table:
        operator = query.start()
        operator.feed(rows.select(query.schema.names).cast(query.schema))
        found = operator.release(_END)
        return out.empty_table() if found is None else found.cast(out)

    return complete


def check_provider(df: DataFrame, what: str) -> None:
    """Arbitrary state needs RocksDB; the error prints the line to set."""
    provider = df.sparkSession.conf.get(_PROVIDER, "")
    if provider is None or "RocksDB" not in provider:
        raise FanlightError(
            f"{what} in a stream keep their state in RocksDB, but this session uses "
            f"{provider or 'the default provider'}; before the query starts, write: "
            f"spark.conf.set({_PROVIDER!r}, {_ROCKSDB!r})"
        )


class GroupProcessor(StatefulProcessor):
    """An operator in a group of keys: state in, rows in, results out, state out."""

    def __init__(self, query: Query, name: str) -> None:
        self._query = query
        self._name = name
        self._handle: Any = None
        self._state: Any = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the one state variable."""
        self._handle = handle
        schema = StructType([StructField("state", BinaryType())])
        self._state = handle.getValueState(self._name, schema)

    def handleInputRows(  # noqa: N802 - Spark's interface
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Take a micro-batch's rows; give out what the watermark completes already."""
        del key
        operator = self._restored()
        operator.feed(typed(_columns(list(rows)), self._query.schema))
        yield from self._released(operator, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """The watermark has passed the earliest time that waits."""
        del key, expiredTimerInfo
        yield from self._released(self._restored(), timerValues)

    def close(self) -> None:
        """Nothing to close."""

    def _restored(self) -> Operator:
        held = self._state.get() if self._state.exists() else None
        return self._query.start() if held is None else self._query.resume(bytes(held[0]))

    def _released(self, operator: Operator, times: TimerValues) -> Iterator[Row]:
        watermark = times.getCurrentWatermarkInMs() * 1000
        found = operator.release(watermark)
        self._state.update((operator.snapshot(),))
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        if operator.next_time is not None:
            self._handle.registerTimer(-(-operator.next_time // 1000))
        if found is not None:
            yield from _rows(found)


def _columns(rows: list[Row]) -> dict[str, tuple[Any, ...]]:
    """Rows as columns, all at once: a Row looks each name up."""
    return dict(zip(rows[0].__fields__, zip(*rows, strict=True), strict=True))


def _rows(found: pa.Table) -> Iterator[Row]:
    names = found.column_names
    make = Row(*names)
    for batch in found.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield make(*values)
