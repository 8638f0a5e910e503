"""The live page: a report page, written anew as things change; the browser swaps the parts."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

import numpy as np
from plotly.graph_objects import Figure
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config, Server

from fanlight.engine.spec import FanlightError
from fanlight.plots.figures.axes import CLOCK, EXACT, make_panels
from fanlight.plots.figures.clock import local_time
from fanlight.plots.figures.style import colour_of, escape_text, finish, list_names
from fanlight.report import Page
from fanlight.watching.newest_windows import Reading
from fanlight.watching.progress import Progress, QueryStatus, describe_late

_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def make_page(status: QueryStatus, newest: Reading | None, zone: str) -> Page:
    """The page for a query's status; ``newest`` is None if ``windows=`` was not given."""
    name = status.name or "A stream without a name"
    page = Page(name, "A running stream: its windows as they come, and its progress.", "fanlight")
    page.facts(_list_facts(status, zone))
    page.news(describe_status(status, zone))
    with page.part("status"):
        _write_alarms(page, status)
    page.section("Windows")
    if newest is not None:
        with page.part("windows-figure"):
            if newest.figure is not None:
                page.figure(newest.figure, "windows")
        with page.part("windows-rows"):
            _write_windows(page, newest)
    else:
        page.text("To see the windows, say where they can be read: `fl.watch(query, windows=…)`.")
    page.section("Micro-batches")
    with page.part("batches-figure"):
        page.figure(draw_micro_batches(status.batches, zone), "batches")
    page.section("State")
    with page.part("state"):
        _write_state(page, status)
    page.foot("Served by fanlight on this machine, to this machine alone, and read only.")
    return page


def describe_status(status: QueryStatus, zone: str) -> str:
    """The status in one sentence, which a screen reader speaks."""
    last = status.last
    doing = (
        f"{state_word(status)}: {status.message}"
        if status.running and status.message
        else state_word(status)
    )
    if last is None:
        return f"{doing}. No micro-batch yet."
    local = _clock_text(last.watermark, zone)
    watermark = f"{local} {zone}" if local else "not begun"
    return (
        f"{doing}. {status.rows:,} rows so far, {last.rows_per_second:,.0f} rows a second, "
        f"watermark {watermark}, late: "
        f"{describe_late(status.late, status.late_by, status.dropped)}."
    )


def state_word(status: QueryStatus) -> str:
    """Whether the query runs, has ended or has failed, in one word."""
    if status.running:
        return "Running"
    return "Ended" if status.failure is None else "Failed"


def _list_facts(status: QueryStatus, zone: str) -> list[tuple[object, str]]:
    last = status.last
    number = "–" if last is None or last.batch is None else f"{last.batch:,}"
    day, _, time = _clock_text(last.watermark if last else None, zone).partition(" ")
    late = describe_late(status.late, status.late_by, status.dropped)
    return [
        (state_word(status), f"micro-batch {number}"),
        (f"{last.rows_per_second:,.0f}" if last else "–", "rows a second"),
        (status.rows, "rows so far"),
        (time or "not begun", f"watermark, {day}" if day else "watermark"),
        (late, "late" if status.late is None else "late rows"),
        (last.state_rows if last else "–", "rows of state"),
    ]


def _clock_text(time: str | None, zone: str) -> str:
    """A time in UTC as local date and time of a zone; empty text for None."""
    if time is None:
        return ""
    local = local_time(np.array([time.removesuffix("Z")], dtype="datetime64[us]"), zone)[0]
    return str(local.astype("datetime64[s]")).replace("T", " ")


def _write_alarms(page: Page, status: QueryStatus) -> None:
    if status.failure is not None:
        page.section("The query has failed", status.failure, alarm=True)
    if status.trouble is not None:
        page.section("The query does not answer", status.trouble, alarm=True)


def _write_windows(page: Page, newest: Reading) -> None:
    if newest.trouble is not None:
        page.text(f"The windows could not be read or drawn: {newest.trouble}")
    elif newest.seconds is None:
        page.text("The windows are being read.")
    elif not newest.count:
        page.text("No window has been reported yet.")
    opened = f", of which {newest.opened:,} are still open" if newest.opened else ""
    if newest.rows:
        page.table(newest.head, newest.rows)
        page.note(
            f"The newest {len(newest.rows):,} of the {newest.count:,} windows that were read"
            f"{opened}. The last reading took {newest.seconds:.2f} s."
        )


