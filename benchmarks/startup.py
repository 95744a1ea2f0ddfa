"""How soon findling answers: the MCP server its first messages, a command a question of an index that is there.

    python benchmarks/startup.py ROOT [--findling .venv/bin/findling] [--against OTHER/findling] [--rounds 12]

ROOT must be indexed, and is not changed. Every round starts each process anew, one program after the other; minima are
printed, with the medians in brackets, in milliseconds. Processor time is of user and system, of the process and its
children; of a server it is what it has taken when the answer is there, in steps of ten. Modules have to be compiled
(`python -m compileall`), and a busy machine shows in wall time first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from servers import cpu_s

NAMES = "parse_args"
WORDS = "parse arguments"
MEANING = "where are the arguments of a command parsed"

CLIENT = {"name": "bench", "version": "1"}
MESSAGES: list[dict[str, Any]] = [
    {"method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}},
    {"method": "notifications/initialized"},
    {"method": "tools/list"},
    {"method": "tools/call", "params": {"name": "find_symbol", "arguments": {"name": NAMES}}},
]


class Took(NamedTuple):
    wall_ms: float
    cpu_ms: float


def command(*arguments: str) -> Callable[[str, Path], Took]:
    """A command from its start to its end; ROOT stands for the folder."""

    def measure(findling: str, root: Path) -> Took:
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(
            [findling, *(str(root) if argument == "ROOT" else argument for argument in arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Took(wall * 1000, cpu * 1000)

    return measure


def server(until: str, pause_s: float = 0.0) -> Callable[[str, Path], Took]:
    """A server from its start to its answer to this method; with a pause before, from then on."""

    def measure(findling: str, root: Path) -> Took:
        started, cpu = time.monotonic(), 0.0
        process = subprocess.Popen(
            [findling, "serve", "--root", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None and process.stdout is not None
        for number, message in enumerate(MESSAGES):
            named = {} if message["method"].startswith("notifications/") else {"id": number}
            if message["method"] == until and pause_s:
                time.sleep(pause_s)
                started, cpu = time.monotonic(), cpu_s(process.pid)
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **named, **message}) + "\n")
            process.stdin.flush()
            if named:
                assert "result" in json.loads(process.stdout.readline())
            if message["method"] == until:
                break
        took = Took((time.monotonic() - started) * 1000, (cpu_s(process.pid) - cpu) * 1000)
        process.stdin.close()
        process.wait(60)
        return took

    return measure


ROWS = {
    "server: initialize": server("initialize"),
    "server: initialize, tools/list": server("tools/list"),
    "server: the same and a first tools/call at once": server("tools/call"),
    "server: a first tools/call three seconds later": server("tools/call", pause_s=3.0),
    "findling --version": command("--version"),
    "findling search, text, names and meaning": command("search", MEANING, "ROOT"),
    "findling search --mode keyword": command("search", "--mode", "keyword", WORDS, "ROOT"),
    "findling search --mode symbol": command("search", "--mode", "symbol", NAMES, "ROOT"),
    "findling search --mode exact": command("search", "--mode", "exact", NAMES, "ROOT"),
    "findling symbol": command("symbol", NAMES, "ROOT"),
}


def shown(numbers: list[float]) -> str:
    return f"{min(numbers):.0f} ({statistics.median(numbers):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--findling", default=str(Path(sys.executable).with_name("findling")))
    parser.add_argument("--against", help="another findling, measured in turn with this one")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    programs = [options.findling, *([options.against] if options.against else [])]
    print("| | wall, ms |", "processor, ms |", *("against: wall | processor |" for _ in programs[1:]))
    print("|---|" + "--:|--:|" * len(programs))
    for name, measure in ROWS.items():
        took: dict[str, list[Took]] = {program: [] for program in programs}
        for _ in range(options.rounds):
            for program in programs:
                took[program].append(measure(program, options.root))
        cells = [
            f"{shown([each.wall_ms for each in found])} | {shown([each.cpu_ms for each in found])}"
            for found in took.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f} of {os.cpu_count()}")


if __name__ == "__main__":
    main()
