"""This program beside another checkout of it, by turns: processor time, memory, disk, and the way to an answer.

    beside.py OTHER_CHECKOUT FOLDER [--rounds 5]

OTHER_CHECKOUT has a ``.venv`` of its own (`make setup`). Each program indexes a copy of FOLDER. Prints a Markdown
table. Times are processor time, the median of the rounds; memory is the peak of private memory over all processes when
indexing, and of the resident set of a server that has answered 100 questions. Linux only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import house
import processes

HERE = Path(__file__).parent
QUESTIONS = (
    "where is the configuration read",
    "how are errors reported to the user",
    "parse command line arguments",
    "what happens when a connection is lost",
    "convert a value to JSON",
    "how are tests run",
    "open a file and read its lines",
    "main",
    "Parser",
    "caching",
)
COMMANDS = {
    "a question in words": ("search", QUESTIONS[2]),
    "a word, by keyword alone": ("search", "--mode", "keyword", "parser"),
    "symbol": ("symbol", "main"),
    "grep": ("grep", "return"),
}
ASKED_OF_SERVER = 100
# The package's name in 0.1.0 comes second.
TOOLS = ("findling.contracts", "findling.tools")
FULLTEXT = ("findling.store.local.fulltext", "findling.store.fulltext")
COMMAND_LINE = ("findling.faces.cli.main", "findling.cli")

Rows = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    pythons = {"other": options.other.resolve() / ".venv" / "bin" / "python", "this": Path(sys.executable)}
    found: dict[str, Rows] = {name: {} for name in pythons}
    with tempfile.TemporaryDirectory() as temporary:
        folders = {name: Path(temporary, name, options.folder.resolve().name) for name in pythons}
        for round_ in range(options.rounds):
            for name, python in pythons.items():
                for row, value in _once(python, folders[name], options.folder, whole=round_ == 0):
                    found[name].setdefault(row, []).append(value)
    print("| | other | this |\n|---|--:|--:|")
    for row in found["this"]:
        shown = (f"{statistics.median(found[name].get(row) or [float('nan')]):.4g}" for name in pythons)
        print(f"| {row} | {' | '.join(shown)} |")
    return 0


def _once(python: Path, folder: Path, source: Path, *, whole: bool) -> Iterator[tuple[str, float]]:
    """Everything measured once of one program. ``whole``: with what is the same in each round."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
    command = [str(python), "-P", "-m", "findling"]
    done, processor = _timed(lambda: processes.run([*command, "index"], env=_ENVIRONMENT, cwd=folder, sample=True))
    yield "indexing, processor s", processor
    yield "indexing, wall s", done.took_s
    yield "indexing, private memory at most, MB", done.peak_private_bytes / 1e6
    for name, words in COMMANDS.items():
        processes.run([*command, *words], env=_ENVIRONMENT, cwd=folder)
        done, processor = _timed(lambda words=words: processes.run([*command, *words], env=_ENVIRONMENT, cwd=folder))
        if done.returncode > 1:
            raise SystemExit(f"{words}: {done.stderr.decode()}")
        yield f"command: {name}, processor ms", processor * 1000
    for part in PARTS:
        measured = subprocess.run(
            [str(python), str(HERE / "beside.py"), part], cwd=folder, check=True, stdout=subprocess.PIPE
        )
        yield from json.loads(measured.stdout).items()
    if whole:
        yield f"server, resident at most after {ASKED_OF_SERVER} questions, MB", _server(command, folder) / 1e6
        size = sum(file.stat().st_size for file in (folder / ".findling").rglob("*") if file.is_file())
        yield "index, MB", size / 1e6


