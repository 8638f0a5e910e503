"""The status of a running query: whether it runs, and its micro-batches one by one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from fanlight.engine.spec.errors import find_python_error
from fanlight.watching.late_rows import add_late
from fanlight.watching.micro_batches import has_run, last_batch, recent_batches
from fanlight.watching.progress import Progress, progress

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
