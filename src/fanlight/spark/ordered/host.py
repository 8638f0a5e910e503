"""The host of operators in a stream: one stateful processor for groups of keys (buckets).

A state variable for each key would cost a round trip between Spark and Python each. A group of keys
has one, read and written once a micro-batch, and one timer: the next time that its operator waits
for.
Rows go in and come out in plain types: times are whole numbers of microseconds in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from fanlight.operators.protocol import Query
from fanlight.operators.snapshots import Fingerprint
from fanlight.spark.ordered.arrow_types import arrow_schema
from fanlight.spark.ordered.encoding import Out, as_spark, encoded, one_zero, plain_schema
from fanlight.spark.ordered.processor import BucketProcessor
from fanlight.spark.sql import with_event_time
from fanlight.spec.errors import FanlightError

BUCKETS = 32  # part of the state's layout: with another number no checkpoint could be read
LAST = (
    253_402_128_000_000_000  # 9999-12-30: Spark gives event times to Python, which has none later
)
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Hosting:
    """Rows (keys, ``t``, more columns) to operators, and their results back."""

    def __init__(self, rows: DataFrame, keys: Sequence[str], columns: Sequence[str]) -> None:
        self._rows, self._keys, self.columns = rows, list(keys), list(columns)
        self.types = {f.name: f.dataType for f in rows.schema.fields}
        given = [(name, self.types[name]) for name in columns]
        self.schema: pa.Schema = arrow_schema(plain_schema(given))

    def run(
        self,
        query: Query,
        out: Out,
        asked: Fingerprint,
        *,
        delay: Any,
        what: str,
        more: Sequence[str] = (),
        at: str = "",
    ) -> DataFrame:
        """The operators' results, with the columns ``out``, restored to their types, and ``more``.

        ``asked`` is kept with the state; ``what`` names the windows in the error that a missing
        state store raises; ``delay`` is the watermark's. ``at`` is the column of an event time
        other than ``t``: once the watermark has passed it, a row is late.
        """
        check_provider(self._rows, what)
        bucket = f"pmod(hash({', '.join(self._keys)}), {BUCKETS})" if self._keys else "0"
        # Spark groups -0.0 and 0.0 together, and calls them 0.0.
        plain = {name: one_zero(name, self.types[name]) for name in self._keys}
        columns = [(plain.get(name, name), self.types[name], name) for name in self.columns]
        texts = [f"cast({bucket} as int) as bucket"]
        texts += [f"{encoded(text, kind)} as {name}" for text, kind, name in columns]
        # Spark's watermark begins at 1970: rows from before are late only once it has moved.
        watched = f"least({at or 'timestamp_micros(greatest(t, 1L))'}, timestamp_micros({LAST}L))"
        rows = with_event_time(self._rows, texts, watched, "watched", delay)
        found = rows.groupBy("bucket").transformWithState(
            statefulProcessor=BucketProcessor(query, asked),
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
