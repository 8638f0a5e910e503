"""A query as PySpark shows it, without Spark: it says what it is told to say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

NOON, MINUTE = datetime(2024, 5, 1, 12, tzinfo=UTC), timedelta(minutes=1)


def micro_batch(number, rows=10, *, name="busy", late=0, watermark="2024-05-01T12:00:00.000Z"):
    """The progress of a micro-batch; every fourth second one begins."""
    begun = NOON + timedelta(seconds=4 * number)
    state = SimpleNamespace(
        operatorName="transformWithStateInPySparkExec", numRowsTotal=3 * number + 1,
        memoryUsedBytes=12_345, numRowsDroppedByWatermark=0,
        customMetrics={"rocksdbSstFileSize": 678},
    )  # fmt: skip
    return SimpleNamespace(
        name=name, batchId=number, numInputRows=rows, processedRowsPerSecond=rows / 2,
        batchDuration=2_000, timestamp=f"{begun:%Y-%m-%dT%H:%M:%S}.000Z",
        durationMs={"addBatch": 1_500}, eventTime={"watermark": watermark},
        stateOperators=[state],
        observedMetrics={"fanlight late rows 7: sessions": {"rows": late}},
    )  # fmt: skip


class Query:
    """A streaming query that runs until it is told otherwise."""

    def __init__(self, batches=3, *, name="busy"):
        self.name, self.isActive = name, True
        self.status = {"message": "Waiting for data to arrive"}
        self.told = [micro_batch(number, name=name) for number in range(batches)]
        self.failed = None

    recentProgress = property(lambda self: self.told[-100:])  # noqa: N815 - Spark's
    lastProgress = property(lambda self: self.told[-1] if self.told else None)  # noqa: N815

    def exception(self):
        return self.failed

    def more(self, rows=10, **how):
        self.told.append(micro_batch(len(self.told), rows, name=self.name, **how))

    def end(self, failed=None):
        self.isActive, self.failed = False, failed


def windows(count=5, first=0, **columns):
    """Windows of a minute, side by side."""
    return [
        {"antenna": "north", "window": {"start": NOON + k * MINUTE, "end": NOON + (k + 1) * MINUTE},
         "calls": k * k, **columns}
        for k in range(first, first + count)
    ]  # fmt: skip
