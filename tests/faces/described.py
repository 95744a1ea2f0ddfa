"""What the SDK itself answers, asked in this process; run as a program it writes that down for servers to begin with.

python tests/faces/described.py        (make description)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from findling import __version__
from findling.contracts import TOOLS, Workspace, select
from findling.faces.mcp import Desk, make_server
from findling.faces.mcp.opening import DESCRIPTION, VERSION, listed

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPED = ("2026-07-28",)

Message = dict[str, Any]


def greeting(version: str, capabilities: Message | None = None, **client: Any) -> Message:
    params = {
        "protocolVersion": version,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "test", "version": "1", **client},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def enveloped(method: str, version: str, **more: Any) -> Message:
    key = "io.modelcontextprotocol"
    meta = {f"{key}/protocolVersion": version, f"{key}/clientCapabilities": {}, **more}
    return {"jsonrpc": "2.0", "id": 0, "method": method, "params": {"_meta": meta}}


def request(method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "id": 0, "method": method, **({"params": params} if params else {})}


async def _answers(lines: Sequence[str], tools: Sequence[Any]) -> list[Message]:
    from mcp.server.stdio import stdio_server

    server = make_server(Desk(tools, Workspace(".")))
    replies: asyncio.Queue[Message] = asyncio.Queue()
    answers: list[Message] = []

    class Out:
        async def write(self, text: str) -> None:
            await replies.put(json.loads(text))

        async def flush(self) -> None:
            """Every message is there at once."""

    async def one_by_one() -> AsyncIterator[str]:
        for line in lines:
            yield line
            if "id" in json.loads(line):
                answers.append(await asyncio.wait_for(replies.get(), 20))

    async with stdio_server(one_by_one(), Out()) as (incoming, outgoing):  # type: ignore[arg-type]
        await server.run(incoming, outgoing, server.create_initialization_options())
    return answers


def answers_of_the_sdk(lines: Iterable[str], names: Sequence[str] | None = None, *, delete: bool = False) -> list[Any]:
    """Its answers to the requests among these lines, where these tools are served."""
    return asyncio.run(_answers(list(lines), select(names, allow_delete=delete)))


def results(messages: Sequence[Message]) -> dict[str, Message]:
    answers = answers_of_the_sdk(map(json.dumps, messages), delete=True)
    return {message["method"]: answer["result"] for message, answer in zip(messages, answers, strict=True)}


def described() -> Message:
    """The description as it should be. Raises `AssertionError` where tools are listed differently by revision."""
    by_version = {
        version: results([greeting(version), request("ping"), request("tools/list")]) for version in HANDSHAKES
    } | {
        version: results([enveloped(method, version) for method in ("server/discover", "tools/list")])
        for version in ENVELOPED
    }
    rows = [result["tools/list"].pop("tools") for result in by_version.values()]
    assert all(others == [listed(tool) for tool in TOOLS.values()] for others in rows)
    return by_version


def main() -> None:
    text = json.dumps(described(), ensure_ascii=False, indent=1)
    DESCRIPTION.write_text(f"{text.replace(__version__, VERSION)}\n", "utf-8")


if __name__ == "__main__":
    main()
