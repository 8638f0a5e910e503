"""The job over a stream of files, and what Spark tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fanlight.cli.arrivals import DELAY
from fanlight.cli.job import TIME, answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from fanlight.cli.job import Case


@dataclass(frozen=True)
class Batch:
    """One micro-batch."""

    rows: int
    seconds: float
    state_rows: int
    dropped: int


@dataclass(frozen=True)
class Streamed:
    """A stream that has ended: its result, and its micro-batches."""

    result: DataFrame
    batches: tuple[Batch, ...]

    @property
    def dropped(self) -> int:
        """Rows that Spark dropped for coming after the watermark."""
        return sum(batch.dropped for batch in self.batches)

    @property
    def most_state_rows(self) -> int:
        """The most rows that Spark's state store held."""
        return max(batch.state_rows for batch in self.batches)

    @property
    def seconds(self) -> float:
        """The time that the micro-batches took."""
        return sum(batch.seconds for batch in self.batches)


def source(spark: SparkSession, files: Path) -> DataFrame:
    """The folder as a stream, a file a micro-batch."""
    reader = spark.readStream.schema(
        f"{TIME} timestamp, origin string, carrier string, delay bigint"
    )
    return reader.option("maxFilesPerTrigger", 1).parquet(str(files)).withWatermark(TIME, DELAY)


def run(
    spark: SparkSession, files: Path, work: Path, case: Case, tick: Callable[[int], None]
) -> Streamed:
    """Run the job until the folder is read; ``tick`` gets the number of micro-batches done."""
    out = work / "result"
    query = (
        answer(source(spark, files), case)
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(work / "checkpoint"))
        .trigger(availableNow=True)
        .format("parquet")
        .start(str(out))
    )
    while not query.awaitTermination(1):
        tick(len(query.recentProgress))
    batches = tuple(
        Batch(
            progress.numInputRows,
            progress.batchDuration / 1_000,
            sum(state.numRowsTotal for state in progress.stateOperators),
            sum(state.numRowsDroppedByWatermark for state in progress.stateOperators),
        )
        for progress in query.recentProgress
    )
    tick(len(batches))
    return Streamed(spark.read.parquet(str(out)), batches)
