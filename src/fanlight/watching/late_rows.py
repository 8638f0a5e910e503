"""Counts the rows that came too late, from Spark's progress of a stream."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fanlight.engine.plan.late_rows import METRIC
from fanlight.engine.spec.errors import refuse
from fanlight.watching.micro_batches import as_progress, recent_batches


def late_rows(of: Any) -> int:
    """The number of rows of a stream that were left out because they came too late.

    It counts for data-driven windows (frames, windows over rows, a window at every row,
    progressive widening, trend lines). If a query has several of these, a row counts once for each
    that it was too late for. Windows placed by time are Spark's aggregations: what these leave out
    Spark counts itself, in groups of rows, as ``numRowsDroppedByWatermark`` of the progress's
    ``stateOperators``.

    Parameters
    ----------
    of
        A streaming query, for the micro-batches that its ``recentProgress`` has (100, unless
        ``spark.sql.streaming.numRecentProgressUpdates`` says otherwise); or one progress of it, as
        a ``StreamingQueryListener`` gets it, for one micro-batch.

    Returns
    -------
    int
        The number of rows: the sum of the metrics in the progress's ``observedMetrics`` whose names
        begin with ``fanlight late rows``.

    Raises
    ------
    FanlightError
        If it is neither a query nor its progress.

    Examples
    --------
    >>> import fanlight as fl
    >>> rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    >>> windows = fl.over(rows, fl.Sliding(fl.rows(10)), time="timestamp")
    >>> query = windows.agg(fl.agg.avg("value")).writeStream.format("noop").start()
    >>> fl.late_rows(query)
    0
    >>> query.stop()

    """
    return sum(map(_count_late_rows, list_micro_batches("late_rows", of)))


def list_micro_batches(asked: str, of: Any) -> list[Any]:
    """The progress of each micro-batch that a query remembers; given one progress, that one."""
    if hasattr(of, "recentProgress"):
        return recent_batches(of)
    one = as_progress(of)
    if not hasattr(one, "observedMetrics"):
        raise refuse(
            f"{asked}({type(of).__name__})",
            "is neither a streaming query nor its progress",
            "pass what writeStream.start() returns, or query.lastProgress",
        )
    return [one]


def _count_late_rows(progress: Any) -> int:
    """The late rows of one micro-batch."""
    return sum(count_late_by_windows(progress).values())


def count_late_by_windows(progress: Any) -> dict[str, int]:
    """The late rows of one micro-batch by the windows that they were for.

    A metric's name has a number, which rises in the order in which the windows were made. Of
    several windows of one kind the second is named "sessions (2)", and so on. A metric is null if
    no group of keys reported anything.
    """
    metrics = []
    for name, row in progress.observedMetrics.items():
        if name.startswith(METRIC):
            number, _, what = name[len(METRIC) :].strip().partition(": ")
            # On Spark Connect what was observed is a row of its values and their schema.
            rows = row["rows"] if "rows" in row else row["values"][0]
            metrics.append((int(number) if number.isdecimal() else 0, what or name, rows))
    late: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for _, what, rows in sorted(metrics, key=lambda one: one[:2]):
        seen[what] += 1
        late[what if seen[what] == 1 else f"{what} ({seen[what]})"] = rows or 0
    return late
