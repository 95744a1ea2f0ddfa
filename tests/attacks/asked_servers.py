"""MCP servers over stdin and stdout that live on while everything around them changes, and what they hold on to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from killable import Forked

MAY_HAPPEN = frozenset(("index_in_progress", "index_not_ready", "ref_not_indexed"))
"""Error codes of a server that is asked while others index, or while what it was asked about goes."""


class Held(NamedTuple):
    """What a process holds: private memory in megabytes, open descriptors, threads."""

    megabytes: float
    descriptors: int
    threads: int


def held_by(process: int) -> Held:
    proc = Path(f"/proc/{process}")
    rollup = (proc / "smaps_rollup").read_text().splitlines()
    private = sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))
    return Held(private / 1000, len(os.listdir(proc / "fd")), len(os.listdir(proc / "task")))


SERVE = "from findling.faces.cli.main import main; main()"


class AskedServer:
    """One `findling serve` with its watcher, asked by hand, one line a message."""

    def __init__(self, root: Path) -> None:
        self.log = root.with_name(f"{root.name}.serve.log")
        self.process = Forked(SERVE, ["serve", "--root", str(root)], self.log)
        self._id = 0
        client = {"name": "soak", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def tool(self, name: str, /, **arguments: Any) -> tuple[bool, str]:
        """Whether it went well, and the answer's text."""
        result = self._ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return not result.get("isError"), "".join(part["text"] for part in result["content"])

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        while line := self.process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._id:
                return answer
        raise AssertionError(f"the server ended: {self.log.read_text()[-2000:]}")

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
