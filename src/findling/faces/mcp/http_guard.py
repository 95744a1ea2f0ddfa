"""The checks of every HTTP request beyond its address (`http.guard`): its token and its body.

Must not know the protocol beyond the shape of its errors, nor any tool. What a request brought is never repeated in
an answer or a log.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from msgspec import Struct

from findling.faces.http.options import MAX_TOKEN, HttpOptions
from findling.faces.http.running import WRONG_HOST, App, Message, Receive, Scope, Send, header_values
from findling.faces.mcp.wire import INVALID_REQUEST, Refused, TooLong, read_message
from findling.model.errors import FindlingError

_log = logging.getLogger(__name__)


class Standing(IntEnum):
    """How far the sender of a request is trusted."""

    UNKNOWN = 0
    HEARD = 1
    """The request passed the checks and was received completely."""
    KNOWN = 2
    """It had the token."""


def standing(state: Mapping[str, Any]) -> Standing:
    """How far the sender of the request with this state is trusted."""
    found: Standing = state.get("standing", Standing.UNKNOWN)
    return found


def raise_standing(scope: Scope, reached: Standing) -> None:
    scope["state"]["standing"] = max(standing(scope["state"]), reached)


def is_call(scope: Scope) -> bool:
    """Whether a request that came in whole calls a tool."""
    found: bool = scope["state"].get("call", False)
    return found


class TokenGuard:
    """Passes on requests that have the token."""

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
        given = _bearer(values)
        return given is not None and hmac.compare_digest(given, self._token)


def _bearer(values: list[bytes]) -> bytes | None:
    """The token in a request's ``Authorization``; None where there is not exactly one."""
    if len(values) != 1:
        return None
    scheme, _, given = values[0].partition(b" ")
    return given.strip() if scheme.lower() == b"bearer" else None


class UserGuard:
    """Passes on requests of known users, with their names. ``user_of``: whose a token is, None for nobody's."""

    def __init__(self, app: App, options: HttpOptions, user_of: Callable[[str], str | None]) -> None:
        self._app, self._options, self._user_of = app, options, user_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            user = await self._user(scope)
        except FindlingError as error:
            _log.warning("the token of a request could not be checked: %s", error)
            await _refuse(send, 503, "The store does not answer.", {"retry-after": "5"})
            return
        if user is None:
            challenge = {"www-authenticate": 'Bearer realm="findling"'}
            await _refuse(send, 401, "A valid token of a user is needed.", challenge)
            return
        scope["state"]["user"] = user
        raise_standing(scope, Standing.KNOWN)
        await self._app(scope, receive, send)

    async def _user(self, scope: Scope) -> str | None:
        options = self._options
        if options.user_header and (scope.get("client") or ("",))[0] in options.proxies:
            named = header_values(scope, options.user_header.encode("ascii"))
            if len(named) == 1:
                return named[0].decode("utf-8", "replace").strip() or None
        given = _bearer(header_values(scope, b"authorization"))
        if not given or len(given) > MAX_TOKEN:
            return None
        return await asyncio.to_thread(self._user_of, given.decode("latin-1"))


async def _refuse(send: Send, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
    _log.info("refused a request: %d %s", status, message)
    await send_refusal(send, status, Refused(INVALID_REQUEST, message), headers)


async def refuse_address(send: Send, status: int) -> None:
    """For `http.guard.AddressGuard`: names the option that would let the request in."""
    wrong_host = status == WRONG_HOST
    said = (
        "This host name is not served here; --allow-host adds it."
        if wrong_host
        else "Requests from pages of this origin are refused; --allow-origin allows them."
    )
    await _refuse(send, status, said)


async def send_refusal(send: Send, status: int, refused: Refused, headers: Mapping[str, str] | None = None) -> None:
    rows, body = refusal(refused, headers)
    await send({"type": "http.response.start", "status": status, "headers": rows})
    await send({"type": "http.response.body", "body": body})


def refusal(refused: Refused, headers: Mapping[str, str] | None = None) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """The headers and the body of an answer that refuses."""
    body = json.dumps(refused.reply).encode()
    sent = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in sent.items()], body


# --- the body of every request ---------------------------------------------------------------------------------------


MAX_REQUEST_BYTES = 1 << 22
"""A larger request is no call of ours: the 100,000 characters of a query that are searched for take 1.2 MB where each
is written as two escapes, and a longer query is cut, not refused."""


class BodyGuard:
    """Passes on a message that the SDK can answer, repaired where possible, once it is received completely."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "POST":
            from pydantic_core import from_json

            try:
                message = await _message(scope, receive)
            except Refused as refused:
                await send_refusal(send, 413 if isinstance(refused, TooLong) else 400, refused)
                return
            if message is None:
                return
            scope["state"]["call"] = from_json(message).get("method") == "tools/call"
            receive = again({"type": "http.request", "body": message.encode(), "more_body": False}, receive)
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


def again(message: Message, receive: Receive) -> Receive:
    """A ``receive`` that gives this message first, and then whatever else comes."""
    parts = [message]

    async def receive_again() -> Message:
        return parts.pop() if parts else await receive()

    return receive_again


# --- the sessions of older protocol revisions ------------------------------------------------------------------------


MAX_SESSIONS = 1024
"""Clients of the older protocol revisions that are remembered at a time, besides those with a call under way."""

SESSION_IDLE_S = 1800.0
"""After so long without a request a session is forgotten, and its client opens another."""

SESSION_HEADER = b"mcp-session-id"


class _Session(Struct):
    used_at: float
    calls: int = 0
    streams: int = 0
    """Its calls under way, and its streams of what the server has to say."""


class Sessions:
    """Keeps the endpoint's sessions few: the longest idle one ends when another begins."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._sessions: dict[bytes, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = header_values(scope, SESSION_HEADER)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                await self._note(scope, given, message)
            await send(message)

        with self._used(given, is_call=scope["method"] == "POST"):
            await self._app(scope, receive, send_on)

    @contextmanager
    def _used(self, given: list[bytes], *, is_call: bool) -> Iterator[None]:
        session = self._sessions.get(given[0]) if given else None
        if session is None:
            yield
            return
        session.calls += is_call
        session.streams += not is_call
        try:
            yield
        finally:
            session.calls -= is_call
            session.streams -= not is_call
            session.used_at = time.monotonic()

    async def _note(self, scope: Scope, given: list[bytes], answer: Message) -> None:
        """What an answer tells of sessions: one has begun, or one has ended."""
        opened = [value for name, value in answer["headers"] if name.lower() == SESSION_HEADER]
        if given and (scope["method"] == "DELETE" or answer["status"] == 404):
            self._sessions.pop(given[0], None)
        elif opened and not given and answer["status"] < 400:
            await self._make_room(scope)
            self._sessions[opened[0]] = _Session(time.monotonic())

    async def _make_room(self, scope: Scope) -> None:
        forgotten = time.monotonic() - SESSION_IDLE_S
        for key, session in tuple(self._sessions.items()):
            if session.used_at < forgotten and not session.calls and not session.streams:
                del self._sessions[key]
        while len(self._sessions) >= MAX_SESSIONS:
            idle = [key for key, session in self._sessions.items() if not session.calls]
            if not idle:
                return
            longest = min(idle, key=lambda key: self._sessions[key].used_at)
            del self._sessions[longest]
            await self._end(scope, longest)

    async def _end(self, scope: Scope, key: bytes) -> None:
        """End a session as its client would."""

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            """Nobody waits for this answer."""

        await self._app({**scope, "method": "DELETE", "headers": [(SESSION_HEADER, key)]}, receive, send)
