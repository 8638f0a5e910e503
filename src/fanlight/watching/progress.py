"""The progress of a streaming query as one value."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from types import SimpleNamespace
from typing import Any

from fanlight.engine.plan.late_rows import COLLECTING, METRIC, REJECTED
from fanlight.engine.spec.errors import explain_wrong_calls, find_python_error, is_column, refuse

_BEGINNING = "1970-01-01T00:00:00"  # Spark's watermark before the first event time


# What a row of state is in each of Spark's stateful operators, by the beginnings of their names.
_KEEPS = {
    "stateStoreSave": "slices or windows",
    "sessionWindow": "Spark's own sessions",
    "transformWithState": "keys",
    "applyInPandas": "keys of a function",
    "symmetricHashJoin": "rows of a join",
    "dedupe": "rows seen, for duplicates",
    "globalLimit": "a limit",
}
_DISK = "rocksdbSstFileSize"


@dataclass(frozen=True)
class OperatorState:
    """The state of one stateful operator of a query.

    ``operator`` is Spark's name for it, and ``keeps`` says in words what its rows of state are;
    ``rows`` counts them; they take ``bytes`` of memory and ``disk`` bytes on disk (None where the
    state store does not say); ``dropped`` counts what it left out of the micro-batch as too late.
    """

    operator: str
    rows: int
    bytes: int
    keeps: str = ""
    disk: int | None = None
    dropped: int = 0


@dataclass(frozen=True)
class Progress:
    """What :func:`fanlight.progress` returns."""

    name: str | None
    batch: int | None
    rows: int
    rows_per_second: float
    seconds: float
    watermark: str | None
    state: tuple[OperatorState, ...]
    late: int | None
    dropped: int
    late_by: dict[str, int] = field(default_factory=dict)
    begun: str | None = None
    rejected: int = 0

    @property
    def state_rows(self) -> int:
        """Rows of state in all operators together."""
        return sum(kept.rows for kept in self.state)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, numbers and texts, for JSON."""
        return {**asdict(self), "state": [asdict(kept) for kept in self.state]}

    def __str__(self) -> str:
        """The progress in one line."""
        batch = "no micro-batch yet" if self.batch is None else f"micro-batch {self.batch}"
        parts = [
            batch,
            f"{self.rows:,} rows",
            f"{self.rows_per_second:,.0f} rows/s",
            f"watermark {self.watermark or 'not begun'}",
            f"state {self.state_rows:,}",
            f"late {describe_late(self.late, self.late_by, self.dropped)}",
        ]
        if self.rejected:
            parts.append(f"rejected {self.rejected:,}")
        return ", ".join(parts)


def describe_late(late: int | None, known: Mapping[str, int], groups: int) -> str:
    """How many rows were late; where that is not known, the rows that are, and Spark's groups.

    >>> describe_late(500, {"sessions": 500}, 0), describe_late(None, {}, 1)
    ('500', '1 group')
    >>> describe_late(None, {"sessions": 1_200}, 2)
    '1,200 and 2 groups'
    """
    if late is not None:
        return f"{late:,}"
    rows, dropped = sum(known.values()), f"{groups:,} group{'' if groups == 1 else 's'}"
    return f"{rows:,} and {dropped}" if rows else dropped


