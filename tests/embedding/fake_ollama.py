"""A server that answers as Ollama does, statuses and bodies alike: a program of its own, told over HTTP how to fail.

    python fake_ollama.py PORT

Port 0 takes any; the first line of stdout is the address. ``POST /_behave`` merges a JSON object into the settings
below, ``GET /_requests`` gives the requests so far. A text's vector is made of its words, so that texts which share
words are near each other.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SETTINGS: dict[str, Any] = {
    "models": {"nomic-embed-text:latest": 768, "mxbai-embed-large:latest": 1024, "all-minilm:latest": 384},
    "digests": {},
    "old": False,  # no /api/embed yet
    "delay_s": 0.0,
    "delays": [],  # of the next requests, one each
    "statuses": [],  # of the next requests, before anything is looked at
    "malformed": "",  # count, length, nan, zero, json, cut, words
    "context_chars": 0,  # a text longer than this is refused
    "bad_word": "",  # a text with this word fails the whole request
    "refuse": False,  # as towards another machine
}
REQUESTS: list[dict[str, Any]] = []

DETAILS = {
    "modified_at": "2026-10-01T12:00:00.000000000Z",
    "size": 274_302_450,
    "details": {"format": "gguf", "family": "bert", "parameter_size": "137M", "quantization_level": "F16"},
}
_ERRORS = {
    503: "server busy, please try again.  maximum pending requests exceeded",
    429: "too many requests",
    500: "llama runner process has terminated",
}


def vector(text: str, dimensions: int) -> list[float]:
    """Unit; each word adds to eight dimensions that its hash names."""
    row = [0.0] * dimensions
    for word in re.findall(r"[a-z]+", text.lower()) or ["none"]:
        digest = hashlib.sha256(word[:6].encode()).digest()
        for i in range(8):
            place = int.from_bytes(digest[2 * i : 2 * i + 2], "big") % dimensions
            row[place] += 1.0 if digest[16 + i] & 1 else -1.0
    length = math.sqrt(sum(value * value for value in row)) or 1.0
    return [value / length for value in row]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/_requests":
            return self._send(200, REQUESTS)
        if SETTINGS["refuse"]:
            return self._send(403, "", raw=b"")
        if self.path == "/":
            return self._send(200, "", raw=b"Ollama is running")
        if self.path == "/api/version":
            return self._send(200, {"version": "0.30.1"})
        if self.path == "/api/tags":
            known = [{**DETAILS, "name": name, "model": name, "digest": digest_of(name)} for name in SETTINGS["models"]]
            return self._send(200, {"models": known})
        return self._send(404, "", raw=b"404 page not found")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/_behave":
            SETTINGS.update(json.loads(body))
            return self._send(200, {})
        try:
            value = json.loads(body)
        except ValueError:
            return self._send(400, {"error": "invalid character"})
        texts = value.get("input", value.get("prompt"))
        texts = [texts] if isinstance(texts, str) else texts
        REQUESTS.append(
            {"path": self.path, "texts": texts, "model": value.get("model"), "options": value.get("options")}
        )
        delays = SETTINGS["delays"]
        time.sleep(delays.pop(0) if delays else SETTINGS["delay_s"])
        if SETTINGS["statuses"] and (status := SETTINGS["statuses"].pop(0)) != 200:
            return self._send(status, {"error": _ERRORS.get(status, "unexpected")})
        if self.path == "/api/embed" and not SETTINGS["old"]:
            return self._embed(value, texts)
        if self.path == "/api/embeddings":
            return self._embed(value, texts)
        return self._send(404, "", raw=b"404 page not found")

    def _embed(self, value: dict[str, Any], texts: list[str]) -> None:
        name = value["model"] if ":" in value["model"] else f"{value['model']}:latest"
        dimensions = SETTINGS["models"].get(name)
        if dimensions is None:
            return self._send(404, {"error": f"model '{value['model']}' not found"})
        if SETTINGS["context_chars"] and any(len(text) > SETTINGS["context_chars"] for text in texts):
            return self._send(400, {"error": "the input length exceeds the context length"})
        if SETTINGS["bad_word"] and any(SETTINGS["bad_word"] in text for text in texts):
            return self._send(400, {"error": "embedding contains NaN or Inf values"})
        rows: Any = [vector(text, dimensions) for text in texts]
        how = SETTINGS["malformed"]
        if how == "count":
            rows = rows[:-1]
        elif how == "length":
            rows = [row[:-1] for row in rows]
        elif how == "nan":
            rows[-1][0] = math.nan
        elif how == "zero":
            rows[-1] = [0.0] * dimensions
        elif how == "words":
            rows = "no vectors today"
        if self.path == "/api/embeddings":
            answer: Any = {"embedding": [7.0 * number for number in rows[0]] if rows else None}
        else:
            answer = {"model": value["model"], "embeddings": rows, "total_duration": 1, "load_duration": 1}
        return self._send(200, answer)

    def _send(self, status: int, value: Any, *, raw: bytes | None = None) -> None:
        body = json.dumps(value).encode() if raw is None else raw
        cut = SETTINGS["malformed"] if status == 200 and self.path.startswith("/api/embed") else ""
        if cut == "json":
            body = body[: len(body) // 2]
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if raw is None else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut == "cut" else body)
        if cut == "cut":
            self.close_connection = True


def digest_of(name: str) -> str:
    return SETTINGS["digests"].get(name) or hashlib.sha256(name.encode()).hexdigest()


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
