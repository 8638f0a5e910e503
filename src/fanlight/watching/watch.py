"""``fl.watch``: a live page for a running stream."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from html import escape
from threading import Lock
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from fanlight.engine.spec.errors import explain_wrong_calls, refuse
from fanlight.engine.spec.units import MICROSECONDS, read_extent
from fanlight.plots.figures.clock import find_zone
from fanlight.plots.figures.given import check_count
from fanlight.report import Page
from fanlight.watching.newest_windows import NewestWindows, check_source
from fanlight.watching.page import (
    ADDRESS,
    HOSTS,
    SCRIPT,
    ServerThread,
    describe_status,
    make_app,
    make_page,
    state_word,
)
from fanlight.watching.progress import QueryPoller, QueryStatus

_POLL = 1.0  # seconds between two requests of a page
_OPEN = 10.0  # seconds after its last request for which a page counts as open


class Watch:
    """A live page that is being served: what :func:`fanlight.watch` returns.

    ``url`` is its address, ``stop()`` ends it, and so does the end of a ``with`` block.
    """

    def __init__(
        self, poller: QueryPoller, newest: NewestWindows | None, zone: str, port: int
    ) -> None:
        self._poller, self._newest, self._zone = poller, newest, zone
        self._last_request, self._end_was_shown = -_OPEN, False
        # Arrow imports pandas on first use; now, or plotly in another thread sees it half imported.
        pa.array([0])
        self._lock, self._version = Lock(), 0
        self._page: Page | None = None
        self._status, self._reading = QueryStatus(), None if newest is None else newest.latest
        self._serving = ServerThread(make_app(self._write_page, self._report_state), port)
        self.url: str = f"http://{ADDRESS}:{self._serving.port}/"
        if newest is not None:
            newest.start()

    def stop(self, linger: float = 0.0) -> None:
        """End the page; the query goes on.

        Parameters
        ----------
        linger
            The most seconds to wait until an open page has shown the end of the query. If no page
            is open, it does not wait.
        """
        end = time.monotonic() + linger
        while time.monotonic() < end and self._has_reader and not self._end_was_shown:
            time.sleep(0.1)
        if self._newest is not None:
            self._newest.stop()
        self._serving.stop()

    @property
    def running(self) -> bool:
        """Whether the page is being served."""
        return self._serving.running

    @property
    def _has_reader(self) -> bool:
        return time.monotonic() - self._last_request < _OPEN

    def _update_page(self) -> tuple[QueryStatus, Page, int]:
        """The status, the page for it, and its version; made anew only if something has changed."""
        status, reading = self._poller.poll(), self._newest.latest if self._newest else None
        with self._lock:
            shown = replace(status, message="")  # the message changes often, and is in no part
            if self._page is None or self._status != shown or self._reading is not reading:
                self._version += 1
                self._status, self._reading = shown, reading
                self._page = make_page(status, reading, self._zone)
            return status, self._page, self._version

    def _write_page(self, nonce: str) -> str:
        _, page, _ = self._update_page()
        script = SCRIPT.replace("$every", str(int(_POLL * 1_000)))
        return page.html(script=script, nonce=nonce)

    def _report_state(self, shown: str) -> dict[str, Any]:
        self._last_request = time.monotonic()
        # Ask this first: a reading after the query's end is final, and the page below shows it.
        done = self._newest is None or self._newest.done
        if self._newest is not None:
            self._newest.request()
        status, page, version = self._update_page()
        ended = done and not status.running
        self._end_was_shown = ended
        return {
            "version": str(version),
            "parts": {} if shown == str(version) else page.parts,
            "title": page.title,
            "words": describe_status(status, self._zone),
            "state": state_word(status),
            "ended": ended,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __str__(self) -> str:
        """The address of the page, in words."""
        return f"watch it at {self.url}" if self.running else f"{self.url} is no longer served"

    def _repr_html_(self) -> str:
        """What a notebook shows: a link."""
        if not self.running:
            return escape(str(self))
        return f'<a href="{self.url}" target="_blank" rel="noopener">{self.url}</a>'


@explain_wrong_calls("fl.watch(query)")
def watch(
    query: Any,
    windows: Any = None,
    *,
    value: str | None = None,
    zone: str = "UTC",
    newest: int = 1_000,
    every: str | timedelta = "2 seconds",
    port: int = 0,
    host: str = ADDRESS,
) -> Watch:
    """Serve a live page for a running stream: its windows, speed, watermark and state.

    The page is available only on this machine, and is read-only. After the query has ended or
    failed, the page remains and shows this, until ``stop()`` or the end of the program. Needs
    ``pip install 'fanlight[watch]'``.

    Parameters
    ----------
    query
        The running query, as returned by ``writeStream.start()``, classic or Spark Connect.
    windows
        Where to read its windows: ``spark.table(query.name)`` for a memory sink; for files and
        other sources that must be read again each time, a function without arguments:
        ``lambda: spark.read.parquet(path)``. Without it the page shows only the progress.
    value
        The column to draw; by default as :func:`fanlight.plots.draw` chooses.
    zone
        The time zone in which times are shown.
    newest
        The maximum number of windows to read and draw: those that end last.
    every
        The minimum time between two reads of the windows: a duration of at most an hour. They are
        read only while a page is open. After a read that takes one second, the next read waits at
        least ten.
    port
        The port; 0 for any free one.
    host
        ``"127.0.0.1"`` or ``"localhost"``, that is, this machine; other hosts are not accepted.

    Returns
    -------
    Watch
        Its ``url`` is the address of the page; a notebook shows it as a link. ``stop()`` closes the
        page, and so does the end of a ``with`` statement.

    Raises
    ------
    FanlightError
        If ``query`` is not a streaming query, the windows cannot be read, or the port is taken.

    Examples
    --------
    >>> import fanlight as fl
    >>> rows = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    >>> windows = fl.over(rows, fl.Sliding("10 seconds", "1 second"), time="timestamp")
    >>> counted = windows.agg(calls=fl.agg.count())
    >>> query = counted.writeStream.format("memory").queryName("watched").start()
    >>> with fl.watch(query, spark.table("watched")) as watched:
    ...     print(watched.url.partition("1:")[0])
    http://127.0.0.
    >>> query.stop()

    """
    if not all(hasattr(query, name) for name in ("recentProgress", "isActive", "exception")):
        raise refuse(
            f"watch({type(query).__name__})",
            "is not given a streaming query",
            "pass what writeStream.start() returns",
        )
    if not isinstance(host, str) or host not in HOSTS:
        raise refuse(
            f"host={host!r}",
            "would show the stream to anyone who reaches this machine, since the page has no login",
            f"leave it out; from another machine look through ssh -L PORT:{ADDRESS}:PORT",
        )
    wait = read_extent("every", every, counted=False, timed=True)
    if wait.measure != "time" or wait.value > MICROSECONDS["hour"]:
        raise refuse(
            f"every={every!r}", "is not a duration of up to an hour", "write every='2 seconds'"
        )
    seconds = float(wait.value / MICROSECONDS["second"])
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65_536:
        raise refuse(f"port={port!r}", "is not a port", "write port=0 for any free one")
    if value is not None and not isinstance(value, str):
        raise refuse(
            f"value={value!r}", "is not the name of a column", "write for example value='calls'"
        )
    find_zone("zone", zone)
    options = {"zone": zone} if value is None else {"zone": zone, "value": value}
    most = check_count("newest", newest, 1, "windows")
    poller, reading = QueryPoller(query), None
    if check_source(windows) is not None:
        reading = NewestWindows(windows, lambda: poller.status.running, most, seconds, options)
    return Watch(poller, reading, zone, port)
