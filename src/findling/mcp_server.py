"""The tools over MCP: a protocol's shell around the registry. Must not know what a tool does.

The SDK is imported when a server starts, and nowhere else: it takes half a second. No index, model or engine is opened
before a tool is called. Only the protocol is written to the stream that was stdout.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from findling import __version__, errors
from findling.types import Progress

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams

    from findling.tools.model import Tool, ToolResult
    from findling.tools.workspace import Workspace

INSTRUCTIONS = (
    "Search over the code and documents of this folder, by exact text, by name and by meaning. Search first, then read "
    "the places that it names. Everything runs on this machine; the first search indexes the folder."
)

PROGRESS_S = 0.25
"""Time between two notifications of progress: people read no faster."""

STAGES = ("listing", "indexing", "embedding")

LIST_TTL_MS = 3_600_000
"""How long a client may remember the list of tools: it is the same for as long as the server runs."""


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
        for line in _lines(self._reader):
            self._room.acquire()
            if not self._hand_over(line.decode("utf-8", "replace")):
                return
        self._hand_over(None)

    def _hand_over(self, line: str | None) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the loop is closed: the server has ended
            return False
        return True


def _lines(reader: int) -> Iterator[bytes]:
    """The lines of a descriptor as they come; the end of one that is too long stands for all of it."""
    rest = b""
    while piece := os.read(reader, 1 << 16):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        rest = rest[-MAX_MESSAGE_BYTES:]
    if rest:
        yield rest


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


def serve(
    path: Path | None = None,
    *,
    roots: Sequence[Path] = (),
    tools: Sequence[str] | None = None,
    cache: bool = False,
    allow_delete: bool = False,
) -> None:
    """Serve over stdin and stdout until the client closes its end.

    ``tools``: families or single tools, None for all. Raises `InvalidInput` and `RootError` before the first message.
    """
    if len(roots) > 1:
        raise errors.InvalidInput("One server searches one root.", remedy="Start a server for each --root.")
    from findling.roots import find_root
    from findling.tools.registry import select
    from findling.tools.workspace import Workspace

    root = roots[0] if roots else None
    chosen = select(tools, allow_delete=allow_delete)
    find_root(path, root=root)  # a folder that cannot be searched is said now, not at the first call
    wire = claim_wire()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    asyncio.run(_serve_stdio(wire, Desk(chosen, Workspace(path, root=root, cache=cache, background=True))))


async def _serve_stdio(wire: Wire, desk: Desk) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    server = make_server(desk)
    try:
        # Of its input the SDK only iterates over the lines.
        lines = cast("anyio.AsyncFile[str]", Incoming(wire.reader))
        async with stdio_server(lines, anyio.wrap_file(wire.writer)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await desk.close()


def make_server(desk: Desk) -> Server[Any]:
    """A server of the SDK's for these tools, for any transport."""
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server

    return Server(
        "findling",
        version=__version__,
        title="findling",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS, scope="public")},
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
    )


class Desk:
    """Takes calls and has them answered, one after the other, in the thread that the root's engine belongs to."""

    def __init__(self, tools: Sequence[Tool], workspace: Workspace) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._workspace = workspace
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="findling-root")

    async def list_tools(
        self, _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        from mcp.types import ListToolsResult, ToolAnnotations
        from mcp.types import Tool as Row

        rows = [
            Row(
                name=tool.name,
                description=tool.summary,
                input_schema=dict(tool.schema),
                annotations=ToolAnnotations(
                    read_only_hint=not tool.writes,
                    destructive_hint=tool.destructive,
                    open_world_hint=False,
                ),
            )
            for tool in self._tools.values()
        ]
        return ListToolsResult(tools=rows)

    async def call_tool(self, context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        from mcp import MCPError
        from mcp.types import INVALID_PARAMS, CallToolResult, TextContent

        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}. The tools are {', '.join(self._tools)}.")
        result = await self._answer(tool, params.arguments, context)
        return CallToolResult(
            content=[TextContent(text=text) for text in result.text_blocks],
            structured_content=None if tool.text_only else result.structured,
            is_error=result.is_error,
        )

    async def _answer(self, tool: Tool, arguments: object, context: ServerRequestContext[Any]) -> ToolResult:
        from findling.tools.registry import call

        loop = asyncio.get_running_loop()
        relay = ProgressRelay(loop, context)
        work = partial(call, tool.name, arguments, self._workspace, progress=relay)
        try:
            return await loop.run_in_executor(self._worker, work)
        finally:  # answered, or nobody waits for the answer any more
            relay.stop()

    async def close(self) -> None:
        """Stop what goes on in the background and give the index back."""
        await asyncio.get_running_loop().run_in_executor(self._worker, self._workspace.close)
        self._worker.shutdown()


class ProgressRelay:
    """Called by the indexer in its thread: tells the client, now and then, and ends the work when it is not wanted."""

    def __init__(self, loop: asyncio.AbstractEventLoop, context: ServerRequestContext[Any]) -> None:
        self._loop = loop
        self._context = context
        self._stopped = threading.Event()
        self._last_at = 0.0
        self._highest = 0.0

    def stop(self) -> None:
        self._stopped.set()

    def __call__(self, progress: Progress) -> None:
        if self._stopped.is_set():
            raise errors.Cancelled("The call was cancelled.")
        now = self._loop.time()
        share = progress.done / progress.total if progress.total else 0.0
        stage = STAGES.index(progress.stage) if progress.stage in STAGES else 0
        reached = stage + min(1.0, share)
        if now - self._last_at < PROGRESS_S or reached <= self._highest:
            return
        self._last_at, self._highest = now, reached
        words = f"{progress.stage}: {progress.done} of {progress.total} files" if progress.total else progress.stage
        asyncio.run_coroutine_threadsafe(
            self._context.session.report_progress(round(reached, 4), float(len(STAGES)), words), self._loop
        )
