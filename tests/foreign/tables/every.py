"""All tables: what is asked in a batch, by kind, and what in a stream, by spec."""

from __future__ import annotations

from itertools import chain

from tests.foreign.tables import (
    duckdb,
    flink,
    flink_patterns,
    iotdb,
    risingwave,
    spark,
    tdengine,
    trill,
    trino,
)

TABLES = (flink, iotdb, spark, tdengine)
IN_PYTHON = {text: function for table in TABLES for text, function in table.IN_PYTHON.items()}
BATCHES = {
    "placed": (*spark.PLACED, *flink.PLACED, *trill.PLACED),
    "spanning": trill.SPANNING,
    "sessions": (*spark.SESSION, *flink.SESSION, *trill.SESSION, *iotdb.SESSION, *tdengine.SESSION),
    "frames": (*iotdb.FRAMES, *tdengine.FRAMES),
}  # fmt: skip
STREAMS = {
    "tumbling, 5 seconds": spark.TUMBLING_STREAM,
    "tumbling, 2 seconds": flink.TUMBLING_STREAM,
    "sliding": flink.SLIDING_STREAM,
    "spanning": trill.STREAM,
    "sessions": (*spark.SESSION_STREAM, *flink.SESSION_STREAM),
    "frames": tdengine.STREAM,
}
EVERY = [*chain(*BATCHES.values(), *STREAMS.values())]
# Of row patterns, which have tables of their own kind.
MATCHED = (*trino.MATCHED, *flink_patterns.MATCHED, *duckdb.MATCHED, *risingwave.MATCHED)
