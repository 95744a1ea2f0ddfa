"""What is measured inside one process with findling's Engine; ``speed.py`` starts it once per measurement.

    inside.py index ROOT              stages of a run of the indexer
    inside.py search ROOT TEXTS       warm answers, by mode
    inside.py memory ROOT TEXTS       private memory after hybrid answers
    inside.py grep ROOT EXPRESSIONS   warm exhaustive search, the first 100 lines and all

The index is the one in the user's cache folder; with ``--existing`` at the end, the one in ROOT. Prints one JSON
object. TEXTS and EXPRESSIONS are JSON files with a list of strings.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import processes
from msgspec import to_builtins

from findling.engine import Engine
from findling.model.types import Mode, Progress

MODES: tuple[Mode, ...] = ("keyword", "hybrid", "auto")

# Each text is asked this often after one round that is counted for itself; its times all go into the percentiles.
ROUNDS = 5

# Asked before the clock runs, so that no text pays for opening files and importing modules.
WARM_UP = "the quick brown fox jumps over the lazy dog"

# Answers after which the memory of a process is read.
ANSWERS = 40

FIRST_LINES = 100


def measure_index(root: Path) -> dict[str, Any]:
    """When each stage began and last moved, counted from the start, and what the run reports."""
    began: dict[str, float] = {}
    moved: dict[str, float] = {}
    started = time.perf_counter()

    def note(progress: Progress) -> None:
        moved[progress.stage] = time.perf_counter() - started
        began.setdefault(progress.stage, moved[progress.stage])

    with Engine.open(root, root=root, cache=True) as engine:
        report = engine.index(progress=note)
        took_s = time.perf_counter() - started
        status = engine.status()
    told = to_builtins(report)
    told["skipped"], told["failed"] = len(report.skipped), len(report.failed)
    return {
        "took_s": took_s,
        "stage_began_s": began,
        "stage_moved_s": moved,
        "report": told,
        "store": status.store,
        "bytes_indexed": status.bytes_indexed,
        "bytes_on_disk": status.bytes_on_disk,
        "embedded_chunks": status.coverage.embedded_chunks,
    }


def measure_search(root: Path, texts: Sequence[str], *, cache: bool) -> dict[str, Any]:
    """Percentiles by mode, without looking for changed files: of texts that are new to the engine (``new_``) and of
    texts asked again; then the time of a look that finds nothing changed."""
    modes: dict[str, Any] = {}
    for mode in MODES:
        first: list[float] = []
        again: list[float] = []
        with Engine.open(root, root=root, cache=cache) as engine:
            engine.search(WARM_UP, mode=mode, wait_s=0.0)
            for round_number in range(ROUNDS + 1):
                for text in texts:
                    took_ms = _timed(partial(engine.search, text, mode=mode, wait_s=0.0))
                    (again if round_number else first).append(took_ms)
        modes[mode] = _percentiles(again) | {f"new_{name}": value for name, value in _percentiles(first).items()}
    with Engine.open(root, root=root, cache=cache) as engine:
        engine.search(WARM_UP, wait_s=0.0)
        started = time.perf_counter()
        report = engine.sync()
        refresh_ms = (time.perf_counter() - started) * 1000
    return {"modes": modes, "refresh_ms": refresh_ms, "changed": report.changed}


def measure_memory(root: Path, texts: Sequence[str], *, cache: bool) -> dict[str, Any]:
    """Private memory of this process, with an engine open that has answered ANSWERS times."""
    with Engine.open(root, root=root, cache=cache) as engine:
        for text in islice(cycle(texts), ANSWERS):
            engine.search(text, mode="hybrid", wait_s=0.0)
        total, mapped = processes.private_bytes(os.getpid(), engine.store_dir)
    return {"answers": ANSWERS, "private_bytes": total, "private_bytes_without_index": total - mapped}


def measure_grep(root: Path, expressions: Sequence[str], *, cache: bool) -> dict[str, Any]:
    """Per expression the median time for the first lines and for all lines, and how many occurrences there are."""
    rows: list[dict[str, Any]] = []
    with Engine.open(root, root=root, cache=cache) as engine:
        for expression in expressions:
            ignore_case = expression.startswith("(?i)")
            plain = expression.removeprefix("(?i)")
            result = engine.grep(plain, ignore_case=ignore_case)
            times: dict[int, list[float]] = {FIRST_LINES: [], 0: []}
            for _ in range(ROUNDS):
                for limit, found in times.items():
                    call = partial(engine.grep, plain, ignore_case=ignore_case, limit=limit)
                    found.append(_timed(call))
            rows.append(
                {
                    "expression": expression,
                    "occurrences": result.total_occurrences,
                    "files": result.total_files,
                    "files_read": result.files_read,
                    "first_ms": _percentiles(times[FIRST_LINES])["p50_ms"],
                    "all_ms": _percentiles(times[0])["p50_ms"],
                }
            )
    return {
        "expressions": rows,
        "first_p50_ms": _percentiles([row["first_ms"] for row in rows])["p50_ms"],
        "all_p50_ms": _percentiles([row["all_ms"] for row in rows])["p50_ms"],
    }


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    """Nearest-rank percentiles."""
    ordered = sorted(times)
    return {
        f"p{share}_ms": ordered[max(0, math.ceil(share / 100 * len(ordered)) - 1)] if ordered else math.nan
        for share in (50, 95)
    }


def main(arguments: Sequence[str]) -> int:
    what, root = arguments[0], Path(arguments[1])
    if what == "index":
        found = measure_index(root)
    else:
        texts = json.loads(Path(arguments[2]).read_text(encoding="utf-8"))
        measures = {"search": measure_search, "memory": measure_memory, "grep": measure_grep}
        found = measures[what](root, texts, cache="--existing" not in arguments)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
