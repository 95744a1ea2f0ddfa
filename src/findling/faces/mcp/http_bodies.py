"""What is let through to the protocol: the body of every HTTP request. Must not know any tool."""

from __future__ import annotations

from findling.faces.mcp.http_guard import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    Standing,
    header_values,
    raise_standing,
    send_refusal,
)
from findling.faces.mcp.messages import Refused, TooLong, read_message

MAX_REQUEST_BYTES = 1 << 22
"""A larger request is no call of ours: the 100,000 characters of a query that are searched for take 1.2 MB where each
is written as two escapes, and a longer query is cut, not refused."""


class BodyGuard:
    """Lets through a message that the SDK answers, mended where that is possible, once it has come in whole."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST":
            try:
                message = await _message(scope, receive)
            except Refused as refused:
                await send_refusal(send, 413 if isinstance(refused, TooLong) else 400, refused)
                return
            if message is None:
                return
            receive = _once(message.encode(), receive)
        raise_standing(scope, Standing.HEARD)
        await self._app(scope, receive, send)


async def _message(scope: Scope, receive: Receive) -> str | None:
    """What a request says, None if its client has gone. Raises `Refused`."""
    if any(int(value) > MAX_REQUEST_BYTES for value in header_values(scope, b"content-length")):
        raise TooLong(b"", b"", MAX_REQUEST_BYTES)
    body = b""
    more = True
    while more:
        part = await receive()
        if part["type"] != "http.request":
            return None
        body += part["body"]
        more = part["more_body"]
        if len(body) > MAX_REQUEST_BYTES:
            raise TooLong(body, b"", MAX_REQUEST_BYTES)
    return read_message(body)


def _once(body: bytes, receive: Receive) -> Receive:
    """Receive this body, and then what else comes."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_once() -> Message:
        return parts.pop() if parts else await receive()

    return receive_once
