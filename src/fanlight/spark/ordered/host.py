"""The host of operators in a stream: one stateful processor for groups of keys (buckets).

A state variable for each key would cost a round trip between Spark and Python each. A group of keys
has one, read and written once a micro-batch, and one timer: the next time that its operator waits
for.
Rows go in and come out in plain types: times are whole numbers of microseconds in Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StructField, StructType

from fanlight.operators.protocol import Operator, Query
from fanlight.operators.tables import typed
from fanlight.spark.ordered.arrow_types import arrow_schema
from fanlight.spark.ordered.encoding import Out, as_spark, encoded_columns, plain_schema
from fanlight.spark.sql import with_event_time
from fanlight.spec.errors import FanlightError

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues

BUCKETS = 32  # part of the state's layout: with another number no checkpoint could be read
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Hosting:
    """Rows (keys, ``t``, more columns) to operators, and their results back."""

    def __init__(self, rows: DataFrame, keys: Sequence[str], columns: Sequence[str]) -> None:
        self._rows, self._keys, self._columns = rows, list(keys), list(columns)
        self.types = {f.name: f.dataType for f in rows.schema.fields}
        given = [(name, self.types[name]) for name in columns]
        self.schema: pa.Schema = arrow_schema(plain_schema(given))

    def run(
        self,
        query: Query,
        out: Out,
        *,
        name: str,
        delay: Any,
        what: str,
        more: Sequence[str] = (),
    ) -> DataFrame:
        """The operators' results, with the columns ``out``, restored to their types, and ``more``.

        ``name`` names the state variable; ``what`` names the windows in the error that a missing
        state store raises; ``delay`` is the watermark's.
        """
        check_provider(self._rows, what)
        bucket = f"pmod(hash({', '.join(self._keys)}), {BUCKETS})" if self._keys else "0"
        texts = [f"cast({bucket} as int) as bucket", *encoded_columns(self._columns, self.types)]
        rows = with_event_time(self._rows, texts, "timestamp_micros(t)", "watched", delay)
        found = rows.groupBy("bucket").transformWithState(
            statefulProcessor=BucketProcessor(query, name),
            outputStructType=plain_schema(out),
            outputMode="append",
            timeMode="eventTime",
        )
        return as_spark(found, out, more)


def check_provider(df: DataFrame, what: str) -> None:
    """Refuse a state store other than RocksDB, which arbitrary state needs."""
    provider = df.sparkSession.conf.get(_PROVIDER, "")
    if provider is None or "RocksDB" not in provider:
        raise FanlightError(
            f"{what} in a stream keep their state in RocksDB, but this Spark session uses "
            f"{provider or 'the default provider'}; before the query starts, write: "
            f"spark.conf.set({_PROVIDER!r}, {_ROCKSDB!r})"
        )


class BucketProcessor(StatefulProcessor):
    """An operator over a group of keys: state in, rows in, results out, state out."""

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
        """Take the rows of a micro-batch; release what the watermark completes."""
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
        """Release what the watermark, which has reached the timer, completes."""
        del key, expiredTimerInfo
        yield from self._released(self._restored(), timerValues)

    def close(self) -> None:
        """Nothing to close."""

    def _restored(self) -> Operator:
        kept = self._state.get() if self._state.exists() else None
        return self._query.start() if kept is None else self._query.resume(bytes(kept[0]))

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
    """Rows as columns, all at once: to look up names in each Row is slow."""
    return dict(zip(rows[0].__fields__, zip(*rows, strict=True), strict=True))


def _rows(found: pa.Table) -> Iterator[Row]:
    names = found.column_names
    make = Row(*names)
    for batch in found.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield make(*values)
