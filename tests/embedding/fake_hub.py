"""A server that hands out models as the Hugging Face hub does, as far as its own client asks."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """``models``: by name at the hub, the folder with the files. ``asked``: paths in order."""

    daemon_threads = True

    def __init__(self, models: Mapping[str, Path]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models = models
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.partition("?")[0].strip("/")
        self.server.asked.append(path)
        for name, folder in self.server.models.items():
            files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
            if path.startswith(f"api/models/{name}"):
                tree = path.startswith(f"api/models/{name}/tree/")
                return self._send(json.dumps(_tree(folder, files) if tree else _about(name, files)).encode(), body)
            beginning, _, file = path.partition("/resolve/")
            file = file.partition("/")[2]
            if beginning == name and file in files:
                return self._send((folder / file).read_bytes(), body, file=True)
        return self._send(b'{"error": "Repository not found"}', body, status=404)

    def _send(self, data: bytes, body: bool, *, status: int = 200, file: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/octet-stream" if file else "application/json")
        if file:
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
        if status == 404:
            self.send_header("X-Error-Code", "RepoNotFound")
        self.end_headers()
        if body:
            self.wfile.write(data)


def _about(name: str, files: list[str]) -> dict[str, object]:
    return {"id": name, "modelId": name, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}


def _tree(folder: Path, files: list[str]) -> list[dict[str, object]]:
    return [
        {
            "type": "file",
            "path": file,
            "size": (folder / file).stat().st_size,
            "oid": hashlib.sha1((folder / file).read_bytes()).hexdigest(),
        }
        for file in files
    ]


@contextmanager
def serving(models: Mapping[str, Path]) -> Iterator[Hub]:
    with Hub(models) as hub:
        threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True).start()
        yield hub
        hub.shutdown()
