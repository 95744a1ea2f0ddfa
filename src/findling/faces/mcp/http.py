"""The transport of the protocol over HTTP (its streamable form), for one machine or, with a token, for several.

Must not know a tool. The SDK speaks the protocol; this module limits who may speak and how much, and ends the server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from findling.faces.http.options import TOKEN_VARIABLE
from findling.faces.http.running import AddressGuard, App, run
from findling.faces.mcp.desk import load_lightly, make_server
from findling.faces.mcp.http_guard import SESSION_IDLE_S, BodyGuard, Sessions, TokenGuard, UserGuard, refuse_address
from findling.faces.mcp.http_queue import CallQueue

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from findling.engine.remote.users import Users
    from findling.faces.http.operating import Port
    from findling.faces.http.options import HttpOptions, Listening
    from findling.faces.mcp.desk import Desk

PATH = "/mcp"

CORS_HEADERS = (
    "Accept Authorization Content-Type Last-Event-ID Mcp-Method Mcp-Name Mcp-Protocol-Version Mcp-Session-Id".split()
)
"""The headers that a page of an allowed origin may send."""


def serve_http(listening: Listening, desk: Desk, users: Users | None = None) -> None:
    """Answer until SIGINT or SIGTERM, then finish or give up running calls. ``users``: who may ask; None if everybody
    may."""
    asyncio.run(_serve(listening, desk, users))


async def _serve(listening: Listening, desk: Desk, users: Users | None) -> None:
    port = _operated(listening.options, users)
    try:
        server = make_server(desk)
        desk.start()
        await serve_on(listening, server, stop=desk.stop_calls, users=users)
    finally:
        await desk.close()
        if port is not None:
            port.close()
        if users is not None:
            users.close()


def _operated(options: HttpOptions, users: Users | None) -> Port | None:
    """The port with health and metrics for operators, announced when it opens; None if none is configured."""
    if options.metrics is None:
        return None
    from findling.faces.http.operating import Port

    given = {"ready": users.check, "gauges": users.gauges} if users is not None else {}
    port = Port(*options.metrics, **given)  # type: ignore[arg-type]
    sys.stderr.write(f"findling: health, readiness and metrics at {port.address}\n")
    return port


async def serve_on(
    listening: Listening, server: Server[Any], *, stop: Callable[[], None], users: Users | None = None
) -> None:
    """As `serve_http`, of any server. ``stop`` is called when the end begins."""
    load_lightly()
    await run(
        make_app(server, listening.options, users),
        listening,
        started=lambda: _tell(listening),
        stop=stop,
        protocol="findling.faces.mcp.http_connections:Connection",
        lifespan="on",
    )


def make_app(server: Server[Any], options: HttpOptions, users: Users | None = None) -> App:
    """The server's endpoint behind its guards, in order: address, allowed origins, token, size of the body, queue of
    calls."""
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
    if users is not None:
        app = UserGuard(app, options, users.of_token)
    if options.origins:
        from starlette.middleware.cors import CORSMiddleware

        app = CORSMiddleware(
            app,
            allow_origins=options.origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=CORS_HEADERS,
            expose_headers=("Mcp-Session-Id",),
        )
    return AddressGuard(app, options, refuse_address)


def _tell(listening: Listening) -> None:
    options = listening.options
    lines = [f"findling: serving {listening.address}{PATH}"]
    if options.token is None and not options.users:
        lines.append(
            f"note: every user of this machine may ask; {TOKEN_VARIABLE} or --token-file makes a token necessary"
        )
    if not listening.loopback and not options.hosts:
        lines.append("note: only requests to localhost are answered; --allow-host adds other names of this machine")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()
