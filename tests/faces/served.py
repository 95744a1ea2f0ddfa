"""A server's process over HTTP, and requests to it as a browser, a script or an attacker would send them."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COMMAND = [sys.executable, "-m", "findling", "serve", "--http", "0"]

TOKEN = "a-token-that-nobody-guesses-0123456789"

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """The one JSON-RPC message of it, plain or as an event."""
        text = self.body.decode()
        lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
        return json.loads(lines[0] if lines else text)


@dataclass
class Served:
    """A process and what it has said on stderr so far."""

    process: subprocess.Popen[bytes]
    port: int = 0
    said: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def raw(self, request: bytes) -> bytes:
        """What comes back for exactly these bytes, until the server closes or falls silent."""
        got = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as wire:
            wire.sendall(request)
            wire.settimeout(1.0)
            try:
                while piece := wire.recv(65536):
                    got += piece
            except TimeoutError:
                pass
        return got

    def send(
        self, message: Any, headers: Mapping[str, str] | None = None, *, method: str = "POST", path: str = "/mcp"
    ) -> Answer:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {**JSON, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def says(self, words: str, times: int = 1) -> bool:
        """Whether stderr has lines with these words, or will have them soon."""
        for _ in range(100):
            if sum(words in line for line in self.said) >= times:
                return True
            time.sleep(0.05)
        return False

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


def start(command: list[str], **environment: str) -> Served:
    """Start it and wait until it says where it listens."""
    served = Served(
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
    )
    stderr = served.process.stderr
    assert stderr is not None
    while not served.port:
        line = stderr.readline().decode()
        assert line, f"it ended: {served.said}"
        served.said.append(line)
        if line.startswith("findling: serving http://"):
            served.port = int(line.rpartition(":")[2].partition("/")[0])
    threading.Thread(target=lambda: served.said.extend(line.decode() for line in stderr), daemon=True).start()
    return served


def stop(served: Served) -> None:
    served.process.kill()
    served.process.wait()
