"""Asks a headless coding agent the questions, in each arm, and keeps what it looked at and answered.

    run.py CORPORA --agent claude-code --out DIR [--questions FILE ...] [--arms rg findling mcp] [--runs 3]
                   [--only ID ...] [--print]

See README.md beside this file. A run that is in DIR already is not asked again, so an interrupted one can go on.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
AGENTS: Mapping[str, Mapping[str, Any]] = json.loads((HERE / "agents.json").read_text("utf-8"))

EVERYWHERE = ("sh", "sed", "cat", "ls", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "dirname", "basename", "awk")
PROGRAMS = {"rg": ("rg", "find", "grep", "xargs"), "findling": ("findling",), "mcp": ()}
"""Programs that an arm's looks may use besides these."""

RULES = {
    "rg": "Search with rg and find, and read with sed.",
    "findling": (
        'Search with findling: `findling search "QUESTION"`, `findling symbol NAME...`, `findling callers NAME`, '
        "`findling trace FROM TO`, `findling grep REGEX`; `findling help COMMAND` says more. Read with sed."
    ),
    "mcp": "Search with the tools of findling. Read with sed, where that is still needed.",
}
PROMPT = """\
Answer a question about the source code in the current folder. Change nothing, and use no other folder and no network.
Every look at it goes through the command `look`: look 'COMMAND'. {rules}
Take as few looks as you need, and stop when you know the answer.
End with the answer in at most fifteen lines, naming the files and lines that decide it as path:line-line.

Question: {question}
"""

TIMEOUT_S = 900


def look_folder(arm: str, place: Path) -> Path:
    """A folder with the programs of an arm and nothing else, to be the PATH of its looks."""
    folder = place / f"bin-{arm}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*EVERYWHERE, *PROGRAMS[arm]):
        found = shutil.which(name)
        if found is None:
            raise SystemExit(f"{name} is needed for the arm {arm}, and is not on the PATH.")
        target = folder / name
        if not target.is_symlink():
            target.symlink_to(found)
    return folder


def look_program(arm: str, place: Path, log: Path) -> Path:
    """A folder with the one command ``look``, to be first on the agent's PATH."""
    folder = place / f"look-{log.stem}"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "look"
    variables = f'PATH="{look_folder(arm, place)}" FINDLING_AB_LOG="{log}"'
    script.write_text(f'#!/bin/sh\n{variables} exec "{sys.executable}" "{HERE / "look.py"}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return folder


def prompt(arm: str, question: Mapping[str, Any]) -> str:
    return PROMPT.format(rules=RULES[arm], question=question["query"])


def asked(agent: Mapping[str, Any], arm: str, question: Mapping[str, Any], root: Path, place: Path, log: Path) -> str:
    """The agent's answer; what it looked at is in the log."""
    server = [
        str(HERE / "mcp_log.py"),
        shutil.which("findling") or "findling",
        "serve",
        "--tools",
        "code",
        "--root",
        str(root),
    ]
    settings = place / "mcp.json"
    entry = {"command": sys.executable, "args": server, "env": {"FINDLING_AB_LOG": str(log)}}
    settings.write_text(json.dumps({"mcpServers": {"findling": entry}}), encoding="utf-8")
    filled = {
        "{prompt}": prompt(arm, question),
        "{mcp}": str(settings),
        "{python}": sys.executable,
        "{mcp_args}": json.dumps(server),
    }
    words = [_filled(word, filled) for word in agent["mcp" if arm == "mcp" else "shell"]]
    path = f"{look_program(arm, place, log)}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "FINDLING_AB_LOG": str(log)}
    ran = subprocess.run(
        words, cwd=root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
    )
    text = ran.stdout.decode("utf-8", "replace")
    if ran.returncode:
        raise SystemExit(
            f"The agent ended with status {ran.returncode}: {ran.stderr.decode('utf-8', 'replace')[-800:]}"
        )
    return str(json.loads(text)[agent["answer"]]) if agent["answer"] else text


def _filled(word: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        word = word.replace(key, value)
    return word


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--agent", choices=sorted(AGENTS))
    parser.add_argument("--print", action="store_true", help="only print what another agent is to be given")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--questions", type=Path, nargs="+", default=[HERE / "questions.jsonl"])
    parser.add_argument("--arms", nargs="+", choices=sorted(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", help="only the questions with these ids")
    options = parser.parse_args(arguments)
    if not options.print and options.agent is None:
        parser.error("--agent is needed, or --print")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if options.agent:
        named = subprocess.run(AGENTS[options.agent]["version"], capture_output=True, text=True, check=True)
        told = {"agent": options.agent, "version": named.stdout.strip()}
        (out / "agent.json").write_text(json.dumps(told), encoding="utf-8")
    questions = [json.loads(line) for file in options.questions for line in file.read_text("utf-8").splitlines()]
    for run in range(1, options.runs + 1):
        for question in questions:
            for arm in options.arms:
                place = out / arm / str(run)
                answer, log = place / f"{question['id']}.md", place / f"{question['id']}.jsonl"
                if answer.exists() or question["id"] not in (options.only or {question["id"]}):
                    continue
                place.mkdir(parents=True, exist_ok=True)
                log.unlink(missing_ok=True)
                log.touch()
                root = (options.corpora / question["repo"]).resolve()
                if options.print:
                    given = {"arm": arm, "run": run, "id": question["id"], "folder": str(root), "answer": str(answer)}
                    look = look_program(arm, place, log) / "look"
                    print(json.dumps({**given, "look": str(look), "prompt": prompt(arm, question)}))
                    continue
                answer.write_text(asked(AGENTS[options.agent], arm, question, root, place, log), encoding="utf-8")
                print(f"run {run}, {arm}, {question['id']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
