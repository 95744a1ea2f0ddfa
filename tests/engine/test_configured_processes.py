"""The configuration as a command and a server obey it: real processes, real files and variables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from indexes import SMALL, make, of_yesterday, rows, write

import forked
from findling import Engine
from findling.engine.index_jobs import records_of

PATIENCE_S = 60.0
"""For what goes on in the background of another process; far more than it takes."""


class Home:
    """Runs findling as a user whose own configuration lies in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "findling" / "config.toml"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FINDLING_")}
        self.environment = {**kept, "XDG_CONFIG_HOME": str(folder), "NO_COLOR": "1"}

    def run(self, *arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {**self.environment, **variables}
        return forked.findling(*arguments, cwd=cwd, env=env, timeout_s=PATIENCE_S)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


def test_a_variable_decides_before_the_project_and_the_project_before_the_user(root: Path, home: Home) -> None:
    def on(**variables: str) -> bool:
        ran = home.run("search", "--json", "how is it sent again", cwd=root, **variables)
        assert ran.returncode == 0, ran.stderr
        notes = json.loads(ran.stdout)["notes"]
        return not any("semantic.enabled is false" in note for note in notes)

    assert on()
    home.config.parent.mkdir(parents=True)
    home.config.write_text("[semantic]\nenabled = false\n")
    assert not on()
    write(root, ".repo_search/config.json", '{"semantic": {"enabled": true}}')
    assert on()
    assert not on(FINDLING_SEMANTIC_ENABLED="false")
    named = root.parent / "named.json"
    named.write_text('{"semantic": {"enabled": false}}')
    assert not on(FINDLING_CONFIG=str(named))
    assert on(FINDLING_CONFIG=str(named), FINDLING_SEMANTIC_ENABLED="auto")


def test_a_tool_obeys_the_files_and_the_variables(root: Path, home: Home) -> None:
    def mode(**variables: str) -> str:
        ran = home.run("tool", "search_code", '{"query": "how is it sent again"}', cwd=root, **variables)
        assert ran.returncode == 0, ran.stderr
        told: str = json.loads(ran.stdout)["metadata"]["semantic_mode"]
        return told

    assert mode() == "hybrid"
    assert mode(FINDLING_SEMANTIC_MODE="off") == "off"
    write(root, "findling.toml", '[semantic]\nmode = "rerank_only"\n')
    assert mode() == "rerank_only"
    assert mode(FINDLING_SEMANTIC_MODE="hybrid") == "hybrid"


def test_a_model_that_is_not_there_is_told_by_the_commands(root: Path, home: Home) -> None:
    indexed = home.run("index", cwd=root, FINDLING_EMBED_MODEL="mxbai-embed-large")
    assert indexed.returncode == 0
    assert "Cannot connect to Ollama at" in indexed.stderr
    found = home.run("search", "RetryPolicy", cwd=root, FINDLING_EMBED_MODEL="mxbai-embed-large")
    assert found.returncode == 0
    assert "src/retry.py" in found.stdout
    assert "Only text and names were searched." in found.stderr
    assert "partial" not in found.stderr


def test_by_hand_a_search_is_refused_until_there_is_an_index(root: Path, home: Home) -> None:
    write(root, "findling.toml", "[semantic]\nautoIndex = false\n")
    of_yesterday(root / "findling.toml")
    refused = home.run("search", "RetryPolicy", cwd=root)
    assert refused.returncode == 2
    assert "is not indexed, and semantic.auto_index is false. Run 'findling index'." in refused.stderr
    assert not (root / ".findling").exists()
    assert home.run("index", cwd=root).returncode == 0
    write(root, "src/new.py", "class AddedLater:\n    pass\n")
    stale = home.run("search", "AddedLater", cwd=root)
    assert "src/new.py" not in stale.stdout
    assert "1 file changed, and semantic.auto_index is false" in stale.stderr
    assert home.run("sync", cwd=root).returncode == 0
    assert "src/new.py" in home.run("search", "AddedLater", cwd=root).stdout


def events(stderr: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]


def test_the_log_level(root: Path, home: Home) -> None:
    """S1-33: of each file that gets vectors, when all are indexed and when one is."""
    whole = events(home.run("index", cwd=root, FINDLING_LOG_LEVEL="info").stderr)
    assert sorted(line["doc_path"] for line in whole if line["event"] == "semantic.index") == sorted(SMALL)
    write(root, "src/new.py", "class AddedFirst:\n    pass\n")
    assert events(home.run("index", cwd=root).stderr) == []
    write(root, "src/new.py", "class AddedLater:\n    pass\n")
    told = events(home.run("index", cwd=root, FINDLING_LOG_LEVEL="info").stderr)
    assert ("semantic.index", "src/new.py") in {(line["event"], line["doc_path"]) for line in told}
    write(root, "src/new.py", "class AddedAgain:\n    pass\n")
    write(root, "findling.toml", '[log]\nlevel = "info"\n')
    assert events(home.run("index", cwd=root, FINDLING_LOG_LEVEL="error").stderr) == []
    write(root, "src/new.py", "class AddedAtLast:\n    pass\n")
    assert events(home.run("index", cwd=root).stderr)


# --- a server --------------------------------------------------------------------------------------------------


class Server:
    """``findling serve``, spoken to in lines of JSON."""

    def __init__(self, home: Home, *roots: Path, **variables: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "findling", "serve", *(word for root in roots for word in ("--root", str(root)))],
            env={**home.environment, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._id = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        assert self.process.stdout is not None
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._id:
                return answer["result"]

    def initialize(self) -> None:
        client = {"name": "test", "version": "1"}
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=client)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def end(self) -> str:
        """Close the client's end: what was written to stderr."""
        _, stderr = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0
        return stderr


def indexed_files(root: Path) -> int:
    with Engine.open(root=root) as engine:
        return engine.status().coverage.files


def test_a_server_indexes_at_its_start_where_that_is_configured(root: Path, home: Home) -> None:
    """S0-25: off unless configured; then all of it. Each of several roots has its own word."""
    other = make(root.parent / "other")
    server = Server(home, root)
    server.initialize()
    server.end()
    assert not (root / ".findling").exists()

    write(root, "findling.toml", "[semantic]\nindexOnStartup = true\n")
    server = Server(home, other, root)
    try:
        server.initialize()  # answered, whatever goes on behind it
        deadline = time.monotonic() + PATIENCE_S
        while not (jobs := records_of(root / ".findling").recent()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [(job.mode, job.state) for job in jobs] == [("full", "done")]
    finally:
        server.end()
    assert indexed_files(root) == 6
    assert not (other / ".findling").exists()


def test_a_server_takes_in_what_is_saved_in_each_of_its_roots(root: Path, home: Home) -> None:
    """D13, S0-24: without a question."""
    roots = (root, make(root.parent / "other"))
    for each in roots:
        assert home.run("index", cwd=each).returncode == 0
    server = Server(home, *roots)
    try:
        server.initialize()
        deadline = time.monotonic() + PATIENCE_S
        while not all(is_indexed(each, "src/saved.py") for each in roots) and time.monotonic() < deadline:
            for each in roots:  # again, for watching may have begun after the first time
                write(each, "src/saved.py", f"SAVED = {time.monotonic()}\n")
            time.sleep(3.0)
        assert all(is_indexed(each, "src/saved.py") for each in roots)
    finally:
        server.end()


def is_indexed(root: Path, path: str) -> bool:
    """Without taking anything in."""
    with Engine.open(root=root) as engine:
        return rows(engine, "SELECT 1 FROM manifest_files JOIN entries USING (entry_id) WHERE path=?", path) != []


def test_a_server_starts_with_a_wrong_configuration_and_each_call_says_so(root: Path, home: Home) -> None:
    write(root, "findling.toml", "[semantic]\nautoIndex = 7\n")
    server = Server(home, root)
    server.initialize()
    refused = server.ask("tools/call", name="search_code", arguments={"query": "retry"})
    assert refused["isError"] is True
    assert "findling.toml:2: semantic.autoIndex is a whole number" in refused["content"][0]["text"]
    server.end()
