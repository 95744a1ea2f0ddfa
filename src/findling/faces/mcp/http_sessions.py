"""The sessions of older protocol revisions: who leaves when a place is needed. Must not know a message or a tool.

The SDK opens and ends them. It would turn a new client away when all places are taken, and most clients never say
goodbye.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from findling.faces.mcp.http_guard import App, Message, Receive, Scope, Send, header_values

MAX_SESSIONS = 64
"""Clients of the older protocol revisions that are remembered at a time, besides those with a call under way."""

SESSION_IDLE_S = 1800.0
"""After so long without a request a session is forgotten, and its client opens another."""

SESSION_HEADER = b"mcp-session-id"


@dataclass(slots=True)
class _Session:
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