_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def _timed(run: Callable[[], processes.Finished]) -> tuple[processes.Finished, float]:
    """What it gives, and the processor time of the processes that it waited for."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    done = run()
    return done, spent() - before


def _server(command: Sequence[str], folder: Path) -> float:
    """The most bytes that were resident of a server on standard input, its children included."""
    server = subprocess.Popen(
        [*command, "serve"], cwd=folder, env=_ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin and server.stdout

    def send(message: Mapping[str, Any]) -> None:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()

    def ask(number: int, method: str, **params: Any) -> None:
        send({"id": number, "method": method, "params": params})
        while True:
            line = server.stdout.readline()
            if not line:
                raise SystemExit("the server ended")
            answer = json.loads(line)
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit(str(answer))
                return

    client = {"name": "beside", "version": "0"}
    ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    send({"method": "notifications/initialized"})
    for number in range(1, ASKED_OF_SERVER + 1):
        text = f"{QUESTIONS[number % len(QUESTIONS)]} {number // len(QUESTIONS) or ''}".strip()
        ask(number, "tools/call", name="search_code", arguments={"query": text})
    most = sum(_resident_at_most(pid) for pid in processes.family(server.pid))
    server.stdin.close()
    server.wait(60)
    return most


def _resident_at_most(pid: int) -> int:
    status = (processes.PROC / str(pid) / "status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))


# --- in the process of one program, in an indexed folder --------------------------------------------------------------


def inside() -> None:
    """Print as JSON how long questions take in one process, and what they do."""
    tools = _first(TOOLS)
    engine = importlib.import_module("findling.engine.engine")
    freshness = importlib.import_module("findling.engine.freshness")
    root = Path.cwd()
    found: dict[str, float] = {}
    with tools.Workspace(root, root=root) as workspace:

        def tool(name: str, text: str) -> None:
            result = tools.call(name, {"query": text}, workspace)
            if result.is_error:
                raise SystemExit(f"{name}: {result.text_blocks}")

        asks: dict[str, Callable[[str], object]] = {
            "Engine.search": lambda text: workspace.engine.search(text),
            "search_code": lambda text: tool("search_code", text),
            "hybrid_search": lambda text: tool("hybrid_search", text),
        }
        times: dict[str, dict[str, list[float]]] = {name: {text: [] for text in QUESTIONS} for name in asks}
        for _ in range(4):
            for text in QUESTIONS:
                for name, ask in asks.items():
                    began = time.process_time()
                    ask(text)
                    times[name][text].append((time.process_time() - began) * 1000)
        taken = {name: statistics.median(min(each[1:]) for each in of.values()) for name, of in times.items()}
        found["a warm question in one process, processor ms"] = taken["Engine.search"]
        for name in ("search_code", "hybrid_search"):
            found[f"{name} over Engine.search"] = taken[name] / taken["Engine.search"]
        done: Counter[str] = Counter()
        looked = engine if hasattr(engine, "freshen") else freshness
        counted = (
            (importlib.import_module("findling.search.searcher").Searcher, "search", "passes"),
            (looked, "freshen", "looks at the disk"),
            (_first(FULLTEXT).FulltextReader, "search", "full-text searches"),
        )
        with ExitStack() as patched:
            for owner, name, what in counted:
                patched.enter_context(mock.patch.object(owner, name, _counting(getattr(owner, name), done, what)))
            for text in QUESTIONS:
                before = Counter(done)
                asks["search_code"](text)
                for what, times_ in (done - before).items():
                    key = f"search_code: {what} at most"
                    found[key] = max(found.get(key, 0), times_)
    print(json.dumps(found))


def journey() -> None:
    """Print as JSON what a question on the command line runs through, in a process that remembers nothing."""
    files, functions = house.journey(QUESTIONS[2], _first(COMMAND_LINE).main)
    print(json.dumps({"files that a warm question on the command line runs through": files, "functions": functions}))


def _first(names: Sequence[str]) -> Any:
    """The first of some modules that the program has."""
    *earlier, last = names
    for name in earlier:
        with suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    return importlib.import_module(last)


def _counting(original: Callable[..., Any], done: Counter[str], what: str) -> Callable[..., Any]:
    def counting(*args: Any, **options: Any) -> Any:
        done[what] += 1
        return original(*args, **options)

    return counting


PARTS = {"--inside": inside, "--journey": journey}

if __name__ == "__main__":
    sys.exit(PARTS.get(" ".join(sys.argv[1:]), main)())
