"""The queue of calls over HTTP: a call waits a limited time for its turn, then is told when to try again.

Calls are answered one after the other (`desk`); what is no call, such as a greeting or that a call is cancelled, waits
for nothing.
"""

from __future__ import annotations

import asyncio

from findling.faces.http.running import App, Message, Receive, Scope, Send
from findling.faces.mcp.http_guard import again, is_call, send_refusal
from findling.faces.mcp.wire import INTERNAL_ERROR, Refused

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
