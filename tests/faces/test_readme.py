"""The set-up lines that the README prints are lines that the program understands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from findling.contracts.tools import select
from findling.faces.cli.arguments import parse
from findling.faces.install import changes

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_entry_that_is_shown_is_the_one_that_is_written() -> None:
    shown = README[README.index("findling install --agent cursor --dry-run") :].split("{", 1)[1].split("note:")[0]
    (agent,) = (agent for agent in changes.known() if agent.id == "cursor")
    server = agent.server(("/home/you/.local/bin/findling",))
    assert json.loads("{" + shown) == {agent.keys[0]: {changes.ENTRY: server}}


@pytest.mark.parametrize("agent", changes.known(), ids=lambda agent: agent.id)
def test_each_entry_starts_a_server(agent: changes.Agent) -> None:
    server = agent.server(("findling",))
    command = server["command"] if isinstance(server["command"], list) else [server["command"], *server["args"]]
    assert command[:2] == ["findling", "serve"]
    assert select(parse("serve", command[2:]).tools)


def test_the_lines_for_http_are_understood() -> None:
    (line,) = re.findall(r"^ {4}findling serve (.*--http.*)$", README, re.M)
    arguments = parse("serve", line.split())
    assert (arguments.http, arguments.token_file) == ("8765", "~/.findling-token")
    assert f"http://127.0.0.1:{arguments.http}/mcp" in README


def test_the_lines_that_the_examples_show_are_those_of_the_files() -> None:
    """Each numbered line below a place, and each line of grep, stands in its file with that number."""
    examples = README[README.index("$ findling index") : README.index("## Commands")]
    file, checked = "", 0
    for line in examples.splitlines():
        if place := re.match(r" {4}(src/\S+\.py):(?:\d+-\d+  |(\d+):(.*))", line):
            file, number, text = place.groups()
        elif numbered := re.match(r" {4} +(\d+)  (.*)", line):
            number, text = numbered.groups()
        else:
            continue
        if number:
            shown = (text or "").rstrip("…")
            assert (ROOT / file).read_text(encoding="utf-8").splitlines()[int(number) - 1].startswith(shown)
            checked += 1
    assert checked > 10
