"""What differs from one version of Spark to the next, in how it runs an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fanlight.engine.spark.sql import is_connect
from fanlight.engine.spark.supported import INSTALLED
from fanlight.engine.spec.errors import refuse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from fanlight.engine.operators.protocol import Query
    from fanlight.engine.operators.stored_state import Fingerprint

NEEDS_ROCKSDB = INSTALLED >= (4, 0)  # for an operator's state; in 3.5 it is a value as any other


def run_groups(
    packed: DataFrame, query: Query, asked: Fingerprint, out: pa.Schema, mode: str, postponed: int
) -> DataFrame:
    """Groups of packed rows through an operator: ``late`` and ``found``, packed results.

    The operator is told of a watermark that is ``postponed`` by so many microseconds.
    """
    if INSTALLED < (4, 0):
        from fanlight.engine.spark.ordered.spark_3_5 import WholeState

        return WholeState(query, asked, out, postponed).over(packed, mode)
    from fanlight.engine.spark.ordered.group_run import FOUND
    from fanlight.engine.spark.ordered.processor import GroupProcessor, PandasProcessor

    groups, how = packed.groupBy("group"), (FOUND, mode, "eventTime")
    if INSTALLED >= (4, 1):
        return groups.transformWithState(GroupProcessor(query, asked, out, postponed), *how)
    if is_connect(packed):
        raise refuse(
            "a stream whose state is in Python, over Spark Connect 4.0,",
            "needs a stateful processor, which Spark has there since 4.1",
            "use a classic session, or Spark 4.1",
        )
    return groups.transformWithStateInPandas(PandasProcessor(query, asked, out, postponed), *how)


def check_place(what: str, *, aggregated: bool, collects: bool) -> None:
    """Refuse an operator where Spark cannot run one.

    It is over rows that Spark has aggregated, or beside another one, which collects late rows.
    """
    if INSTALLED >= (4, 0):
        return
    if aggregated:
        raise refuse(
            f"{what} in a stream",
            "would follow an aggregation, where Spark 3.5 allows no function with state",
            "use Spark 4.0 or newer, or store what is aggregated, and read that in a batch",
        )
    if collects:
        raise refuse(
            f"{what} in a stream with late='collect'",
            "would be a second function with state, where Spark 3.5 allows one in a query",
            "use Spark 4.0 or newer, or late='drop': fl.progress(query).late then counts them, but "
            "for those of windows over time, of which fl.progress(query).dropped counts groups",
        )
