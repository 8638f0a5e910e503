"""The web server of the live page: read only, two addresses, for this machine alone."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Config, Server

from fanlight.engine.spec import FanlightError

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