def _write_state(page: Page, status: QueryStatus) -> None:
    last = status.last
    if last is None or not last.state:
        page.text("No operator keeps state, or no micro-batch is complete yet.")
    else:
        page.table(
            ["operator", "its rows are", "rows", "memory", "disk", "dropped"],
            [
                [
                    one.operator,
                    one.keeps,
                    one.rows,
                    _format_size(one.bytes),
                    _format_size(one.disk),
                    one.dropped,
                ]
                for one in last.state
            ],
        )
    if status.late_by:
        late = list_names([f"{rows:,} of {name}" for name, rows in status.late_by.items()])
        page.note(f"Late rows: {late}. Groups of rows that Spark left out: {status.dropped:,}.")
    if status.rejected:
        page.note(
            f"Rows that are in no window because of their time: {status.rejected:,}; "
            "windows.rejected() lists such rows."
        )


def _format_size(count: int | None) -> str:
    if count is None:
        return "–"
    size, unit = float(count), 0
    while size >= 1_000 and unit < len(_UNITS) - 1:
        size, unit = size / 1_000, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 else f"{size:,.1f} {_UNITS[unit]}"


SCRIPT = """
const EVERY = $every, SPOKEN = 20000;
const element = name => document.getElementById(name);
const parts = {};
let paused = false, ended = false, spoken = 0, state = '', version = '', due = null;

const within = (place, what) => [...place.querySelectorAll(what)];
function replaceHtml(place, html) {
  const inside = '[tabindex], summary, a, button';
  const focus = within(place, inside).indexOf(document.activeElement);
  const scrolled = within(place, '.scroll').map(one => [one.scrollLeft, one.scrollTop]);
  place.innerHTML = html;
  within(place, '.scroll').forEach((one, number) => {
    [one.scrollLeft, one.scrollTop] = scrolled[number] || [0, 0];
  });
  if (focus >= 0) within(place, inside)[focus]?.focus({preventScroll: true});
}
async function replacePart(name, html) {
  if (parts[name] === html) return;
  parts[name] = html;
  const here = element(name);
  const next = new DOMParser().parseFromString(html, 'text/html');
  const [old, figure] = [here, next].map(one => one.querySelector('figure'));
  if (!figure || !old) {
    replaceHtml(here, html);
    for (const one of within(here, '.plotly-graph-div')) await show(one);
    return;
  }
  for (const [one, other] of [[old, figure], [old.firstChild, figure.firstChild]])
    one.setAttribute('aria-label', other.getAttribute('aria-label'));
  const data = figure.querySelector('script').textContent;
  old.querySelector('script').textContent = data;
  await show(old.querySelector('.plotly-graph-div'));
}
function tell(words, now) {
  element('news').textContent = words;
  if (!now && Date.now() - spoken < SPOKEN) return;
  spoken = Date.now();
  element('spoken').textContent = words;
}
async function poll() {
  if (paused) return;
  try {
    const answer = await fetch('state?version=' + version, {cache: 'no-store'});
    if (!answer.ok) throw new Error(answer.status);
    const news = await answer.json();
    if (paused) return;
    for (const [name, html] of Object.entries(news.parts)) await replacePart(name, html);
    tell(news.words, news.state !== state);
    [state, version] = [news.state, news.version];
    ended = news.ended;
    document.title = news.title;
  } catch {
    tell('There is no answer any more: the program that ran the query has ended, or has stopped '
      + 'this page. Below is what was known last.', state !== 'gone');
    state = 'gone';
  }
}
async function keepPolling() {
  clearTimeout(due);
  await poll();
  if (ended) element('pause').hidden = true;
  else if (!paused) due = setTimeout(keepPolling, state === 'gone' ? 5 * EVERY : EVERY);
}
element('pause').addEventListener('click', () => {
  paused = !paused;
  element('pause').textContent = paused ? 'Go on' : 'Pause';
  if (paused) tell('Paused: nothing on this page changes.', true);
  else keepPolling();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !paused && !ended) keepPolling();
});
window.live = window.drawn.then(keepPolling);
"""


NAMES = ("rows a second", "seconds of a micro-batch", "rows of state", "late rows", "late groups")
HEIGHT = 84


