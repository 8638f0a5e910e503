"""The count of rows that came too late, from what Spark says of a stream's progress."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fanlight.engine.plan.late_rows import METRIC
from fanlight.engine.spec.errors import refuse


def late_rows(of: Any) -> int:
    """How many rows of a stream have been left out because they came too late.

    Counted are the rows of windows that rows cut (frames, windows over rows, a window at every row,
    progressive widening, trend lines), each as often as there are such windows that it was for.
    Windows that time places are Spark's aggregations: what these leave out, Spark counts itself, in
    groups, as ``numRowsDroppedByWatermark`` of the progress's ``stateOperators``.

    Parameters
    ----------
    of
        A streaming query, for the micro-batches that its ``recentProgress`` has (100, unless
        ``spark.sql.streaming.numRecentProgressUpdates`` says otherwise); or one progress of it, as
        a ``StreamingQueryListener`` gets it, for one micro-batch.

    Returns
    -------
    int
        The number of rows. The metrics that it adds up are in the progress's ``observedMetrics``;
        their names begin with ``fanlight late rows``.

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
    return sum(map(_counted, micro_batches("late_rows", of)))


def micro_batches(asked: str, of: Any) -> list[Any]:
    """The progress of each micro-batch that a query remembers; of one progress, that one."""
    if hasattr(of, "recentProgress"):
        return list(of.recentProgress)
    if not hasattr(of, "observedMetrics"):
        raise refuse(
            f"{asked}({type(of).__name__})",
            "is neither a streaming query nor its progress",
            "pass what writeStream.start() returns, or query.lastProgress",
        )
    return [of]


def _counted(progress: Any) -> int:
    """Of one micro-batch."""
    return sum(late_by(progress).values())


def late_by(progress: Any) -> dict[str, int]:
    """The late rows of one micro-batch by the windows that they were for.

    Metrics have a number before the name, in the order in which their windows were made; of
    windows of one kind, all but the first have their place in the name. A metric is null where no
    group of keys had anything to say.
    """
    metrics = []
    for name, row in progress.observedMetrics.items():
        if name.startswith(METRIC):
            number, _, what = name[len(METRIC) :].strip().partition(": ")
            metrics.append((int(number) if number.isdecimal() else 0, what or name, row["rows"]))
    found: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for _, what, rows in sorted(metrics, key=lambda one: one[:2]):
        seen[what] += 1
        found[what if seen[what] == 1 else f"{what} ({seen[what]})"] = rows or 0
    return found
