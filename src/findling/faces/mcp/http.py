"""The transport of the protocol over HTTP (its streamable form), for one machine or, with a token, for several.

Must not know a tool. The SDK speaks the protocol; this module limits who may speak and how much, and ends the server.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from findling.faces.mcp.desk import load_lightly, make_server
from findling.faces.mcp.http_guard import SESSION_IDLE_S, AddressGuard, App, BodyGuard, Sessions, TokenGuard
from findling.faces.mcp.http_options import TOKEN_VARIABLE
from findling.faces.mcp.http_queue import CallQueue

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from findling.faces.mcp.desk import Desk
    from findling.faces.mcp.http_options import HttpOptions, Listening

PATH = "/mcp"

MAX_HEADER_BYTES = 1 << 15

GRACE_S = 2
"""How long answers under way are waited for at the end."""

CORS_HEADERS = (
    "Accept Authorization Content-Type Last-Event-ID Mcp-Method Mcp-Name Mcp-Protocol-Version Mcp-Session-Id".split()
)
"""What a page of a named origin may send along."""


def serve_http(listening: Listening, desk: Desk) -> None:
    """Answer until SIGINT or SIGTERM, then finish or give up what is under way."""
    asyncio.run(_serve(listening, desk))


async def _serve(listening: Listening, desk: Desk) -> None:
    try:
        server = make_server(desk)
        desk.start()
        await serve_on(listening, server, stop=desk.stop_calls)
    finally:
        await desk.close()


async def serve_on(listening: Listening, server: Server[Any], *, stop: Callable[[], None]) -> None:
    """As `serve_http`, of any server. ``stop`` is called when the end begins."""
    load_lightly()
    import uvicorn

    options = listening.options

    class Running(uvicorn.Server):
        """Ends on a signal as uvicorn does, but leaves the process to its owner, who has an index to close."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            _tell(listening)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            def end(number: int, frame: Any) -> None:
                stop()
                self.handle_exit(number, frame)

            before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        make_app(server, options),
        http="findling.faces.mcp.http_connections:Connection",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",  # a line for each broken request would be a stranger's to write, into a pipe nobody may read
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )
    await Running(config).serve([listening.socket])


def make_app(server: Server[Any], options: HttpOptions) -> App:
    """The server's endpoint behind its guards: the address, then pages of named origins, the token, the body, and the
    queue of calls."""
    from mcp.server.transport_security import TransportSecuritySettings

    app: App = server.streamable_http_app(
        streamable_http_path=PATH,
        session_idle_timeout=SESSION_IDLE_S,
        max_sessions=None,  # here the longest idle one makes room
        # The guards here know more: further names, and ports behind a tunnel.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app = BodyGuard(CallQueue(Sessions(app)))
    if options.token is not None:
        app = TokenGuard(app, options.token)
    if options.origins:
        from starlette.middleware.cors import CORSMiddleware

        app = CORSMiddleware(
            app,
            allow_origins=options.origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=CORS_HEADERS,
            expose_headers=("Mcp-Session-Id",),
        )
    return AddressGuard(app, options)


def _tell(listening: Listening) -> None:
    options = listening.options
    lines = [f"findling: serving {listening.url}"]
    if options.token is None:
        lines.append(
            f"note: every user of this machine may ask; {TOKEN_VARIABLE} or --token-file makes a token necessary"
        )
    if not listening.loopback and not options.hosts:
        lines.append("note: only requests to localhost are answered; --allow-host adds other names of this machine")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()
