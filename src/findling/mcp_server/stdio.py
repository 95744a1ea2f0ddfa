"""The transport of the protocol over stdin and stdout: who reads and writes what. Must not know a tool.

Only the protocol is written to the stream that was stdout.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, cast

from findling.mcp_server.desk import make_server
from findling.mcp_server.sdk import load_lightly

if TYPE_CHECKING:
    from findling.mcp_server.desk import Desk

MAX_MESSAGE_BYTES = 1 << 24
"""A longer line is no request of ours, and is dropped."""

MESSAGES_WAITING = 64
"""Messages that are read ahead; a client that sends faster has to wait."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What the protocol speaks over: a descriptor to read from, a stream to write to."""

    reader: int
    writer: TextIOWrapper


class Incoming:
    """The messages that come in, one line each, as an asynchronous iterator.

    A thread of its own reads them, and is not waited for: a read from a client that says nothing cannot be
    interrupted, and must not keep the process from ending.
    """

    def __init__(self, reader: int) -> None:
        self._reader = reader
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = threading.Semaphore(MESSAGES_WAITING)
        threading.Thread(target=self._read, name="findling-stdin", daemon=True).start()

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        try:
            for line in _lines(self._reader):
                self._room.acquire()
                if not self._hand_over(line.decode("utf-8", "replace")):
                    return
        finally:  # whoever waits learns of the end also when reading fails
            self._hand_over(None)

    def _hand_over(self, line: str | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the loop is closed: the server has ended
            return False
        return True


def _lines(reader: int) -> Iterator[bytes]:
    """The lines of a descriptor as they come; one that is too long is left out."""
    pieces: list[bytes] = []
    size = 0
    while read := os.read(reader, 1 << 16):
        *ends, rest = read.split(b"\n")
        for end in ends:
            if size + len(end) <= MAX_MESSAGE_BYTES:
                yield b"".join((*pieces, end))
            pieces.clear()
            size = 0
        size += len(rest)
        if size > MAX_MESSAGE_BYTES:
            pieces.clear()
        elif rest:
            pieces.append(rest)
    if pieces:
        yield b"".join(pieces)


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

    server = make_server(desk)
    try:
        # Of its input the SDK only iterates over the lines.
        lines = cast("anyio.AsyncFile[str]", Incoming(wire.reader))
        async with stdio_server(lines, anyio.wrap_file(wire.writer)) as (incoming, outgoing):
            desk.start()
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await desk.close()
