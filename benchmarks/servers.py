"""Several idle servers on one indexed folder, and how quickly a saved file can be found: memory, processor, seconds.

    python benchmarks/servers.py ROOT [--servers 5] [--questions 9] [--saves 10] [--rest]

With ``--rest`` memory and processor are measured once more when the servers have long been idle: when what questions
and saves have opened is closed. ROOT must be indexed; files named ``findling_bench_*.txt`` are made in it and taken
away again. Beside the servers stands one of the same SDK with a single tool that does nothing: what remains is
findling's own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from processes import family, private_bytes
from speed import QUERIES

from findling import Engine
from findling.faces.mcp.desk import REST_S

BARE = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool

async def list_tools(context, params):
    return ListToolsResult(tools=[Tool(name="nothing", input_schema={"type": "object"})])

server = Server("bare", on_list_tools=list_tools)

async def main():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())

asyncio.run(main())
"""

SETTLE_S = 5.0
"""After the first answer, for what goes on in the background to end."""

IDLE_S = 10.0
"""Over which the processor time of idle servers is counted."""

LONG_IDLE_S = 60.0
"""The same of servers that rest."""


class Client:
    """One server and a client that asks it by hand, one line a message."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._id = 0
        self.ask(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._id:
                return answer

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)


def megabytes(pid: int) -> float:
    """Private memory of a process and its children; mapped files of an index can be given back at any time."""
    return sum(private_bytes(member)[0] for member in family(pid)) / 1e6


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def saved_until_found(root: Path, number: int) -> float:
    """Seconds from a file's saving until the index has it; nobody asks anything but the index as it is."""
    word = f"benchword{time.time_ns()}"
    file = root / f"findling_bench_{number}.txt"
    started = time.monotonic()
    file.write_text(f"{word}\n")
    try:
        with Engine.open(root=root) as engine:
            while not engine.search(word, mode="exact", wait_s=0).hits:
                if time.monotonic() - started > 30:
                    return float("inf")
                time.sleep(0.01)
            return time.monotonic() - started
    finally:
        file.unlink()


def each(servers: Sequence[Client]) -> str:
    """Private memory of each of them."""
    return " ".join(f"{megabytes(server.process.pid):7.1f}" for server in servers)


def processor(servers: Sequence[Client], seconds: float) -> str:
    """How much of a processor each of them takes meanwhile."""
    before = [cpu_s(server.process.pid) for server in servers]
    time.sleep(seconds)
    spent = [(cpu_s(s.process.pid) - b) / seconds * 100 for s, b in zip(servers, before, strict=True)]
    return " ".join(f"{share:7.2f}" for share in spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--servers", type=int, default=5)
    parser.add_argument("--questions", type=int, default=1, help="how many each is asked")
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--rest", action="store_true", help="measure what they take when they have rested, too")
    options = parser.parse_args()
    bare = Client([sys.executable, "-c", BARE])
    bare.ask("tools/list", {})
    servers = [
        Client([sys.executable, "-m", "findling", "serve", "--root", str(options.root)]) for _ in range(options.servers)
    ]
    for server in servers:
        server.ask("tools/list", {})
    time.sleep(SETTLE_S)
    print(f"bare server of the SDK       {megabytes(bare.process.pid):7.1f} MB private")
    print(f"servers, nothing asked yet   {each(servers)}")
    print(f"processor while idle, %      {processor(servers, IDLE_S)}", flush=True)
    for server in servers:
        for number in range(options.questions):
            server.tool("search_code", query=QUERIES[number % len(QUERIES)])
    time.sleep(SETTLE_S)
    print(f"after the questions          {each(servers)}", flush=True)
    took = []
    for number in range(options.saves):
        took.append(saved_until_found(options.root, number))
        time.sleep(2.0)
    if took:
        print(f"saved until found, s         median {statistics.median(took):.2f}, most {max(took):.2f}")
        print(f"after the saves              {each(servers)}", flush=True)
    if options.rest:
        time.sleep(REST_S + SETTLE_S)
        print(f"after a rest                 {each(servers)}", flush=True)
        print(f"processor at rest, %         {processor(servers, LONG_IDLE_S)}", flush=True)
    for server in (bare, *servers):
        server.close()


if __name__ == "__main__":
    main()
