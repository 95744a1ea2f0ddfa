"""Every tool through the command line of the MCP Inspector, over stdin and stdout and over HTTP, in both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import TOOLS
from findling.engine.library import Library

pytestmark = pytest.mark.e2e

ERAS = ["legacy", "modern"]

FOUND, TOOL_ERROR = 0, 5
"""Exit statuses of the Inspector; 6 would be a schema that some client cannot use."""

BAD = {"no_such_argument": True}

FETCHES: Mapping[str, Mapping[str, Any]] = {
    "fetch_repo": {"repoUrl": "https://nowhere.invalid/owner/repo"},
    "fetch_file": {"url": "https://nowhere.invalid/page.md", "filename": "page.md"},
}
"""They answer with a job, whatever becomes of it."""


@pytest.fixture(scope="module")
def inspect(environment: dict[str, str], indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Run it on a server of its own: (exit status, its answer)."""
    config = tmp_path_factory.mktemp("inspector") / "servers.json"
    arguments = ["-m", "findling", "serve", "--root", str(indexed), "--allow-delete"]
    # The Inspector hands only a few variables on by itself.
    passed_on = {name: value for name, value in environment.items() if name.startswith(("FINDLING_", "PYTHON", "XDG_"))}
    server = {"command": sys.executable, "args": arguments, "env": passed_on}
    config.write_text(json.dumps({"mcpServers": {"findling": server}}))

    def run(era: str, *arguments: str, url: str | None = None) -> tuple[int, Any]:
        server = ["--config", str(config), "--server", "findling"] if url is None else ["--server-url", url]
        command = ["mcp-inspector", "--cli", *server, "-q", "--format", "json", "--protocol-era", era, *arguments]
        ran = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
        assert ran.returncode in (FOUND, TOOL_ERROR), ran.stderr
        return ran.returncode, json.loads(ran.stdout)["result"]

    return run


def call(name: str, arguments: Mapping[str, Any]) -> list[str]:
    return ["--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)]


@pytest.mark.parametrize("era", ERAS)
def test_the_schemas_are_for_every_client(era: str, inspect: Any) -> None:
    status, listed = inspect(era, "--method", "tools/list", "--strict")
    assert status == FOUND
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS)
    for tool in listed["tools"]:
        assert tool["title"]
        assert tool["description"]
        assert tool["annotations"].keys() >= {"readOnlyHint", "destructiveHint"}


@pytest.fixture(scope="module")
def deleting_calls(
    data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], dict[str, Any]]:
    """Good calls for the tools that delete: each era has a file of its own to remove."""
    folder = tmp_path_factory.mktemp("collected").resolve()
    for era in ERAS:
        (folder / f"{era}.md").write_text(f"# {era}\n\nA page to be forgotten.\n")
    with Library.open(data_folder) as library:
        library.add(folder)
    return {
        ("remove_file", "legacy"): {"filePath": str(folder / "legacy.md")},
        ("remove_file", "modern"): {"filePath": str(folder / "modern.md")},
        ("flush_all", "legacy"): {"confirm": True},
        ("flush_all", "modern"): {"confirm": True},
    }


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", TOOLS)
def test_a_good_call_and_a_bad_one(
    name: str,
    era: str,
    inspect: Any,
    good_calls: Mapping[str, Mapping[str, Any]],
    deleting_calls: Mapping[tuple[str, str], Mapping[str, Any]],
) -> None:
    calls = {**FETCHES, **good_calls}
    arguments = deleting_calls[name, era] if TOOLS[name].destructive else calls[name]
    status, good = inspect(era, *call(name, arguments))
    assert (status, good.get("isError", False)) == (FOUND, False), good
    assert good["content"][0]["text"]
    status, bad = inspect(era, *call(name, BAD))
    assert (status, bad["isError"]) == (TOOL_ERROR, True)
    assert "no_such_argument" in bad["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
def test_over_http(era: str, inspect: Any, product: str, good_calls: Mapping[str, Mapping[str, Any]]) -> None:
    status, listed = inspect(era, "--method", "tools/list", "--strict", url=product)
    assert (status, len(listed["tools"])) == (FOUND, sum(not tool.destructive for tool in TOOLS.values()))
    for name in ("search_code", "get_file"):
        status, good = inspect(era, *call(name, good_calls[name]), url=product)
        assert status == FOUND, good
        assert inspect(era, *call(name, BAD), url=product)[0] == TOOL_ERROR


def test_many_calls_at_the_same_time(inspect: Any, product: str) -> None:
    load = ("--load", "--load-concurrency", "10", "--load-requests", "200")
    status, summary = inspect("legacy", *call("find_symbol", {"name": "Client"}), *load, url=product)
    assert status == FOUND
    assert summary["errors"] == 0, summary