@explain_wrong_calls("fl.progress(query)")
def progress(of: Any) -> Progress:
    """Return the rows, speed, watermark, state and late rows of a streaming query in one value.

    Parameters
    ----------
    of
        A streaming query, for the micro-batches in its ``recentProgress`` (100, unless
        ``spark.sql.streaming.numRecentProgressUpdates`` says otherwise); or one of its progress
        objects, as a ``StreamingQueryListener`` receives it, for one micro-batch.

    Returns
    -------
    Progress
        A value with the query's ``name``; the number of the last ``batch``; ``rows`` read and the
        ``seconds`` they took; ``rows_per_second`` of the last micro-batch that had rows;
        ``watermark``, in UTC; ``state``, the current state of each stateful operator (``operator``,
        a description of what it ``keeps``, ``rows``, ``bytes`` of memory, bytes on ``disk``), with
        ``state_rows`` as the total; ``late``, the number of late rows, or None if it is not known;
        ``late_by``, the counted late rows by their windows; ``dropped``, the number of groups of
        rows that Spark's own aggregations dropped; ``rejected``, the number of rows that are in no
        window because of their time, which ``windows.rejected()`` lists, counted once for each
        ``over`` of the query; ``begun``, when the last micro-batch began, in UTC. ``to_dict()`` is
        for JSON.

    Raises
    ------
    FanlightError
        If ``of`` is neither a query nor its progress.

    Notes
    -----
    The number of late rows is known for data-driven windows (frames, windows over rows, a window at
    every row, progressive widening, trend lines), and for all windows with ``late="collect"``,
    whose late rows the stream also emits. If a query has several of these, a row counts once for
    each for which it was too late. Other windows over time are Spark aggregations, and Spark counts
    what they drop in groups of rows: as soon as it has dropped one, the number of rows is None. In
    a query with windows that collect late rows, groups are attributed to these windows: do not put
    windows over time that only drop late rows into the same query. The numbers are the sums of the
    metrics in ``observedMetrics`` whose names begin with ``fanlight late rows``.

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
    batches = list_micro_batches("progress", of)
    last = batches[-1] if batches else None
    with_rows = [one for one in batches if one.numInputRows]
    operators = last.stateOperators if last else []
    watermark = (last.eventTime if last else {}).get("watermark")
    late: Counter[str] = Counter()
    for one in batches:
        late.update(count_late_by_windows(one))
    return Progress(
        name=as_progress(of).name,
        batch=last.batchId if last else None,
        rows=sum(one.numInputRows for one in batches),
        rows_per_second=float(with_rows[-1].processedRowsPerSecond) if with_rows else 0.0,
        seconds=sum(one.batchDuration for one in batches) / 1_000,
        watermark=None if not watermark or watermark.startswith(_BEGINNING) else watermark,
        state=tuple(_read_operator(one, list(late)) for one in operators),
        late=add_late(map(count_late_rows, batches)),
        dropped=sum(map(count_dropped_groups, batches)),
        late_by=dict(late),
        begun=last.timestamp if last else None,
        rejected=sum(map(count_rejected_rows, batches)),
    )


def _read_operator(operator: Any, hosted: list[str]) -> OperatorState:
    """Read an operator's progress. ``hosted`` names the windows kept in Python."""
    name = operator.operatorName
    keeps = next((text for start, text in _KEEPS.items() if name.startswith(start)), "")
    if keeps == "keys" and hosted:
        keeps = f"keys of {' or '.join(dict.fromkeys(one.split(' (')[0] for one in hosted))}"
    disk = dict(operator.customMetrics or {}).get(_DISK)
    return OperatorState(
        name, operator.numRowsTotal, operator.memoryUsedBytes, keeps,
        int(disk) if disk else None, operator.numRowsDroppedByWatermark,
    )  # fmt: skip


def add_late(counts: Iterable[int | None]) -> int | None:
    """The sum of counts of late rows: None if one of them is not known."""
    total = 0
    for one in counts:
        if one is None:
            return None
        total += one
    return total


def list_micro_batches(asked: str, of: Any) -> list[Any]:
    """The progress of each remembered micro-batch of a query, or the given progress alone."""
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


MOST = 500  # micro-batches that are remembered, for the figures
LEAST = 0.5  # seconds between two polls, however many pages are open


@dataclass(frozen=True)
class QueryStatus:
    """The status of a query when it was last polled."""

    name: str | None = None
    running: bool = True
    message: str = ""
    failure: str | None = None  # the error with which the query has ended
    trouble: str | None = None  # the error with which the last poll has failed
    batches: tuple[Progress, ...] = ()
    rows: int = 0
    late: int | None = 0
    late_by: dict[str, int] = field(default_factory=dict)
    dropped: int = 0
    rejected: int = 0

    @property
    def last(self) -> Progress | None:
        """The last micro-batch."""
        return self.batches[-1] if self.batches else None


