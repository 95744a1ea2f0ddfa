"""Several clients that ask at full speed while files change and are indexed: how long each answer takes.

    python benchmarks/clients.py ROOT [--clients 5] [--seconds 20] [--queries QUERIES.jsonl] [--cache]

ROOT must be indexed. Every client is a process of its own that asks hybrid questions one after the other, as the
index is (``wait_s=0``), each question a new one to it. Beside them one process writes twenty files in ROOT, takes them
in, and begins again, without a pause; they are taken away afterwards. The same is measured with one client, and without
the writer. Prints percentiles in milliseconds over all clients, questions and files a second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from speed import QUERIES, load_texts

from findling import Engine
from findling.model import errors

FOLDER = "findling_bench_clients"
FILES = 20
QUESTIONS = 60

TEXT = (
    "def handler_{0}_{1}(request, retries={0}):\n"
    "    '''Answer a request, again after {0} failures.'''\n"
    "    return {1}\n\n"
)


def ask(root: Path, texts: Sequence[str], seconds: float, *, cache: bool, first: int) -> None:
    """As one client: print the times as JSON."""
    times: list[float] = []
    with Engine.open(root, root=root, cache=cache) as engine:
        engine.search("the quick brown fox", mode="hybrid", wait_s=0.0)
        print("ready", flush=True)
        until = float(sys.stdin.readline()) + seconds
        number = first
        while time.time() < until:
            text = f"{texts[number % len(texts)]} {number // len(texts) or ''}".strip()
            started = time.perf_counter()
            engine.search(text, mode="hybrid", wait_s=0.0)
            times.append((time.perf_counter() - started) * 1000)
            number += 1
    print(json.dumps(times))


def write(root: Path, *, cache: bool) -> None:
    """As the writer: until it is killed, print how many files have been taken in so far."""
    folder = root / FOLDER
    folder.mkdir(exist_ok=True)
    with Engine.open(root, root=root, cache=cache) as engine:
        taken_in = 0
        while True:
            names = []
            for number in range(FILES):
                file = folder / f"module_{number}.py"
                file.write_text("".join(TEXT.format(taken_in + number, line) for line in range(30)))
                names.append(str(file))
            with suppress(errors.IndexBusy):
                taken_in += engine.sync(names).changed
            print(taken_in, flush=True)


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def measure(root: Path, clients: int, seconds: float, *, writing: bool, passed_on: Sequence[str]) -> str:
    own = [str(root), "--seconds", str(seconds), *passed_on]
    asking = [start(*own, "--as-client", str(number * QUESTIONS // clients)) for number in range(clients)]
    for process in asking:
        assert process.stdout is not None
        process.stdout.readline()
    writer = start(*own, "--as-writer") if writing else None
    if writer is not None:
        assert writer.stdout is not None
        writer.stdout.readline()
    now = time.time()
    for process in asking:
        assert process.stdin is not None
        process.stdin.write(f"{now}\n")
        process.stdin.flush()
    times = sorted(took for process in asking for took in json.loads(process.communicate()[0]))
    taken_in = 0
    if writer is not None:
        writer.kill()
        said = [int(line) for line in writer.communicate()[0].split()]
        taken_in = said[-1] if said else 0
    p50, p95, p99 = (times[min(len(times) - 1, int(len(times) * share))] for share in (0.50, 0.95, 0.99))
    return (
        f"| {clients} | {'yes' if writing else 'no'} | {p50:.0f} | {p95:.0f} | {p99:.0f} | "
        f"{len(times) / seconds:.0f} | {taken_in / seconds:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--clients", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--queries", type=Path, help="JSON lines with a `query`; without it, twenty general ones")
    parser.add_argument("--cache", action="store_true", help="the index lies in the user's cache folder")
    parser.add_argument("--as-client", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--as-writer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    root = options.root.resolve()
    if options.as_client is not None:
        texts = load_texts(options.queries, root, QUESTIONS) if options.queries else QUERIES
        ask(root, texts, options.seconds, cache=options.cache, first=options.as_client)
        return
    if options.as_writer:
        write(root, cache=options.cache)
        return
    passed_on = ["--cache"] if options.cache else []
    passed_on += ["--queries", str(options.queries)] if options.queries else []
    with Engine.open(root, root=root, cache=options.cache) as engine:
        coverage = engine.status().coverage
    print(
        f"{coverage.files:,} files, {coverage.chunks:,} chunks; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| clients | indexing | p50 ms | p95 ms | p99 ms | questions/s | files taken in/s |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    try:
        for clients, writing in ((1, False), (options.clients, False), (1, True), (options.clients, True)):
            print(measure(root, clients, options.seconds, writing=writing, passed_on=passed_on), flush=True)
    finally:
        shutil.rmtree(root / FOLDER, ignore_errors=True)
        with Engine.open(root, root=root, cache=options.cache) as engine:
            engine.sync()


if __name__ == "__main__":
    main()
