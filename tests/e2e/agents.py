"""Coding agents that connect to the server by their own set-up commands, without an account and without a model.

    python tests/e2e/agents.py DIR/node_modules/.bin

`make agents` installs them and calls it. Each agent has an empty home folder. Prints a line for each, and exits with 1
if one that is there did not connect.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

SERVER = [sys.executable, "-m", "findling", "serve", "--tools", "code"]

TIMEOUT_S = 120


class Agents:
    """The agents in one folder of programs, with a home and a project of their own."""

    def __init__(self, programs: Path, scratch: Path) -> None:
        self._programs = programs
        self.project = scratch / "project"
        self.project.mkdir()
        (self.project / "hello.py").write_text("def hello():\n    return 'hello'\n")
        home = scratch / "home"
        home.mkdir()
        self._environment = {
            **os.environ,
            "HOME": str(home),
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "NO_COLOR": "1",
        }

    def has(self, name: str) -> bool:
        return (self._programs / name).exists()

    def run(self, *command: str) -> str:
        ran = subprocess.run(
            command,
            cwd=self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
        return ran.stdout

    def claude(self) -> str:
        self.run("claude", "mcp", "add", "findling", "--", *SERVER)
        return self.run("claude", "mcp", "list")

    def gemini(self) -> str:
        self.run("gemini", "mcp", "add", "findling", SERVER[0], *SERVER[1:])
        return self.run("gemini", "mcp", "list")

    def opencode(self) -> str:
        settings = {"mcp": {"findling": {"type": "local", "command": SERVER, "enabled": True}}}
        (self.project / "opencode.json").write_text(json.dumps(settings))
        return self.run("opencode", "mcp", "list")


def connected(said: str) -> str:
    """The line that says that the server is connected, or nothing."""
    lines = [line.strip() for line in said.splitlines() if "findling" in line]
    return next((line for line in lines if "connected" in line.lower() and "not connected" not in line.lower()), "")


def main(programs: Path) -> int:
    outcomes: Mapping[str, str]
    with tempfile.TemporaryDirectory() as scratch:
        agents = Agents(programs.resolve(), Path(scratch))
        asked = {"claude": agents.claude, "gemini": agents.gemini, "opencode": agents.opencode}
        outcomes = {name: ask() for name, ask in asked.items() if agents.has(name)}
    if not outcomes:
        sys.stderr.write(f"None of the agents is in {programs}.\n")
        return 2
    for name, said in outcomes.items():
        sys.stdout.write(f"{name}: {connected(said) or f'NOT CONNECTED{os.linesep}{said}'}\n")
    return 0 if all(map(connected, outcomes.values())) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
