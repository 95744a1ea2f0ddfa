"""The set-up lines that the README prints are lines that the program understands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from findling.contracts.tools import select
from findling.faces.cli.arguments import parse

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")

COMMANDS = re.findall(r"^ {4}(?:claude|codex|gemini) mcp add findling(?: --)? (findling serve.*)$", README, re.M)

SETTINGS = [json.loads(text) for text in re.findall(r"^\| [^|]+ \| `[^`]+\.json` \| `(\{.*\})` \|$", README, re.M)]


def commands_in(settings: dict[str, object]) -> list[list[str]]:
    found = []
    for key, value in settings.items():
        if key == "command":
            arguments = settings.get("args", [])
            assert isinstance(arguments, list)
            found.append([value, *arguments] if isinstance(value, str) else list(value))  # type: ignore[call-overload]
        elif isinstance(value, dict):
            found += commands_in(value)
    return found


def test_there_are_lines_for_the_usual_clients() -> None:
    assert len(COMMANDS) == 3
    assert [next(iter(settings)) for settings in SETTINGS] == ["mcp", "mcpServers", "servers"]


@pytest.mark.parametrize(
    "command", [command.split() for command in COMMANDS] + [c for settings in SETTINGS for c in commands_in(settings)]
)
def test_each_starts_a_server(command: list[str]) -> None:
    assert command[:2] == ["findling", "serve"]
    assert select(parse("serve", command[2:]).tools)


def test_the_lines_for_http_are_understood() -> None:
    (line,) = re.findall(r"^ {4}findling serve (.*--http.*)$", README, re.M)
    arguments = parse("serve", line.split())
    assert (arguments.http, arguments.token_file) == ("8765", "~/.findling-token")
    assert f"http://127.0.0.1:{arguments.http}/mcp" in README
