"""Windows over rows in order, as a stream: one stateful operator, keys hashed into groups.

A state variable a key would cost a round trip between Spark and Python each; a group of keys has
one, read and written once a micro-batch, and one timer. Rows enter as partials of one row that
Spark has lifted, and windows leave as partials that Spark lowers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from fanlight.operators.tuple_windows import TupleQuery, TupleWindows
from fanlight.plan.sliding import SlidingPlan
from fanlight.spark.batch import finished
from fanlight.spark.bind import Bound
from fanlight.spark.codec import decoded, encoded, plain
from fanlight.spark.columns import event_time
from fanlight.spark.fields import Fields
from fanlight.spark.tuples import units
from fanlight.spec.errors import FanlightError

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import TimerValues

GROUPS = 32  # part of the state's layout: another number would not find the state of a checkpoint
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def windows(bound: Bound, fields: Fields, plan: SlidingPlan) -> DataFrame:
    """One row a key and window, once the watermark has passed the window's last row."""
    _check_provider(bound.df)
    names = [field.name for field in fields.all]
    rows, order = units(bound, fields)
    types = {f.name: f.dataType for f in rows.schema.fields}
    columns = [*bound.keys, *order, *names]
    group = f"pmod(hash({', '.join(bound.keys)}), {GROUPS})" if bound.keys else "0"
    texts = [f"{encoded(name, types[name])} as {name}" for name in columns]
    rows = rows.selectExpr("*", f"cast({group} as int) as g")
    at = event_time(rows, "timestamp_micros(t)", "at", bound.delay)
    packed = rows.select(*rows.columns, at).selectExpr("g", "at", *texts)
    schema = StructType([StructField(name, plain(types[name])) for name in columns])
    query = TupleQuery(
        to_arrow_schema(schema, timezone="UTC"),
        len(bound.keys),
        tuple(field.monoid for field in fields.all),
        None if bound.spec.slide_by_tuple else plan.chosen.cut,
        bound.axis.range,
    )
    out = [StructField(key, plain(types[key])) for key in bound.keys]
    out.append(StructField("w", LongType()))
    out += [StructField(name, plain(types[name])) for name in names]
    found = packed.groupBy("g").transformWithState(
        statefulProcessor=TupleProcessor(query),
        outputStructType=StructType(out),
        outputMode="append",
        timeMode="eventTime",
    )
    restored = [f"{decoded(n, types[n])} as {n}" for n in [*bound.keys, *names]]
    return finished(bound, fields, found.selectExpr("w", *restored), "w")


def _check_provider(df: DataFrame) -> None:
    provider = df.sparkSession.conf.get(_PROVIDER, "")
    if provider is None or "RocksDB" not in provider:
        raise FanlightError(
            "windows over rows in a stream keep their state in RocksDB, but this session uses "
            f"{provider or 'the default provider'}; before the query starts, write: "
            f"spark.conf.set({_PROVIDER!r}, {_ROCKSDB!r})"
        )


class TupleProcessor(StatefulProcessor):
    """Hosts :class:`TupleWindows` in a group: state in, rows in, windows out, state out."""

    def __init__(self, query: TupleQuery) -> None:
        self._query = query
        self._handle: Any = None
        self._state: Any = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the one state variable."""
        self._handle = handle
        schema = StructType([StructField("state", BinaryType())])
        self._state = handle.getValueState("tuple_windows", schema)

    def handleInputRows(  # noqa: N802 - Spark's interface
        self,
        key: Any,
        rows: Iterator[Row],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Take a micro-batch's rows; give out what the watermark completes already."""
        del key
        operator = self._restored()
        names = self._query.schema.names
        operator.feed([tuple(row[name] for name in names) for row in rows])
        yield from self._released(operator, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        """The watermark has passed the earliest row that waits."""
        del key, expiredTimerInfo
        yield from self._released(self._restored(), timerValues)

    def close(self) -> None:
        """Nothing to close."""

    def _restored(self) -> TupleWindows:
        held = self._state.get() if self._state.exists() else None
        if held is None:
            return TupleWindows(self._query)
        return TupleWindows.restore(self._query, bytes(held[0]))

    def _released(self, operator: TupleWindows, times: TimerValues) -> Iterator[Row]:
        watermark = times.getCurrentWatermarkInMs() * 1000
        found = operator.release(watermark)
        self._state.update((operator.snapshot(),))
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        if operator.next_time is not None:
            self._handle.registerTimer(-(-operator.next_time // 1000))
        if found is not None:
            yield from _rows(found)


def _rows(found: pa.Table) -> Iterator[Row]:
    names = found.column_names
    make = Row(*names)
    for batch in found.to_batches(max_chunksize=10_000):
        columns = [column.to_pylist() for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield make(*values)
