"""A bare pass of a stream's rows, packed, through a stateful operator, to compare with.

Rows are packed into an Arrow value for each of a few groups of keys; a group's rows wait in the
state until the watermark has passed them, and are then counted. Nothing else is done with them.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

from benchmarks.sessions import CORES

KEPT = pa.schema([("k", pa.int32()), ("t", pa.int64()), ("v", pa.float64()), ("n", pa.int32())])
MOST = 1_000_000  # rows that are packed at a time


def packing(batches):
    """Rows packed by group, the last column of a row."""
    held, rows = [], 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= MOST:
            yield from _packed(held)
            held, rows = [], 0
    if rows:
        yield from _packed(held)


def _packed(held):
    table = pa.Table.from_batches(held)
    group = table["g"].to_numpy()
    rows = table.select(KEPT.names).cast(KEPT)
    parts = [(g, _written(rows.filter(pa.array(group == g)))) for g in range(CORES)]
    numbers, values = zip(*parts, strict=True)
    yield pa.RecordBatch.from_arrays(
        [pa.array(numbers, pa.int32()), pa.array(values, pa.binary())], names=["g", "rows"]
    )


def _written(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, KEPT) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


def _read(data):
    return pa.ipc.open_stream(pa.py_buffer(bytes(data))).read_all()


class Passing(StatefulProcessor):
    """One state variable and one timer a group."""

    def init(self, handle):
        self.handle = handle
        schema = StructType([StructField("state", BinaryType())])
        self.state = handle.getValueState("rows", schema)

    def handleInputRows(self, key, rows, timerValues):  # noqa: ARG002, N802, N803
        tables = [_read(row.rows) for row in rows]
        yield from self.through(pa.concat_tables([*self.held(), *tables]), timerValues)

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: ARG002, N802, N803
        yield from self.through(pa.concat_tables([KEPT.empty_table(), *self.held()]), timerValues)

    def held(self):
        return [_read(self.state.get()[0])] if self.state.exists() else []

    def through(self, table, times):
        watermark = times.getCurrentWatermarkInMs() * 1000
        kept = table.filter(pa.array(table["t"].to_numpy() > watermark))
        self.state.update((_written(kept),))
        for timer in list(self.handle.listTimers()):
            self.handle.deleteTimer(timer)
        if len(kept):
            self.handle.registerTimer(-(-int(kept["t"].to_numpy().min()) // 1000))
        if len(table) > len(kept):
            yield Row(rows=len(table) - len(kept))

    def close(self):
        pass


def passed(stream):
    """How many rows have passed, a row a group and micro-batch."""
    rows = stream.selectExpr(
        f"cast(pmod(hash(k), {CORES}) as int) as g", "k", "unix_micros(ts) as t", "v", "n"
    )
    return (
        rows.mapInArrow(packing, "g int, rows binary")
        .groupBy("g")
        .transformWithState(
            statefulProcessor=Passing(),
            outputStructType=StructType([StructField("rows", LongType())]),
            outputMode="append",
            timeMode="eventTime",
        )
    )
