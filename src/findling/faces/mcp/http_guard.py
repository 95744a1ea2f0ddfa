"""Who is let through to the protocol: the checks of every HTTP request, before its body is read.

Must not know the protocol beyond the shape of its errors, nor any tool. What a request brought is never repeated in
an answer or a log.
"""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from enum import IntEnum
from typing import Any

from findling.faces.mcp.http_options import HttpOptions
from findling.faces.mcp.messages import INVALID_REQUEST, Refused

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger(__name__)


class Standing(IntEnum):
    """What is known of whoever sent a request."""

    UNKNOWN = 0
    HEARD = 1
    """It was let through, and has come in whole."""
    KNOWN = 2
    """It brought the token."""


def standing(state: Mapping[str, Any]) -> Standing:
    """What is known of whoever sent the request with this state."""
    found: Standing = state.get("standing", Standing.UNKNOWN)
    return found


def raise_standing(scope: Scope, reached: Standing) -> None:
    scope["state"]["standing"] = max(standing(scope["state"]), reached)


class AddressGuard:
    """Lets through what is addressed to this server, and from no page that may not ask.

    Without it a web page could have its visitor's browser ask a server on loopback, by a name that leads there.
    """

    def __init__(self, app: App, options: HttpOptions) -> None:
        self._app, self._options = app, options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not _all_allowed(header_values(scope, b"host"), self._options.allows_host, needed=True):
            await _refuse(send, 421, "This host is not served here. --allow-host names further ones.")
        elif not _all_allowed(header_values(scope, b"origin"), self._options.allows_origin, needed=False):
            await _refuse(send, 403, "Pages of this origin may not ask here. --allow-origin names further ones.")
        else:
            await self._app(scope, receive, send)


class TokenGuard:
    """Lets through what brings the token."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self._token = app, token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_given(header_values(scope, b"authorization")):
            challenge = {"www-authenticate": 'Bearer realm="findling"'}
            await _refuse(send, 401, "A valid bearer token is needed.", challenge)
            return
        if scope["type"] == "http":
            raise_standing(scope, Standing.KNOWN)
        await self._app(scope, receive, send)

    def _is_given(self, values: list[bytes]) -> bool:
        if len(values) != 1:
            return False
        scheme, _, given = values[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token)


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _all_allowed(values: list[bytes], allows: Callable[[str], bool], *, needed: bool) -> bool:
    if len(values) != 1:  # two would be read differently by whoever else reads them
        return not values and not needed
    return allows(values[0].decode("latin-1"))


async def _refuse(send: Send, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
    _log.info("refused a request: %d %s", status, message)
    await send_refusal(send, status, Refused(INVALID_REQUEST, message), headers)


async def send_refusal(send: Send, status: int, refused: Refused, headers: Mapping[str, str] | None = None) -> None:
    rows, body = refusal(refused, headers)
    await send({"type": "http.response.start", "status": status, "headers": rows})
    await send({"type": "http.response.body", "body": body})


def refusal(refused: Refused, headers: Mapping[str, str] | None = None) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The headers and the body of an answer that refuses."""
    body = json.dumps(refused.reply).encode()
    sent = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in sent.items()], body
