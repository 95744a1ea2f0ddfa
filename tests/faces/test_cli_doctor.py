"""The doctor from a real process: an Ollama on this machine or none, and things that are broken on purpose."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

import forked
from findling import config
from findling.embedding.providers import ollama
from findling.faces.cli import doctor as doctor_module
from findling.faces.cli.doctor import diagnose
from findling.outbound.http import HttpFailure, get

NOT_DETECTED = "○ ollama: not detected (semantic search disabled)"


class Server(http.server.ThreadingHTTPServer):
    """Answers /api/tags with ``body``, and remembers what it was asked."""

    daemon_threads = True
    body: bytes = b'{"models": []}'
    status = 200
    location = ""
    drip_s = 0.0
    asked: ClassVar[list[str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked.append(self.path)
        self.send_response(server.status)
        if server.location:
            self.send_header("Location", server.location)
        self.end_headers()
        if not server.drip_s:
            self.wfile.write(server.body)
            return
        stop = threading.Event()
        try:
            while True:  # until the other side goes
                self.wfile.write(b" ")
                stop.wait(server.drip_s)
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    Server.asked.clear()
    with Server(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.shutdown()


@pytest.fixture
def nobody() -> str:
    """An address of this machine where nothing listens: it was free a moment ago."""
    with Server(("127.0.0.1", 0), _Handler) as closed:
        return closed.url


def doctor(folder: Path, home: Path, *arguments: str, url: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    # The cache stays: the bundle of grammars unpacks itself there, which takes ten seconds.
    cache = os.environ.get("XDG_CACHE_HOME") or os.fspath(Path.home() / ".cache")
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_CACHE_HOME": cache}
    return forked.findling("doctor", *arguments, cwd=folder, env={**kept, **own, "FINDLING_OLLAMA_URL": url, **more})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    (folder / "a.py").write_text("def send():\n    pass\n")
    return folder


def test_all_is_well_and_ollama_runs(folder: Path, tmp_path: Path, server: Server) -> None:
    proxy = {"HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    ran = doctor(folder, tmp_path, url=server.url, **proxy)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = ran.stdout.splitlines()
    assert "✓ ollama: running" in lines
    assert server.asked == ["/api/tags"]
    marks = {line[2 : line.index(":")]: line[0] for line in lines if line[0] in "✓○✗"}
    names = ("model", "grammars", "git", "sqlite", "search", "configuration")
    assert [marks[name] for name in names] == ["✓"] * len(names)
    assert "256 dimensions" in ran.stdout
    assert marks["index"] == "○" and "findling index" in ran.stdout
    assert not (folder / ".findling").exists()


def test_no_ollama_and_an_index(folder: Path, tmp_path: Path, nobody: str) -> None:
    assert forked.findling("index", cwd=folder, env=os.environ).returncode == 0
    ran = doctor(folder, tmp_path, "--json", url=nobody)
    assert ran.returncode == 0
    answer = json.loads(ran.stdout)
    assert answer["root"] == str(folder) and answer["works"] is True
    by_name = {check["name"]: check for check in answer["checks"]}
    assert next(iter(by_name)) == "model"
    assert by_name["ollama"]["words"] == "not detected (semantic search disabled)"
    assert by_name["index"]["state"] == "ok" and str(folder / ".findling") in by_name["index"]["words"]
    plain = doctor(folder, tmp_path, url=nobody)
    assert NOT_DETECTED in plain.stdout.splitlines()[1:]  # what works stands first


def test_what_is_broken_is_named_with_what_helps(folder: Path, tmp_path: Path, nobody: str) -> None:
    (folder / ".findling").mkdir()
    (folder / ".findling" / "index.db").write_bytes(b"this is no database" * 100)
    (folder / "findling.toml").write_text("[index]\nhidden = 'perhaps'\n")
    ran = doctor(folder, tmp_path, url=nobody, PATH=str(tmp_path))
    assert ran.returncode == 1
    lines = ran.stdout.splitlines()
    assert NOT_DETECTED in lines
    told = {line[2 : line.index(":")]: (line, lines[at + 1]) for at, line in enumerate(lines[:-1]) if line[0] in "○✗"}
    assert told["index"][0].startswith("✗ index: The index at ") and f"findling index {folder}" in told["index"][1]
    assert told["git"][0].startswith("○ git: not found")
    assert told["configuration"][0].startswith("✗ configuration: ") and "findling.toml:2" in told["configuration"][0]


@pytest.mark.parametrize("by_search", [True, False])
def test_a_search_is_said_to_build_the_index_only_where_it_does(folder: Path, by_search: bool) -> None:
    (folder / "findling.toml").write_text(f"[semantic]\nauto_index = {str(by_search).lower()}\n")
    loaded = config.load(folder)
    missing = doctor_module._index(folder, False, loaded)
    (folder / ".findling").mkdir()
    (folder / ".findling" / "index.db").write_bytes(b"this is no database" * 100)
    broken = doctor_module._index(folder, False, loaded)
    assert ("so does" in missing.remedy, "so does" in broken.remedy) == (by_search, by_search)


def test_a_project_cannot_send_the_doctor_elsewhere(folder: Path, tmp_path: Path, nobody: str) -> None:
    (folder / "findling.toml").write_text('[semantic]\nollama_url = "http://192.0.2.1:11434"\n')
    ran = doctor(folder, tmp_path, url=nobody)
    assert ran.returncode == 0
    assert NOT_DETECTED in ran.stdout.splitlines()
    assert "○ configuration: " in ran.stdout and "may only name this machine" in ran.stdout


def test_a_missing_folder_is_an_error(folder: Path, tmp_path: Path, nobody: str) -> None:
    ran = doctor(folder, tmp_path, "nowhere", url=nobody)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("findling: There is no file or folder 'nowhere'.")


# --- one request --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"models": 3}', b"<html>", b"[" * 100_000])
def test_somebody_else_on_the_port_is_no_ollama(server: Server, body: bytes) -> None:
    server.body = body
    assert not ollama.available(server.url)
    assert server.asked == ["/api/tags"]


def test_only_a_success_counts(server: Server) -> None:
    assert ollama.available(server.url + "/")
    server.status = 500
    assert not ollama.available(server.url)


def test_redirects_are_not_followed(server: Server) -> None:
    server.status, server.location = 302, f"{server.url}/elsewhere"
    assert get(f"{server.url}/here", timeout_s=10.0, max_bytes=100).status == 302
    assert server.asked == ["/here"]


def test_a_long_answer_is_none(server: Server) -> None:
    server.body = b"x" * 1000
    assert get(server.url, timeout_s=10.0, max_bytes=1000).body == server.body
    with pytest.raises(HttpFailure, match="longer than 999 bytes"):
        get(server.url, timeout_s=10.0, max_bytes=999)


def test_a_server_that_drips_is_left(server: Server) -> None:
    server.drip_s = 0.01
    with pytest.raises(HttpFailure, match="takes too long"):
        get(server.url, timeout_s=0.3, max_bytes=10**9)


def test_nobody_there(nobody: str) -> None:
    with pytest.raises(HttpFailure, match=r"No answer from 127\.0\.0\.1"):
        get(nobody, timeout_s=5.0, max_bytes=100)
    assert not ollama.available(nobody)


def test_a_paid_service_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(method: str, url: str, *_: object, **__: object) -> None:
        asked.append(url)
        raise HttpFailure("no answer")

    monkeypatch.setattr("findling.outbound.http._ask", ask)
    monkeypatch.setenv("FINDLING_EMBEDDING_KEY", "key")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "findling").mkdir(parents=True)
    (tmp_path / "config" / "findling" / "config.toml").write_text(
        "[semantic]\nexternal_provider_enabled = true\nallow_code_payload_to_external = true\n"
        '[semantic.embedding]\nprovider = "voyage"\n'
    )
    (tmp_path / "root" / ".findling").mkdir(parents=True)
    checks = {check.name: check for check in diagnose(tmp_path / "root").checks}
    assert checks["embedder"].state == "off" and "not tested" in checks["embedder"].words
    assert not [url for url in asked if "voyage" in url]


def test_queries_are_sent_and_what_is_no_address_is_a_failure(server: Server) -> None:
    get(f"{server.url}/v1?version=2", timeout_s=5, max_bytes=100)
    assert server.asked == ["/v1?version=2"]
    for address in ("http://127.0.0.1:99999/", "http://127.0.0.1:x/", "http://[::1"):
        with pytest.raises(HttpFailure):
            get(address, timeout_s=1, max_bytes=9)
