"""The first check of every HTTP request: it is addressed to this server, and no foreign web page sent it.

Without it a web page could have its visitor's browser ask a server on loopback, by a name that leads there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from findling.faces.http.options import HttpOptions

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
