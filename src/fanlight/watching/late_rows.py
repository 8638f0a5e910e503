"""Counts the rows that came too late, from Spark's progress of a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from fanlight.engine.plan.late_rows import COLLECTING, METRIC, REJECTED
from fanlight.engine.spec.errors import is_column, refuse
from fanlight.watching.micro_batches import as_progress, recent_batches


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


def count_late_rows(progress: Any) -> int | None:
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
