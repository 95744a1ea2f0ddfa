"""How fast files are read: megabytes a second of one core, by language, for each step alone and for all of them.

    python benchmarks/reading.py FOLDER ... [--against SRC] [--rounds 5] [--megabytes 1]

A file counts with its fastest round, so that a busy machine costs rounds, not speed. ``--against`` names the ``src``
folder of another version: two processes then read each file in turn, and the ratio of their times is shown. The parser
is the same in both, so its ratio says how far to trust the others. ``query`` is a tree-sitter query with one pattern
that matches nothing: the least that finding definitions by queries would cost in place of ``walk``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from tree_sitter import Query, QueryCursor

from findling.model.languages import language_of
from findling.model.types import SkippedFile
from findling.reading import prepare
from findling.reading.chunks import chunk_file
from findling.reading.syntax import parse
from findling.reading.syntax_grammars import GRAMMARS
from findling.reading.syntax_tree import grammar, parse_tree
from findling.reading.syntax_walk import walk

STEPS = ("parser", "walk", "query", "chunks", "all")
MAX_BYTES = 500_000
SEED = 7


def sample(folders: Sequence[Path], megabytes: float) -> dict[str, dict[Path, int]]:
    """Sizes of files by language, those with a grammar, up to ``megabytes`` of each; always the same ones."""
    paths = sorted({path for folder in folders for path in folder.rglob("*") if ".findling" not in path.parts})
    random.Random(SEED).shuffle(paths)
    files: dict[str, dict[Path, int]] = {language: {} for language in GRAMMARS}
    seen: set[bytes] = set()
    for path in paths:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue
        data = path.read_bytes()
        some = files.get(language_of(path.name, data[: prepare.HEAD_BYTES]).id)
        if some is None or data in seen or sum(some.values()) >= megabytes * 1e6:
            continue
        if not isinstance(prepare.prepare(path.name, data), SkippedFile):
            seen.add(data)
            some[path] = len(data)
    return files


def seconds(path: Path) -> dict[str, float]:
    """Of the processor, by step, to read a file once."""
    data = path.read_bytes()
    language = language_of(path.name, data[: prepare.HEAD_BYTES])
    text = data.decode("utf-8", "replace")
    raw = text.encode()
    table = GRAMMARS[language.id]
    deadline = time.thread_time() + 60
    tree, known = parse_tree(raw, table.parser, deadline), grammar(table.parser)
    assert tree is not None and known is not None
    nothing = Query(known, "(ERROR (ERROR (ERROR))) @nothing")
    symbols = parse(raw, language.id).symbols
    steps: dict[str, Callable[[], object]] = {
        "parser": lambda: parse_tree(raw, table.parser, deadline),
        "walk": lambda: walk(tree.root_node, raw, table, deadline, docs=False),
        "query": lambda: QueryCursor(nothing).matches(tree.root_node),
        "chunks": lambda: chunk_file(text, language.id, language.kind, symbols),
        "all": lambda: prepare.prepare(path.name, data),
    }
    took: dict[str, float] = {}
    for step, run in steps.items():
        began = time.thread_time()
        run()
        took[step] = time.thread_time() - began
    return took


class Reader:
    """A process that reads files, by the version in ``source`` or by this one."""

    def __init__(self, source: Path | None) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source)} if source else None
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def fastest(self, path: Path, before: dict[str, float]) -> dict[str, float]:
        inlet, outlet = self._process.stdin, self._process.stdout
        assert inlet is not None and outlet is not None
        inlet.write(f"{path}\n")
        inlet.flush()
        took: dict[str, float] = json.loads(outlet.readline())
        return {step: min(took[step], before.get(step, took[step])) for step in STEPS}

    def close(self) -> None:
        self._process.communicate()


def serve() -> None:
    gc.disable()  # as in the worker processes
    for line in sys.stdin:
        print(json.dumps(seconds(Path(line.rstrip("\n")))), flush=True)


def report(name: str, size: int, own: Counter[str], other: Counter[str]) -> str:
    parts = [f"{name:12} {size / 1e6:6.2f} MB"]
    for step in STEPS:
        ratio = f" ({other[step] / own[step]:.2f} x)" if other else ""
        parts.append(f"{step} {size / own[step] / 1e6:6.2f} MB/s{ratio}")
    return "   ".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--against", type=Path, help="the src folder of another version")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=1, help="the most of each language")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    sources = [None, options.against] if options.against else [None]
    readers = [Reader(source) for source in sources]
    total, totals = 0, [Counter[str]() for _ in readers]
    for language, files in sample(options.folders, options.megabytes).items():
        if not files:
            continue
        fastest: dict[tuple[Path, int], dict[str, float]] = defaultdict(dict)
        for _ in range(options.rounds):
            for path in files:
                for at, reader in enumerate(readers):
                    fastest[path, at] = reader.fastest(path, fastest[path, at])
        sums = [Counter[str]() for _ in readers]
        for (_, at), took in fastest.items():
            sums[at].update(took)
            totals[at].update(took)
        size = sum(files.values())
        total += size
        print(report(language, size, sums[0], sums[-1] if options.against else Counter()), flush=True)
    print(report("together", total, totals[0], totals[-1] if options.against else Counter()))
    for reader in readers:
        reader.close()


if __name__ == "__main__":
    main()
