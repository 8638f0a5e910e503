"""Counts the rows that came too late, from Spark's progress of a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from fanlight.engine.plan.late_rows import COLLECTING, METRIC, REJECTED
from fanlight.engine.spec.errors import explain_wrong_calls, is_column, refuse
from fanlight.watching.micro_batches import as_progress, recent_batches


@explain_wrong_calls("fl.late_rows(query)")
def late_rows(of: Any) -> int | None:
    """The number of rows of a stream that came too late, or None where it is not known.

    It is known of data-driven windows (frames, windows over rows, a window at every row,
    progressive widening, trend lines), and of all windows with ``late="collect"``. If a query has
    several of these, a row counts once for each that it was too late for. Other windows over time
    are Spark's aggregations, and Spark counts what these drop in groups of rows, not in rows:
    ``fl.progress(of).dropped`` says how many groups. As soon as there is one, the number of rows
    is None. To have the exact number, write ``fl.over(…, late="collect")``; its late rows come out
    of the stream, too.

    Parameters
    ----------
    of
        A streaming query, for the micro-batches that its ``recentProgress`` has (100, unless
        ``spark.sql.streaming.numRecentProgressUpdates`` says otherwise); or one progress of it, as
        a ``StreamingQueryListener`` gets it, for one micro-batch.

    Returns
    -------
    int or None
        The number of rows: the sum of the metrics in the progress's ``observedMetrics`` whose names
        begin with ``fanlight late rows``; 0 says that no row was late. None if Spark has dropped
        groups of rows. In a query with windows that collect late rows, groups are taken to be
        theirs: do not put windows over time that only drop late rows into the same query.

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
    return add_late(map(_count_late_rows, list_micro_batches("late_rows", of)))


def add_late(counts: Iterable[int | None]) -> int | None:
    """The sum of counts of late rows: None if one of them is not known."""
    total = 0
    for one in counts:
        if one is None:
            return None
        total += one
    return total


def list_micro_batches(asked: str, of: Any) -> list[Any]:
    """The progress of each micro-batch that a query remembers; given one progress, that one."""
    wrong = is_column(of)  # which has any attribute
    if not wrong and hasattr(of, "recentProgress"):
        return recent_batches(of)
    one = as_progress(of)
    if wrong or not hasattr(one, "observedMetrics"):
        raise refuse(
            f"{asked}({type(of).__name__})",
            "is neither a streaming query nor its progress",
            "pass what writeStream.start() returns, or query.lastProgress",
        )
    return [one]


def _count_late_rows(progress: Any) -> int | None:
    """The late rows of one micro-batch; None if some were dropped that nobody has counted."""
    late = count_late_by_windows(progress)
    counted = any(what.startswith(COLLECTING) for what in late)
    return sum(late.values()) if counted or not count_dropped_groups(progress) else None


def count_dropped_groups(progress: Any) -> int:
    """What Spark's own operators have dropped of one micro-batch, in groups of rows."""
    return sum(one.numRowsDroppedByWatermark for one in progress.stateOperators)


def count_late_by_windows(progress: Any) -> dict[str, int]:
    """The late rows of one micro-batch by the windows that they were for.

    A metric's name has a number, which rises in the order in which the windows were made. Of
    several windows of one kind the second is named "sessions (2)", and so on. A metric is null if
    no group of keys reported anything.
    """
    metrics = []
    for name, rows in _read_metrics(progress, METRIC):
        number, _, what = name.partition(": ")
        metrics.append((int(number) if number.isdecimal() else 0, what or METRIC, rows))
    late: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for _, what, rows in sorted(metrics, key=lambda one: one[:2]):
        seen[what] += 1
        late[what if seen[what] == 1 else f"{what} ({seen[what]})"] = rows
    return late


def count_rejected_rows(progress: Any) -> int:
    """The rows of one micro-batch that are in no window because of their time."""
    return sum(rows for _, rows in _read_metrics(progress, REJECTED))


def _read_metrics(progress: Any, prefix: str) -> Iterator[tuple[str, int]]:
    """The metrics of ours with a prefix: the rest of the name, and the rows."""
    for name, row in progress.observedMetrics.items():
        if name.startswith(prefix):
            # On Spark Connect what was observed is a row of its values and their schema.
            rows = row["rows"] if "rows" in row else row["values"][0]
            yield name[len(prefix) :].strip(), rows or 0
