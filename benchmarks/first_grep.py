"""A first exact search of a folder that was never indexed, as a command, beside ripgrep; and one with an index.

    python benchmarks/first_grep.py ROOT [ROOT...] [--rg rg] [--repeat N] [--before PYTHON] [--pattern TEXT --regex RE]

Every run is a fresh process with its output to a pipe, the programs by turns. Prints a Markdown table: the least wall
time, the least processor time (user and system) and the least time to the first line, in milliseconds, and how many
lines there were. "unindexed" is a copy without an index, which a run must not leave behind; "indexed" one that
`findling index` has made. --before: the Python of another checkout, whose `grep` is run on the indexed copy too (on the
unindexed one it would index first).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    wall_ms: float
    cpu_ms: float
    first_ms: float
    lines: int


def run(command: list[str], folder: Path) -> Run:
    before, started = os.times(), time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        first_ms = (time.perf_counter() - started) * 1000
        lines = bool(first) + sum(piece.count(b"\n") for piece in iter(lambda: process.stdout.read(1 << 20), b""))
    wall_ms, after = (time.perf_counter() - started) * 1000, os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(wall_ms, cpu_s * 1000, first_ms, lines)


def least(runs: list[Run]) -> Run:
    return Run(*(min(values) for values in zip(*runs, strict=True)))


def measure(root: Path, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        plain, indexed = Path(folder, "plain"), Path(folder, "indexed")
        for copy in (plain, indexed):
            shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
        ours = [sys.executable, "-m", "findling"]
        programs: dict[str, Callable[[str, str], tuple[list[str], Path]]] = {
            "findling, unindexed": lambda letter, text: ([*ours, "grep", letter, text], plain),
            "findling, indexed": lambda letter, text: ([*ours, "grep", letter, text], indexed),
            "ripgrep": lambda letter, text: ([options.rg, "--no-config", "-nH", letter, text, "."], plain),
        }
        subprocess.run([*ours, "index", "--no-embed", str(indexed)], check=True, capture_output=True)
        if options.before:
            old = Path(folder, "old")
            shutil.copytree(root, old, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
            theirs = [options.before, "-m", "findling"]
            subprocess.run([*theirs, "index", "--no-embed", str(old)], check=True, capture_output=True)
            flag = {"-e": [], "-F": ["-F"]}
            programs["before, indexed"] = lambda letter, text: ([*theirs, "grep", *flag[letter], text], old)
        for letter, text in (("-F", options.pattern), ("-e", options.regex)):
            found: dict[str, list[Run]] = {name: [] for name in programs}
            for _ in range(options.repeat):
                for name, command in programs.items():
                    found[name].append(run(*command(letter, text)))
            for name, runs in found.items():
                each = least(runs)
                cells = (root.name, f"`{text}`", name, *(f"{number:,.0f}" for number in each))
                print(f"| {' | '.join(cells)} |", flush=True)
        if (plain / ".findling").exists():
            raise SystemExit("a search has left an index behind")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", type=Path, nargs="+")
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--before", metavar="PYTHON")
    parser.add_argument("--pattern", default="jsonable_encoder", help="the literal")
    parser.add_argument("--regex", default=r"json\w*_encoder\(")
    options = parser.parse_args()
    print("| folder | pattern | program | wall | processor | first line | lines |\n|---|---|---|--:|--:|--:|--:|")
    for root in options.roots:
        measure(root.resolve(), options)


if __name__ == "__main__":
    main()
