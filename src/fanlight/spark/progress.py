"""Where a streaming query stands, in one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fanlight.spark.late_rows import late_rows, micro_batches

_BEGINNING = "1970-01-01T00:00:00"  # where Spark's watermark is before it moves


@dataclass(frozen=True)
class Kept:
    """What one stateful operator of a query keeps: rows of state, and the bytes of memory."""

    operator: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class Progress:
    """What :func:`fanlight.progress` returns."""

    name: str | None
    batch: int | None
    rows: int
    rows_per_second: float
    seconds: float
    watermark: str | None
    state: tuple[Kept, ...]
    late: int
    dropped: int

    @property
    def state_rows(self) -> int:
        """Rows of state in all operators together."""
        return sum(kept.rows for kept in self.state)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {**asdict(self), "state": [asdict(kept) for kept in self.state]}

    def __str__(self) -> str:
        """One line."""
        batch = "no micro-batch yet" if self.batch is None else f"micro-batch {self.batch}"
        parts = [
            batch,
            f"{self.rows:,} rows",
            f"{self.rows_per_second:,.0f} rows/s",
            f"watermark {self.watermark or 'not begun'}",
            f"state {self.state_rows:,}",
            f"late {self.late + self.dropped:,}",
        ]
        return ", ".join(parts)


def progress(of: Any) -> Progress:
    """Where a streaming query stands: rows, speed, watermark, state and late rows, in one value.

    Parameters
    ----------
    of
        A streaming query, for the micro-batches that its ``recentProgress`` has (100, unless
        ``spark.sql.streaming.numRecentProgressUpdates`` says otherwise); or one progress of it, as
        a ``StreamingQueryListener`` gets it, for one micro-batch.

    Returns
    -------
    Progress
        A value with the query's ``name``; the number of the last ``batch``; ``rows`` read and the
        ``seconds`` they took; ``rows_per_second`` of the last micro-batch that had rows;
        ``watermark``, in UTC; ``state``, what each stateful operator keeps now, by name, in rows
        and bytes (``state_rows`` adds them up): open windows, frames or slices, one row or a few
        each; ``late``, the rows that :func:`fanlight.late_rows` counts, and ``dropped``, what
        Spark counts itself of windows that time places, in groups. ``to_dict()`` is for JSON.

    Raises
    ------
    FanlightError
        If it is neither a query nor its progress.

    Examples
    --------
    >>> import fanlight as fl
    >>> rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    >>> windows = fl.over(rows, fl.Sliding("1 minute"), time="timestamp")
    >>> query = windows.agg(fl.agg.count()).writeStream.format("noop").start()
    >>> fl.progress(query).late
    0
    >>> query.stop()

    """
    batches = micro_batches("progress", of)
    last = batches[-1] if batches else None
    with_rows = [one for one in batches if one.numInputRows]
    operators = last.stateOperators if last else []
    watermark = (last.eventTime if last else {}).get("watermark")
    return Progress(
        name=of.name,
        batch=last.batchId if last else None,
        rows=sum(one.numInputRows for one in batches),
        rows_per_second=float(with_rows[-1].processedRowsPerSecond) if with_rows else 0.0,
        seconds=sum(one.batchDuration for one in batches) / 1_000,
        watermark=None if not watermark or watermark.startswith(_BEGINNING) else watermark,
        state=tuple(
            Kept(one.operatorName, one.numRowsTotal, one.memoryUsedBytes) for one in operators
        ),
        late=sum(map(late_rows, batches)),
        dropped=sum(
            one.numRowsDroppedByWatermark for batch in batches for one in batch.stateOperators
        ),
    )
