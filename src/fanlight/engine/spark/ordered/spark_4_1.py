"""Spark 4.1 and later: a stateful processor takes and gives rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fanlight.engine.spark.ordered.processor import GroupProcessor
from fanlight.engine.spark.ordered.row_packing import FOUND

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.state_header import Fingerprint


def run_groups(
    packed: DataFrame, query: Query, asked: Fingerprint, out: pa.Schema, mode: str, postponed: int
) -> DataFrame:
    """Groups of packed rows through an operator: ``late`` and ``found``, packed results."""
    return packed.groupBy("group").transformWithState(
        statefulProcessor=GroupProcessor(query, asked, out, postponed),
        outputStructType=FOUND,
        outputMode=mode,
        timeMode="eventTime",
    )
