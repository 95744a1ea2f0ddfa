"""HTTP connections: the time limit for receiving a request, and which connection is closed when there are too many.

Must not know a message of the protocol, nor a tool. uvicorn itself waits for a request without limit, and with too
many connections it refuses every request, also on connections that are open.
"""

from __future__ import annotations

import asyncio
import sys
from functools import cache

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from findling.faces.http.running import Receive, Scope, Send
from findling.faces.mcp.http_guard import Standing, refusal, send_refusal, standing
from findling.faces.mcp.http_queue import RETRY_AFTER_S
from findling.faces.mcp.wire import INTERNAL_ERROR, INVALID_REQUEST, Refused

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
