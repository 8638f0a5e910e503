"""What has been seen of a query: its micro-batches one by one, and how it stands."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from fanlight.watching.progress import Progress, progress

MOST = 500  # micro-batches that are remembered, for the pictures
LEAST = 0.5  # seconds between two looks, however many pages are open


@dataclass(frozen=True)
class QueryStatus:
    """A query as it was seen last."""

    name: str | None = None
    running: bool = True
    message: str = ""
    failure: str | None = None  # of the query
    trouble: str | None = None  # in asking for it
    batches: tuple[Progress, ...] = ()
    rows: int = 0
    late: int = 0
    late_by: dict[str, int] = field(default_factory=dict)
    dropped: int = 0

    @property
    def last(self) -> Progress | None:
        """The last micro-batch."""
        return self.batches[-1] if self.batches else None


class QueryPoller:
    """Looks at a query, now and then: only what is public of it, so that Connect's will do."""

    def __init__(self, query: Any) -> None:
        self._query, self._lock = query, Lock()
        self._newest_timestamp, self._at = "", -LEAST
        self.status = QueryStatus()

    def poll(self) -> QueryStatus:
        """How the query stands; as seen last, if that was a moment ago."""
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
        # Before the micro-batches: when it has ended, they are all there.
        running, failure = bool(query.isActive), query.exception()
        found = replace(
            self.status,
            name=query.name,
            running=running,
            message=str((query.status or {}).get("message", "")),
            failure=None if failure is None else shorten_error(failure),
            trouble=None,
        )
        for one in self._read_new_batches():
            found = _add_batch(found, one)
        return found

    def _read_new_batches(self) -> list[Progress]:
        """The micro-batches that have not been heard of."""
        newest = self._query.lastProgress  # a small look, as there is mostly nothing new
        if newest is None or newest.timestamp <= self._newest_timestamp:
            return []
        told = [one for one in self._query.recentProgress if one.timestamp > self._newest_timestamp]
        self._newest_timestamp = max(
            (one.timestamp for one in told), default=self._newest_timestamp
        )
        # Without "addBatch" Spark says that nothing has come.
        return [progress(one) for one in told if "addBatch" in one.durationMs]


def _add_batch(seen: QueryStatus, one: Progress) -> QueryStatus:
    late_by = dict(seen.late_by)
    for name, rows in one.late_by.items():
        late_by[name] = late_by.get(name, 0) + rows
    return replace(
        seen,
        batches=(*seen.batches, one)[-MOST:],
        rows=seen.rows + one.rows,
        late=seen.late + one.late,
        dropped=seen.dropped + one.dropped,
        late_by=late_by,
    )


def shorten_error(error: BaseException) -> str:
    """What an error says, in a line or two: no stack trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("at ", "JVM stacktrace", "Traceback"))]
    return " ".join(kept[:2])[:600] or type(error).__name__