def draw_micro_batches(batches: Sequence[Progress], zone: str) -> Figure:
    """Draw speed, duration, state and late rows of each micro-batch at the time when it began."""
    texts = [str(one.begun).removesuffix("Z") for one in batches]
    times = local_time(np.array(texts, dtype="datetime64[us]"), zone)
    heights: list[list[float | None]] = [
        [one.rows_per_second for one in batches],
        [one.seconds for one in batches],
        [one.state_rows for one in batches],
        [one.late for one in batches],
        [one.dropped for one in batches],
    ]
    figure, whole = make_panels([HEIGHT] * len(NAMES), NAMES)
    for number, (name, line) in enumerate(zip(NAMES, heights, strict=True)):
        figure.add_scatter(
            x=times, y=line, name=name, mode="lines+markers", row=number + 1, col=1,
            line={"width": 1.4, "color": colour_of(number), "shape": "hv" if number == 2 else None},
            marker={"size": 4, "color": colour_of(number)},
        )  # fmt: skip
    figure.update_xaxes(type="date", hoverformat=CLOCK)
    figure.update_xaxes(
        title_text=escape_text(f"start of micro-batch, {zone}"), row=len(NAMES), col=1
    )
    figure.update_yaxes(hoverformat=EXACT, rangemode="tozero", nticks=4)
    figure.update_layout(uirevision="kept")
    return finish(figure, _describe(batches, heights), plot=whole, named=True)


def _describe(batches: Sequence[Progress], heights: Sequence[Sequence[float | None]]) -> str:
    if not batches:
        return "Lines over time, of micro-batches: none yet."
    lines = "; ".join(
        f"{name} {_describe_line(line)}" for name, line in zip(NAMES, heights, strict=True)
    )
    return f"Lines over time, of {len(batches):,} micro-batches: {lines}."


def _describe_line(line: Sequence[float | None]) -> str:
    """The range and the end of a figure; that of late rows has gaps where it is not known."""
    known = [one for one in line if one is not None]
    if not known:
        return "not known"
    last = "not known" if line[-1] is None else f"{line[-1]:,.6g}"
    return f"from {min(known):,.6g} to {max(known):,.6g}, last {last}"


ADDRESS = "127.0.0.1"
# DNS rebinding: a foreign site's name may lead here, but its requests name that site as host.
HOSTS = (ADDRESS, "localhost")
METHODS = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: "
    "blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY.replace("script-src 'nonce-{nonce}'", "script-src 'none'"),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class _ReadOnly:
    """Middleware: refuses every method but GET and HEAD, and adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in _HEADERS.items()
                        if name.lower().encode() not in present
                    ),
                ]
            await send(message)

        app = self._app
        if scope["method"] not in METHODS:
            app = PlainTextResponse("this page is read only", 405, {"Allow": ", ".join(METHODS)})
        await app(scope, receive, send_with_headers)


def make_app(page: Callable[[str], str], state: Callable[[str], dict[str, Any]]) -> ASGIApp:
    """The web application: ``/`` answers with the page, ``/state`` with the state as JSON.

    ``page`` takes the nonce of the page's scripts; ``state`` the version that a page shows now.
    """

    def get_page(_: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        headers = {"Content-Security-Policy": _POLICY.format(nonce=nonce)}
        return HTMLResponse(page(nonce), headers=headers)

    def get_state(request: Request) -> Response:
        return JSONResponse(state(request.query_params.get("version", "")))

    own_hosts = Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)
    routes = [Route("/", get_page), Route("/state", get_state)]
    site = Starlette(routes=routes, middleware=[own_hosts])
    site.router.redirect_slashes = False
    return _ReadOnly(site)


class ServerThread:
    """A server in a daemon thread, which does not keep the program from ending."""

    def __init__(self, site: ASGIApp, port: int) -> None:
        self._socket = _bind_socket(port)
        self.port: int = self._socket.getsockname()[1]
        config = Config(
            site, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None,
            access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=1, limit_concurrency=64,
        )  # fmt: skip
        self._server = Server(config)
        self._thread = Thread(
            target=self._server.run, args=([self._socket],), name="fanlight watch", daemon=True
        )
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started and self._thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)

    @property
    def running(self) -> bool:
        """Whether the server still answers."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop answering, and close the port."""
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()


def _bind_socket(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((ADDRESS, port))
    except OSError as error:
        bound.close()
        raise FanlightError(
            f"port={port} cannot be had ({error.strerror}); write port=0 for any free port"
        ) from error
    return bound
