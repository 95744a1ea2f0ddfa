"""The first answer on a folder never seen, beside that of its whole index: how good, how long, how much memory.

    python benchmarks/first_answer.py --corpora DIR QUESTIONS.jsonl [...] [--every 5]

``DIR`` holds a folder a repository, indexed; ``QUESTIONS`` are judged as `findling eval` takes them, with ``repo``. Of
each repository a copy without an index is made; each question is one new process, and the copy is as new before each.
Nothing is left in the background. Whoever wants ratios runs it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from findling import Engine

TOP = 10


def relevant(question: dict[str, Any]) -> frozenset[str]:
    return frozenset(each.get("repo_path") or each.get("path") or "" for each in question["relevant"]) - {""}


def ndcg(found: Sequence[str], wanted: frozenset[str]) -> float:
    """NDCG@10 over files, each wanted one counted once."""
    left = set(wanted)
    gain = 0.0
    for place, path in enumerate(found[:TOP]):
        hit = next((each for each in left if path == each or path.endswith(f"/{each}")), None)
        if hit is not None:
            left.remove(hit)
            gain += 1 / math.log2(place + 2)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(TOP, len(wanted))))


def by_repository(file: Path) -> dict[str, list[dict[str, Any]]]:
    """The questions of a file that some file of their repository answers."""
    found = defaultdict(list)
    for line in file.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if relevant(question):
            found[question["repo"]].append(question)
    return found


def asked(folder: Path, text: str) -> tuple[list[str], int, float, float]:
    """The files of a first answer, how many were gone through, seconds by the clock and of processor time."""
    command = [sys.executable, "-m", "findling", "search", "--json", "--", text]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    ran = subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, "CI": "1"}, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    answer = json.loads(ran.stdout)
    return [hit["path"] for hit in answer["hits"]], int(answer["coverage"]["scanned"]), wall, used


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--every", type=int, default=5, help="one question in so many of each repository")
    parser.add_argument("questions", type=Path, nargs="+")
    options = parser.parse_args()
    print("| questions | n | first answer | whole index | share | wall p50 / p95 s | processor p50 / p95 s |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as made:
        for file in options.questions:
            first, whole, walls, used = [], [], [], []
            for repo, questions in by_repository(file).items():
                copy = Path(made) / repo
                if not copy.exists():
                    indexed = shutil.ignore_patterns(".findling")
                    shutil.copytree(options.corpora / repo, copy, ignore=indexed, symlinks=True)
                with Engine.open(root=options.corpora / repo) as engine:
                    for question in questions[:: options.every]:
                        shutil.rmtree(copy / ".findling", ignore_errors=True)
                        found, _, wall, processor = asked(copy, question["query"])
                        wanted = relevant(question)
                        first.append(ndcg(found, wanted))
                        walls.append(wall)
                        used.append(processor)
                        of_all = engine.search(question["query"], wait_s=0)
                        whole.append(ndcg([hit.path for hit in of_all.hits], wanted))
            share, n = sum(first) / max(1e-9, sum(whole)), len(first)
            print(
                f"| {file.stem} | {n} | {sum(first) / n:.3f} | {sum(whole) / n:.3f} | {share:.3f} "
                f"| {percentile(walls, 0.5):.2f} / {percentile(walls, 0.95):.2f} "
                f"| {percentile(used, 0.5):.2f} / {percentile(used, 0.95):.2f} |",
                flush=True,
            )
    print(f"peak memory of any first answer: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