class QueryPoller:
    """Polls a query's status by public attributes alone, which Spark Connect has, too."""

    def __init__(self, query: Any) -> None:
        self._query, self._lock = query, Lock()
        self._newest_timestamp, self._at = "", -LEAST
        self.status = QueryStatus()

    def poll(self) -> QueryStatus:
        """The status of the query; the last one again if it is not older than ``LEAST``."""
        with self._lock:
            if time.monotonic() - self._at >= LEAST:
                try:
                    self.status = self._read_status()
                except Exception as error:  # noqa: BLE001 - whatever a connection may raise
                    self.status = replace(self.status, trouble=shorten_error(error))
                self._at = time.monotonic()
            return self.status

    def _read_status(self) -> QueryStatus:
        query = self._query
        # Read before the micro-batches: once the query has ended, all of them are there.
        running, failure = bool(query.isActive), query.exception()
        status = replace(
            self.status,
            name=query.name,
            running=running,
            message=str((query.status or {}).get("message", "")),
            failure=None if failure is None else shorten_error(failure),
            trouble=None,
        )
        for one in self._read_new_batches():
            status = _add_batch(status, one)
        return status

    def _read_new_batches(self) -> list[Progress]:
        """The micro-batches since the last poll."""
        newest = last_batch(self._query)  # a small answer; mostly there is nothing new
        if newest is None or newest.timestamp <= self._newest_timestamp:
            return []
        recent = recent_batches(self._query)
        new = [one for one in recent if one.timestamp > self._newest_timestamp]
        self._newest_timestamp = max((one.timestamp for one in new), default=self._newest_timestamp)
        return [progress(one) for one in new if has_run(one)]


def _add_batch(status: QueryStatus, one: Progress) -> QueryStatus:
    late_by = dict(status.late_by)
    for name, rows in one.late_by.items():
        late_by[name] = late_by.get(name, 0) + rows
    return replace(
        status,
        batches=(*status.batches, one)[-MOST:],
        rows=status.rows + one.rows,
        late=add_late([status.late, one.late]),
        dropped=status.dropped + one.dropped,
        rejected=status.rejected + one.rejected,
        late_by=late_by,
    )


def shorten_error(error: BaseException) -> str:
    """An error's text in a line or two, without the stack trace."""
    own = find_python_error(str(error))
    if own is not None:
        return own[:600]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if not line.startswith(("at ", "JVM stacktrace"))]
    return " ".join(useful[:2])[:600] or type(error).__name__


# What the dicts of Spark 3.5 leave out where there is nothing to tell.
_NOTHING: dict[str, Any] = {"name": None, "observedMetrics": {}, "eventTime": {}, "durationMs": {}}


def recent_batches(query: Any) -> list[Any]:
    """The progress of each micro-batch that a query remembers."""
    return [as_progress(one) for one in query.recentProgress]


def last_batch(query: Any) -> Any:
    """The progress of a query's last micro-batch; None before the first."""
    last = query.lastProgress
    return None if last is None else as_progress(last)


def as_progress(told: Any) -> Any:
    """One progress with attributes; what is neither an object of Spark's nor a dict stays."""
    of_another = not isinstance(told, Mapping) or "numInputRows" not in told
    if of_another or hasattr(told, "observedMetrics"):
        return told
    values = {**_NOTHING, **told}
    values.setdefault("batchDuration", values["durationMs"].get("triggerExecution", 0))
    values["stateOperators"] = [
        SimpleNamespace(**{"customMetrics": {}, **one}) for one in told.get("stateOperators", [])
    ]
    return SimpleNamespace(**values)


def has_run(progress: Any) -> bool:
    """Whether a progress is of a micro-batch; Spark also tells, now and then, of no new rows."""
    return "addBatch" in progress.durationMs
