"""Exact search, timed in process: ten expressions over an indexed folder, the first 100 lines and all of them.

    python benchmarks/grep_speed.py ROOT [--cache] [--rg PATH] [--repeat N]

ROOT must have been indexed (``findling index ROOT``; ``--cache``: in the user's cache folder); nothing is indexed or
changed here. Prints a Markdown table: milliseconds, the median of --repeat calls with everything warm, the look for
changed files included; one call before them is not counted. "First 100" reads ``Engine.grep_stream`` and leaves it
after the 100th line; "all" is ``Engine.grep`` of every line. "Files read" are those that the index could not rule out.

With --rg, ripgrep runs the same expressions as a subprocess between ours, output to a pipe, and is ended after the
100th line in "rg first 100". Counts may differ, because the two leave out different files.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from findling.engine import Engine
from findling.model.types import GrepResult

FIRST_LINES = 100


@dataclass(frozen=True)
class Expression:
    name: str
    pattern: str
    literal: bool = False
    ignore_case: bool = False

    def rg_options(self) -> list[str]:
        return ["-F"] * self.literal + ["-i"] * self.ignore_case + ["-e", self.pattern]


@dataclass
class Row:
    """Times in milliseconds, one per repetition, and what was found."""

    first: list[float]
    everything: list[float]
    peer_first: list[float]
    peer_all: list[float]
    result: GrepResult
    peer_lines: int = 0

    def cells(self, name: str) -> list[str]:
        found = self.result
        cells = [name, f"{statistics.median(self.first):.1f}", f"{statistics.median(self.everything):.1f}"]
        cells += [f"{found.total_occurrences:,}", f"{found.total_lines:,}", f"{found.files_read:,}"]
        if self.peer_all:
            cells += [f"{statistics.median(self.peer_first):.0f}", f"{statistics.median(self.peer_all):.0f}"]
            cells += [f"{self.peer_lines:,}"]
        return cells


EXPRESSIONS = (
    Expression("rare literal", "errdefs.ErrUnavailable", literal=True),
    Expression("absent literal", "zzqx_no_such_text_here", literal=True),
    Expression("`context.WithTimeout(`", "context.WithTimeout(", literal=True),
    Expression("`return nil`", "return nil", literal=True),
    Expression("method regex", r"func \(\w+ \*?\w+\) Delete\("),
    Expression("TODO regex", r"TODO\(\w+\)"),
    Expression("json.Unmarshal regex", r"json\.Unmarshal\([^,]+, &\w+"),
    Expression(r"`class \w+Exception\b`", r"class \w+Exception\b"),
    Expression("case-insensitive literal", "not supported", literal=True, ignore_case=True),
    Expression("regex without literal", r"\b[0-9a-f]{40}\b"),
)


def timed_grep(engine: Engine, expression: Expression) -> tuple[float, GrepResult]:
    started = time.perf_counter()
    result = engine.grep(expression.pattern, literal=expression.literal, ignore_case=expression.ignore_case, limit=0)
    return (time.perf_counter() - started) * 1000, result


def timed_first_lines(engine: Engine, expression: Expression) -> float:
    started = time.perf_counter()
    found = engine.grep_stream(expression.pattern, literal=expression.literal, ignore_case=expression.ignore_case)
    with found:
        lines = 0
        for file in found:
            lines += len(file.lines)
            if lines >= FIRST_LINES:
                break
    return (time.perf_counter() - started) * 1000


def timed_rg(rg: str, corpus: Path, expression: Expression, *, limit: int) -> tuple[float, int]:
    command = [rg, "--no-config", "--line-number", *expression.rg_options(), str(corpus)]
    started = time.perf_counter()
    lines = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for _ in process.stdout:
            lines += 1
            if lines == limit:
                process.kill()
                break
        process.stdout.close()
    return (time.perf_counter() - started) * 1000, lines


def measure(engine: Engine, expression: Expression, root: Path, *, rg: str | None, repeat: int) -> Row:
    found = Row([], [], [], [], timed_grep(engine, expression)[1])
    for _ in range(repeat):
        found.first.append(timed_first_lines(engine, expression))
        found.everything.append(timed_grep(engine, expression)[0])
        if rg:
            found.peer_first.append(timed_rg(rg, root, expression, limit=FIRST_LINES)[0])
            took, found.peer_lines = timed_rg(rg, root, expression, limit=0)
            found.peer_all.append(took)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--cache", action="store_true", help="the index is in the user's cache folder")
    parser.add_argument("--rg", help="path of a ripgrep binary to run side by side")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    root = options.root.resolve()
    with Engine.open(root, root=root, cache=options.cache) as engine:
        status = engine.status()
        if status.indexing_status != "ready":
            print(f"{root} is not indexed ({status.indexing_status}): run `findling index` on it.", file=sys.stderr)
            return 2
        print(f"{status.coverage.files:,} files, {status.bytes_indexed / 1e6:,.0f} MB of text\n")
        columns = ["expression", "first 100", "all", "occurrences", "lines", "files read"]
        columns += ["rg first 100", "rg all", "rg lines"] if options.rg else []
        print("| " + " | ".join(columns) + " |\n|---|" + "--:|" * (len(columns) - 1))
        rows = []
        for expression in EXPRESSIONS:
            rows.append(measure(engine, expression, root, rg=options.rg, repeat=options.repeat))
            print("| " + " | ".join(rows[-1].cells(expression.name)) + " |", flush=True)
    print("\np50 over the expressions: " + _middle("findling", [(row.first, row.everything) for row in rows]))
    if options.rg:
        print("p50 over the expressions: " + _middle("ripgrep", [(row.peer_first, row.peer_all) for row in rows]))
    return 0


def _middle(name: str, rows: list[tuple[list[float], list[float]]]) -> str:
    first, everything = (statistics.median(map(statistics.median, times)) for times in zip(*rows, strict=True))
    return f"{name} first 100 lines {first:.1f} ms, all {everything:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
