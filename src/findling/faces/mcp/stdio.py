"""The transport of the protocol over stdin and stdout: who reads and writes what. Must not know a tool.

Only the protocol is written to the stream that was stdout.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, cast

from findling.faces.mcp.desk import make_server
from findling.faces.mcp.messages import MAX_ENDS, Refused, TooLong, read_message
from findling.faces.mcp.sdk import load_lightly

if TYPE_CHECKING:
    from findling.faces.mcp.desk import Desk

MAX_MESSAGE_BYTES = 1 << 24
"""A longer line is no request of ours: it is refused, and read without being kept."""

MESSAGES_WAITING = 64
"""Messages that are read ahead; a client that sends faster has to wait."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What the protocol speaks over: a descriptor to read from, a stream to write to."""

    reader: int
    writer: TextIOWrapper


@dataclass(frozen=True, slots=True)
class Line:
    """What came in up to an end of line; of one that is ``too_long`` both ends, without what was between them."""

    data: bytes
    too_long: bool

    def message(self) -> str:
        """The message that it is, as text for the SDK. Raises `Refused`."""
        if self.too_long:
            raise TooLong(self.data[:MAX_ENDS], self.data[MAX_ENDS:], MAX_MESSAGE_BYTES)
        return read_message(self.data)


class Incoming:
    """The lines that come in, as an asynchronous iterator.

    A thread of its own reads them, and is not waited for: a read from a client that says nothing cannot be
    interrupted, and must not keep the process from ending.
    """

    def __init__(self, reader: int) -> None:
        self._reader = reader
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue()
        self._room = threading.Semaphore(MESSAGES_WAITING)
        threading.Thread(target=self._read, name="findling-stdin", daemon=True).start()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> Line:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        try:
            for line in _lines(self._reader):
                self._room.acquire()
                if not self._hand_over(line):
                    return
        finally:  # whoever waits learns of the end also when reading fails
            self._hand_over(None)

    def _hand_over(self, line: Line | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the loop is closed: the server has ended
            return False
        return True


def _lines(reader: int) -> Iterator[Line]:
    """The lines of a descriptor as they come, without those that are empty."""
    kept = bytearray()
    size = 0
    while read := os.read(reader, 1 << 16):
        *ends, rest = read.split(b"\n")
        for end in ends:
            if line := _line(kept + end, size + len(end)):
                yield line
            kept.clear()
            size = 0
        kept += rest
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            del kept[MAX_ENDS:-MAX_ENDS]
    if line := _line(kept, size):
        yield line


def _line(data: bytearray, size: int) -> Line | None:
    if size <= MAX_MESSAGE_BYTES:
        return Line(bytes(data), too_long=False) if data.strip() else None
    return Line(bytes(data[:MAX_ENDS] + data[-MAX_ENDS:]), too_long=True)


def claim_wire() -> Wire:
    """Take stdin and stdout for the protocol alone.

    From here on whatever is printed, by Python or by a native library, goes to stderr, and whatever reads stdin finds
    its end.
    """
    sys.stdout.flush()
    reader, writer = os.dup(0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Wire(reader, TextIOWrapper(writer, encoding="utf-8", newline="\n"))


async def serve_stdio(wire: Wire, desk: Desk) -> None:
    """Answer what comes in until its end."""
    load_lightly()
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCError

    server = make_server(desk)

    async def messages() -> AsyncIterator[str]:
        """What can be answered; what cannot is refused on the way."""
        async for line in Incoming(wire.reader):
            try:
                yield line.message()
            except Refused as refused:
                await outgoing.send(SessionMessage(JSONRPCError.model_validate(refused.reply)))

    try:
        # Of its input the SDK only iterates over the lines, and not before it has handed out its streams.
        lines = cast("anyio.AsyncFile[str]", messages())
        async with stdio_server(lines, anyio.wrap_file(wire.writer)) as (incoming, outgoing):
            desk.start()
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await desk.close()
