"""The protocol over stdin and stdout, spoken by the SDK. Must not know a tool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, cast

from findling.faces.mcp.desk import Desk, load_lightly, make_server
from findling.faces.mcp.opening import OPENING_ID
from findling.faces.mcp.wire import Incoming, Refused, Wire

if TYPE_CHECKING:
    from mcp.shared._stream_protocols import WriteStream
    from mcp.shared.message import SessionMessage


def serve_stdio(wire: Wire, incoming: Incoming, desk: Desk) -> None:
    """Answer what comes in until its end."""
    asyncio.run(_serve(wire, incoming, desk))


async def _serve(wire: Wire, incoming: Incoming, desk: Desk) -> None:
    load_lightly()
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCError

    server = make_server(desk)

    async def messages() -> AsyncIterator[str]:
        """The messages that can be answered; the others are refused here."""
        async for line in incoming.attach(asyncio.get_running_loop()):
            try:
                yield line.message()
            except Refused as refused:
                await outgoing.send(SessionMessage(JSONRPCError.model_validate(refused.reply)))

    try:
        # The SDK does nothing with its input but iterate over the lines, and begins only after it has handed out its
        # streams.
        lines = cast("anyio.AsyncFile[str]", messages())
        async with stdio_server(lines, anyio.wrap_file(wire.writer)) as (received, outgoing):
            desk.start()
            await server.run(received, Unopened(outgoing), server.create_initialization_options())
    finally:
        await desk.close()


class Unopened:
    """The stream of answers without the first one: the client has the answer to its opening already."""

    def __init__(self, stream: WriteStream[SessionMessage]) -> None:
        self._stream = stream

    async def send(self, item: SessionMessage, /) -> None:
        if getattr(item.message, "id", None) != OPENING_ID:
            await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Unopened:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)
