"""What a tool's answer costs beside `Engine.search`'s to the same question, and how often it goes over the index.

    passes.py FOLDER [QUESTION ...] [--rounds N]

FOLDER is indexed first where it lies. Prints a Markdown table: processor time of one question, the median of the
questions' best rounds, its share of what `Engine.search` takes, and how often it goes over the index, looks at the disk
and searches the text index, counted on the real objects.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from findling.contracts import Workspace, call
from findling.engine import engine as engine_module
from findling.search.searcher import Searcher
from findling.store.local.fulltext import FulltextReader

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


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", nargs="*", default=QUESTIONS)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    root = options.folder.resolve()
    with Workspace(root, root=root) as workspace:
        workspace.engine.index()
        print(f"load {os.getloadavg()[0]:.1f}, {len(options.questions)} questions, {options.rounds} rounds\n")
        for line in table(measured(workspace, options.questions, options.rounds)):
            print(line)
    return 0


Ask = Callable[[str], object]


def measured(workspace: Workspace, questions: Sequence[str], rounds: int) -> dict[str, tuple[float, Counter[str]]]:
    """By what was asked: milliseconds of processor time for a question, and what it did."""
    asks: Mapping[str, Ask] = {
        "Engine.search": lambda text: workspace.engine.search(text),
        "search_code": lambda text: _answer(workspace, "search_code", text),
        "hybrid_search": lambda text: _answer(workspace, "hybrid_search", text),
        "search_semantic": lambda text: _answer(workspace, "search_semantic", text),
    }
    times: dict[str, dict[str, list[float]]] = {name: {text: [] for text in questions} for name in asks}
    for _ in range(rounds + 1):  # the first opens what is needed
        for text in questions:
            for name, ask in asks.items():
                began = time.process_time()
                ask(text)
                times[name][text].append((time.process_time() - began) * 1000)
    return {
        name: (
            statistics.median(min(of_text[1:]) for of_text in times[name].values()),
            _most(ask, questions),
        )
        for name, ask in asks.items()
    }


def _answer(workspace: Workspace, tool: str, text: str) -> None:
    result = call(tool, {"query": text}, workspace)
    if result.is_error:
        raise SystemExit(f"{tool}: {result.text_blocks}")


def _most(ask: Ask, questions: Sequence[str]) -> Counter[str]:
    """The most that any of the questions did."""
    most: Counter[str] = Counter()
    for text in questions:
        with counted() as done:
            ask(text)
        most |= done
    return most


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How often each of these is done in here."""
    done: Counter[str] = Counter()
    with (
        _counting(Searcher, "search", done, "passes"),
        _counting(engine_module, "freshen", done, "looks"),
        _counting(FulltextReader, "search", done, "full text"),
    ):
        yield done


def _counting(owner: Any, name: str, done: Counter[str], what: str) -> Any:
    original = getattr(owner, name)

    def counting(*args: Any, **options: Any) -> Any:
        done[what] += 1
        return original(*args, **options)

    return mock.patch.object(owner, name, counting)


def table(found: Mapping[str, tuple[float, Counter[str]]]) -> Iterator[str]:
    yield "| asked | ms | of `Engine.search` | passes | looks at the disk | full-text searches |"
    yield "|---|--:|--:|--:|--:|--:|"
    whole = found["Engine.search"][0]
    for name, (took, done) in found.items():
        counts = " | ".join(str(done[what]) for what in ("passes", "looks", "full text"))
        yield f"| {name} | {took:.1f} | {took / whole:.2f} | {counts} |"


if __name__ == "__main__":
    sys.exit(main())
