"""The fake Ollama as a process: started, told how to behave, asked what it was asked, stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("fake_ollama.py")

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class OllamaProcess:
    """``url`` stays the same when it is started again."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.start()

    def start(self) -> None:
        port = self.url.rpartition(":")[2] or "0"
        self._process = subprocess.Popen([sys.executable, str(PROGRAM), port], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def behave(self, **settings: Any) -> None:
        request = urllib.request.Request(f"{self.url}/_behave", json.dumps(settings).encode(), method="POST")
        _OPENER.open(request, timeout=10).close()

    def requests(self) -> list[dict[str, Any]]:
        """What it was asked to embed, in order."""
        with _OPENER.open(f"{self.url}/_requests", timeout=10) as answer:
            found: list[dict[str, Any]] = json.loads(answer.read())
            return found
