"""A plain pass of a stream's rows through a stateful operator with packed state, to compare with.

Rows are hashed into 32 groups; a group's rows wait in one Arrow value until the watermark has
passed them, and are then counted. Nothing else is done with them.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

KEPT = pa.schema([("k", pa.int32()), ("t", pa.int64()), ("v", pa.float64()), ("n", pa.int32())])


class Passing(StatefulProcessor):
    """One state variable and one timer a group."""

    def init(self, handle):
        self.handle = handle
        schema = StructType([StructField("state", BinaryType())])
        self.state = handle.getValueState("rows", schema)

    def handleInputRows(self, key, rows, timerValues):  # noqa: ARG002, N802, N803
        rows = list(rows)
        given = dict(zip(rows[0].__fields__, zip(*rows, strict=True), strict=True))
        columns = [pa.array(given[field.name], field.type) for field in KEPT]
        yield from self.through(pa.concat_tables([self.held(), pa.table(columns, schema=KEPT)]),
                                timerValues)  # fmt: skip

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):  # noqa: ARG002, N802, N803
        yield from self.through(self.held(), timerValues)

    def held(self):
        if not self.state.exists():
            return KEPT.empty_table()
        return pa.ipc.open_stream(pa.py_buffer(bytes(self.state.get()[0]))).read_all()

    def through(self, table, times):
        watermark = times.getCurrentWatermarkInMs() * 1000
        stamps = table["t"].to_numpy()
        kept = table.filter(pa.array(stamps > watermark)).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, KEPT) as writer:
            writer.write_table(kept)
        self.state.update((sink.getvalue().to_pybytes(),))
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
    rows = stream.select(
        F.expr("cast(pmod(hash(k), 32) as int)").alias("g"),
        "ts",
        "k",
        F.expr("unix_micros(ts)").alias("t"),
        "v",
        "n",
    )
    return rows.groupBy("g").transformWithState(
        statefulProcessor=Passing(),
        outputStructType=StructType([StructField("rows", LongType())]),
        outputMode="append",
        timeMode="eventTime",
    )
