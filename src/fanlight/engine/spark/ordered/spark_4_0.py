"""Spark 4.0: a stateful processor takes and gives data frames of pandas; over Connect it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fanlight.engine.spark.ordered.pandas_processor import PandasProcessor
from fanlight.engine.spark.ordered.row_packing import FOUND
from fanlight.engine.spark.sql import is_connect
from fanlight.engine.spec.errors import refuse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.state_header import Fingerprint


def run_groups(
    packed: DataFrame, query: Query, asked: Fingerprint, out: pa.Schema, mode: str, postponed: int
) -> DataFrame:
    """Groups of packed rows through an operator: ``late`` and ``found``, packed results."""
    if is_connect(packed):
        raise refuse(
            "a stream whose state is in Python, over Spark Connect 4.0,",
            "needs a stateful processor, which Spark has there since 4.1",
            "use a classic session, or Spark 4.1",
        )
    return packed.groupBy("group").transformWithStateInPandas(
        statefulProcessor=PandasProcessor(query, asked, out, postponed),
        outputStructType=FOUND,
        outputMode=mode,
        timeMode="eventTime",
    )
