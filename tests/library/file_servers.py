"""Servers on this machine for tests that fetch: files with every bad manner, and git over HTTP by git itself."""

from __future__ import annotations

import contextlib
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = Callable[[BaseHTTPRequestHandler], None]


class FileServer:
    """Answers by path; ``asked`` are the requests that came, with their headers. With ``tls`` it speaks https."""

    def __init__(self, answers: Mapping[str, bytes | Answer], tls: ssl.SSLContext | None = None) -> None:
        self.answers = dict(answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, dict(self.headers)))
                answer = outer.answers.get(self.path.partition("?")[0])
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    with contextlib.suppress(OSError):  # the client had enough
                        answer(self)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                return

        self._server, scheme = listening(Handler, tls)
        self.port = self._server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"{scheme}://{self.host}"

    def __enter__(self) -> FileServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def listening(handler: type[BaseHTTPRequestHandler], tls: ssl.SSLContext | None) -> tuple[ThreadingHTTPServer, str]:
    """A server that does not answer yet, and its URLs' scheme."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    return server, "https" if tls else "http"


def redirect(place: str, status: int = 302) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Location", place)
        request.end_headers()

    return answer


def headed(body: bytes, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def dripping(piece: bytes = b"x", pause_s: float = 0.05, count: int = 10_000) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(count):
            request.wfile.write(piece)
            request.wfile.flush()
            time.sleep(pause_s)

    return answer


def ranged(
    body: bytes, *, breaks: list[int], tag: str | None = '"1"', pause_s: float = 0.0, follows: bool = True
) -> Answer:
    """Sends ranges of a file, and breaks off when so many bytes of the file are sent: at the first of ``breaks`` the
    first time, and so on, then no more. ``follows``: it knows what a range is."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range", "")
        same = tag is not None and request.headers.get("If-Range") == tag
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and same and follows else 0
        request.send_response(206 if start else 200)
        if tag is not None:
            request.send_header("ETag", tag)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        request.send_header("Content-Length", str(len(body) - start))
        request.end_headers()
        end = breaks.pop(0) if breaks else len(body)
        for at in range(start, end, 1000):
            request.wfile.write(body[at : min(at + 1000, end)])
            request.wfile.flush()
            time.sleep(pause_s)

    return answer


def endless(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b"x" * 65536)


# --- git -------------------------------------------------------------------------------------------------------


def git(folder: Path, *args: str, input: bytes | None = None) -> str:
    ran = subprocess.run(
        ["git", *args],
        cwd=folder,
        input=input,
        capture_output=True,
        check=True,
        env={
            **os.environ,
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b"),
            "GIT_CONFIG_GLOBAL": os.devnull,
        },
    )
    return ran.stdout.decode().strip()


def commit(folder: Path, files: Mapping[str, str | bytes | None], branch: str = "main") -> str:
    """Commit files (None removes one) into a repository that is made if need be; the commit's name."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q", "-b", branch)
    for path, text in files.items():
        target = folder / path
        if text is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "--allow-empty", "-m", "change")
    return git(folder, "rev-parse", "HEAD")


def tree_of(folder: Path, entries: list[tuple[str, str, bytes]]) -> None:
    """Commit a tree by its raw entries (mode, name, content), whatever git would say to a file of that name."""
    lines = b""
    for mode, name, content in entries:
        module = mode == "160000"
        blob = "1" * 40 if module else git(folder, "hash-object", "-w", "--stdin", input=content)
        lines += f"{mode} {'commit' if module else 'blob'} {blob}\t{name}\0".encode()
    tree = git(folder, "mktree", "-z", "--missing", input=lines)
    made = git(folder, "commit-tree", tree, "-m", "odd")
    git(folder, "update-ref", "refs/heads/main", made)


@contextlib.contextmanager
def git_server(folder: Path, tls: ssl.SSLContext | None = None, *, authorization: str = "") -> Iterator[str]:
    """Serves the repositories below ``folder`` as git's own server does, to whoever sends the header; the URL."""
    backend = Path(git(folder, "--exec-path")) / "git-http-backend"

    def answer(request: BaseHTTPRequestHandler, body: bytes = b"") -> None:
        path, _, query = request.path.partition("?")
        if authorization and request.headers.get("Authorization") != authorization:
            request.send_error(401)
            return
        ran = subprocess.run(
            [backend],
            input=body,
            capture_output=True,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": request.command,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "2",
                "GIT_CONFIG_KEY_0": "uploadpack.allowAnySHA1InWant",
                "GIT_CONFIG_VALUE_0": "true",
                "GIT_CONFIG_KEY_1": "safe.directory",
                "GIT_CONFIG_VALUE_1": "*",
            },
        )
        head, _, rest = ran.stdout.partition(b"\r\n\r\n")
        fields = [line.decode().partition(": ")[::2] for line in head.split(b"\r\n") if line]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        request.send_response(status)
        for name, value in fields:
            if name != "Status":
                request.send_header(name, value)
        request.send_header("Content-Length", str(len(rest)))
        request.end_headers()
        request.wfile.write(rest)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self, self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *_: Any) -> None:
            return

    server, scheme = listening(Handler, tls)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def ended(records: Any, id: str, within_s: float = 60.0) -> Any:
    """The job when it has ended."""
    until = time.monotonic() + within_s
    while (job := records.get(id)).status == "running":
        assert time.monotonic() < until, job
        time.sleep(0.05)
    return job
