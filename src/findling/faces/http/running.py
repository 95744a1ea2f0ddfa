"""A server from its first request to its last: uvicorn with what every server of findling wants of it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from findling.faces.http.options import HttpOptions, Listening

# --- guard --------------------------------------------------------------------------------------------------------
# The first check of every HTTP request: it is addressed to this server, and no foreign web page sent it.
#
# Without it a web page could have its visitor's browser ask a server on loopback, by a name that leads there.

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

Refuse = Callable[[Send, int], Awaitable[None]]
"""Answers with a status, in words and a form that the server's clients understand."""

WRONG_HOST, WRONG_ORIGIN = 421, 403
"""The statuses of a refusal."""


class AddressGuard:
    """Passes on requests with the right ``Host``, and with an allowed ``Origin`` or none."""

    def __init__(self, app: App, options: HttpOptions, refuse: Refuse) -> None:
        self._app, self._options, self._refuse = app, options, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not _all_allowed(header_values(scope, b"host"), self._options.allows_host, needed=True):
            await self._refuse(send, WRONG_HOST)
        elif not _all_allowed(header_values(scope, b"origin"), self._options.allows_origin, needed=False):
            await self._refuse(send, WRONG_ORIGIN)
        else:
            await self._app(scope, receive, send)


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _all_allowed(values: list[bytes], allows: Callable[[str], bool], *, needed: bool) -> bool:
    if len(values) != 1:  # two would be read differently by whoever else reads them
        return not values and not needed
    return allows(values[0].decode("latin-1"))


MAX_HEADER_BYTES = 1 << 15

GRACE_S = 2
"""How long answers under way are waited for at the end."""


async def run(
    app: App,
    listening: Listening,
    *,
    started: Callable[[], None],
    stop: Callable[[], None],
    protocol: str = "h11",
    lifespan: str = "off",
    head_bytes: int = MAX_HEADER_BYTES,
) -> None:
    """Answer until SIGINT or SIGTERM. ``started`` is called when requests are taken, ``stop`` when the end begins.
    ``protocol`` and ``lifespan``: uvicorn's ``http`` and ``lifespan``. ``head_bytes``: the most that a request may have
    before its body."""
    import uvicorn

    class Running(uvicorn.Server):
        """Ends on a signal as uvicorn does, but leaves the process to its owner, who has an index to close."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

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
        app,
        http=protocol,
        ws="none",
        lifespan=lifespan,  # type: ignore[arg-type]
        log_config=None,
        log_level="error",  # a line for each broken request would be a stranger's to write, into a pipe nobody may read
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_S,
        h11_max_incomplete_event_size=head_bytes,
    )
    await Running(config).serve([listening.socket])
