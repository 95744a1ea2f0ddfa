"""The transport of the protocol over HTTP (its streamable form), for one machine or, with a token, for several.

Must not know a tool. The SDK speaks the protocol; this module limits who may speak and how much, and ends the server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from findling.faces.http.options import TOKEN_VARIABLE, HttpOptions, Listening
from findling.faces.http.running import AddressGuard, App, Message, Receive, Scope, Send, run
from findling.faces.mcp.desk import Desk, load_lightly, make_server
from findling.faces.mcp.http_guard import (
    SESSION_IDLE_S,
    BodyGuard,
    Sessions,
    Standing,
    TokenGuard,
    again,
    is_call,
    refusal,
    refuse_address,
    send_refusal,
    standing,
)
from findling.faces.mcp.wire import INTERNAL_ERROR, INVALID_REQUEST, Refused

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


# --- http queue ---------------------------------------------------------------------------------------------------
# The queue of calls over HTTP: a call waits a limited time for its turn, then is told when to try again.
#
# Calls are answered one after the other (`desk`); what is no call, such as a greeting or that a call is cancelled,
# waits for nothing.

# --- http connections ---------------------------------------------------------------------------------------------
# HTTP connections: the time limit for receiving a request, and which connection is closed when there are too many.
#
# Must not know a message of the protocol, nor a tool. uvicorn itself waits for a request without limit, and with too
# many connections it refuses every request, also on connections that are open.

AT_ONCE = 8
"""Calls that the SDK has at a time: enough for one to be ready when the one before it is answered."""

WAIT_S = 30.0
"""Half of what clients usually wait for an answer."""

RETRY_AFTER_S = 5


class CallQueue:
    """Lets calls through in the order in which they came."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_call(scope):
            await self._app(scope, receive, send)
            return
        body = await receive()
        gone = asyncio.ensure_future(receive())
        try:
            in_time = await self._turn_or(gone)
        finally:
            if not gone.done():
                gone.cancel()
        if in_time is None:
            return
        if not in_time:
            late = Refused(
                INTERNAL_ERROR, f"Too many calls are waiting: this one was not served within {WAIT_S:g} seconds."
            )
            await send_refusal(send, 503, late, {"retry-after": str(RETRY_AFTER_S)})
            return
        try:
            await self._app(scope, again(body, receive), send)
        finally:
            self._turns.release()

    async def _turn_or(self, gone: asyncio.Future[Message]) -> bool | None:
        """Whether this call's turn comes in time; None if its client has gone."""
        turn = asyncio.ensure_future(self._turns.acquire())
        try:
            await asyncio.wait((turn, gone), timeout=WAIT_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not turn.done():
                turn.cancel()
            elif gone.done() and not turn.cancelled():
                self._turns.release()
        if gone.done():
            return None
        return turn.done()


MAX_CONNECTIONS = 1200
"""With more, one is closed for each that is opened; a session holds one or two."""

LEAST_CONNECTIONS = 32
"""The number where the system allows the process few open files."""

OTHER_FILES = 300
"""Descriptors that are kept for the index and its processes."""

REQUEST_S = 10.0
"""The time in which a request must be received, body included."""


@cache
def _descriptors() -> int:
    """How many file descriptors the process may have; the limit is raised as far as connections need it."""
    if sys.platform == "win32":
        return MAX_CONNECTIONS + OTHER_FILES
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


async def _turn_away(scope: Scope, receive: Receive, send: Send) -> None:
    crowded = Refused(INTERNAL_ERROR, "Too many connections are open.")
    await send_refusal(send, 503, crowded, {"retry-after": str(RETRY_AFTER_S), "connection": "close"})


class Connection(H11Protocol):
    """One client's connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._made_at = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = self.loop.call_later(REQUEST_S, self._give_up)
        self._take_place()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()  # the next request may have begun to come in

    def _watch(self) -> None:
        """Keep one deadline while a request is being received, from its first byte to its last."""
        if not self._is_coming_in():
            self._end_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S, self._give_up)

    def _is_coming_in(self) -> bool:
        state = self.conn.their_state
        return state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))

    def _end_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        unanswered = self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE)
        if not unanswered or not self._is_coming_in():
            self.transport.abort()
            return
        late = Refused(INVALID_REQUEST, f"The request was not received as a whole within {REQUEST_S:g} seconds.")
        headers, body = refusal(late, {"connection": "close"})
        head = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _take_place(self) -> None:
        """Close another connection if there are too many; if none may be closed, answer this one with 503."""
        others = [other for other in self.connections if isinstance(other, Connection) and other is not self]
        staying = [other for other in others if not other.transport.is_closing()]
        if len(staying) < min(MAX_CONNECTIONS, max(LEAST_CONNECTIONS, _descriptors() - OTHER_FILES)):
            return
        leaving = min((other for other in staying if other._may_leave), key=Connection._rank, default=None)
        if leaving is None:
            self.app = _turn_away
        else:
            leaving.transport.abort()

    @property
    def _may_leave(self) -> bool:
        return self._standing < Standing.KNOWN

    def _rank(self) -> tuple[Standing, bool, float]:
        """The order in which connections are closed: those that asked nothing yet, then idle ones, older ones first."""
        return self._standing, self._is_asking, self._made_at

    @property
    def _standing(self) -> Standing:
        return Standing.UNKNOWN if self.scope is None else standing(self.scope["state"])

    @property
    def _is_asking(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


PATH = "/mcp"

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
    await run(
        make_app(server, listening.options),
        listening,
        started=lambda: _tell(listening),
        stop=stop,
        protocol="findling.faces.mcp.http:Connection",
        lifespan="on",
    )


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
    return AddressGuard(app, options, refuse_address)


def _tell(listening: Listening) -> None:
    options = listening.options
    lines = [f"findling: serving {listening.address}{PATH}"]
    if options.token is None:
        lines.append(
            f"note: every user of this machine may ask; {TOKEN_VARIABLE} or --token-file makes a token necessary"
        )
    if not listening.loopback and not options.hosts:
        lines.append("note: only requests to localhost are answered; --allow-host adds other names of this machine")
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    sys.stderr.flush()
