"""Exact search, timed in process: ten expressions over a folder, the first 100 lines and all of them.

    python benchmarks/grep_speed.py CORPUS [--index DIR] [--rg PATH] [--repeat N]

Builds the trigram index of every regular file of at most 1 MiB without a NUL byte near its start (below --index, a
temporary folder by default), then prints a Markdown table: milliseconds, the median of --repeat runs, files warm in
the page cache. With --rg, ripgrep runs the same expressions as a subprocess between ours, output to a pipe. Its
counts may differ: it also searches larger files and honours ignore files.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from findling.search.exact import GrepRequest, grep
from findling.search.exact_sources import FolderSource
from findling.search.patterns import compile_pattern
from findling.store.trigrams import TrigramIndex, file_trigrams
from findling.types import GrepResult

MAX_FILE_BYTES = 1 << 20
FIRST_LINES = 100


@dataclass(frozen=True)
class Expression:
    name: str
    pattern: str
    literal: bool = False
    ignore_case: bool = False

    def rg_options(self) -> list[str]:
        return ["-F"] * self.literal + ["-i"] * self.ignore_case + ["-e", self.pattern]


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


def build(corpus: Path, directory: Path) -> FolderSource:
    source = FolderSource(corpus, max_file_size=MAX_FILE_BYTES)
    index = TrigramIndex(directory)
    text_bytes = files = 0
    making = writing = 0.0
    for ref in source.refs:
        data = source.read(ref)
        if data is None or b"\0" in data[:8192]:
            index.add(ref.blob_id, b"")  # left out: covered, and never a candidate of a text
            continue
        started = time.perf_counter()
        trigrams = file_trigrams(data)
        made = time.perf_counter()
        index.add(ref.blob_id, trigrams)
        making += made - started
        writing += time.perf_counter() - made
        text_bytes += len(data)
        files += 1
    started = time.perf_counter()
    index.flush()
    writing += time.perf_counter() - started
    source.use(index)
    megabytes = text_bytes / 1e6
    print(
        f"{files:,} files, {megabytes:.0f} MB of text; trigrams {megabytes / making:.0f} MB/s, index written in "
        f"{writing:.1f} s, {index.segment_count} segments, {index.size_on_disk / 1e6:.0f} MB on disk "
        f"({index.size_on_disk / text_bytes:.3f} x text)\n"
    )
    return source


def timed_grep(source: FolderSource, expression: Expression, *, limit: int) -> tuple[float, GrepResult]:
    request = GrepRequest(
        expression.pattern,
        literal=expression.literal,
        ignore_case=expression.ignore_case,
        limit=limit,
        stop_at_limit=limit > 0,
        time_limit_s=120,
    )
    started = time.perf_counter()
    result = grep(source, request)
    return (time.perf_counter() - started) * 1000, result


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


def main() -> None:
    parser = argparse.ArgumentParser(description="Time exact search.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--index", type=Path, help="folder for the index; kept, and must not hold one yet")
    parser.add_argument("--rg", help="path of a ripgrep binary to run side by side")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        source = build(arguments.corpus, arguments.index or Path(temporary))
        peer = ["rg all", "rg first 100", "rg lines"] if arguments.rg else []
        columns = ["expression", "first 100", "all", "candidates", "occurrences", "lines", "files read", *peer]
        print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
        first_medians, all_medians = [], []
        for expression in EXPRESSIONS:
            cells, first, everything = row(source, expression, arguments)
            first_medians.append(first)
            all_medians.append(everything)
            print("| " + " | ".join(cells) + " |", flush=True)
        print(
            f"\np50 over the expressions: first 100 lines {statistics.median(first_medians):.1f} ms, "
            f"all {statistics.median(all_medians):.1f} ms"
        )


def row(source: FolderSource, expression: Expression, arguments: argparse.Namespace) -> tuple[list[str], float, float]:
    first: list[float] = []
    everything: list[float] = []
    peer_first: list[float] = []
    peer_all: list[float] = []
    peer_lines = 0
    for _ in range(arguments.repeat):
        first.append(timed_grep(source, expression, limit=FIRST_LINES)[0])
        took, result = timed_grep(source, expression, limit=0)
        everything.append(took)
        if arguments.rg:
            peer_first.append(timed_rg(arguments.rg, arguments.corpus, expression, limit=FIRST_LINES)[0])
            took, peer_lines = timed_rg(arguments.rg, arguments.corpus, expression, limit=0)
            peer_all.append(took)
    pattern = compile_pattern(expression.pattern, literal=expression.literal, ignore_case=expression.ignore_case)
    started = time.perf_counter()
    source.candidate_files(pattern.plan, GrepRequest("").scope)
    candidates = (time.perf_counter() - started) * 1000
    cells = [
        expression.name,
        f"{statistics.median(first):.1f}",
        f"{statistics.median(everything):.1f}",
        f"{candidates:.1f}",
        f"{result.total_occurrences:,}",
        f"{result.total_lines:,}",
        f"{result.files_read:,}",
    ]
    if arguments.rg:
        cells += [f"{statistics.median(peer_all):.0f}", f"{statistics.median(peer_first):.0f}", f"{peer_lines:,}"]
    return cells, statistics.median(first), statistics.median(everything)


if __name__ == "__main__":
    main()
