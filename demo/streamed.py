"""A question asked of a stream of files, and what Spark reports about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fanlight as fl
from demo.arrivals import DELAY

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from demo.questions import Question

SCHEMA = (
    "departed timestamp, landed timestamp, origin string, carrier string, flight bigint, "
    "tail string, delay bigint"
)


@dataclass(frozen=True)
class Streamed:
    """A stream that has ended: its result, and figures about its micro-batches."""

    result: DataFrame
    batches: int
    late: int  # rows that were dropped as late
    most_state_rows: int


def read_stream(spark: SparkSession, files: Path, time: str) -> DataFrame:
    """Read a folder as a stream, one file per micro-batch."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(files)).withWatermark(time, DELAY)


def start(spark: SparkSession, files: Path, work: Path, question: Question) -> Any:
    """Start a question as a stream that ends when the folder has been read."""
    return (
        question.ask(read_stream(spark, files, question.time))
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(work / "checkpoint"))
        .trigger(availableNow=True)
        .format("parquet")
        .start(str(work / "result"))
    )


def finish(spark: SparkSession, work: Path, query: Any) -> Streamed:
    """Wait until a query has ended, and return its result and figures."""
    query.awaitTermination()
    progress = query.recentProgress
    most = max(fl.progress(one).state_rows for one in progress)
    return Streamed(
        spark.read.parquet(str(work / "result")), len(progress), count_late(query), most
    )


def count_late(query: Any) -> int:
    """The late rows; of Spark's aggregations its groups, which have one flight each here."""
    found = fl.progress(query)
    return found.dropped if found.late is None else found.late
