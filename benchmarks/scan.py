"""What the scan of a folder that is not indexed proposes: how often the wanted files are among the first.

    python benchmarks/scan.py --corpora DIR QUESTIONS.jsonl [...] [--every 2]

``DIR`` and ``QUESTIONS`` as for `first_answer`. Each row leaves one thing out of what is counted; the last column is of
those that are then read, within what is read for one question.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from first_answer import by_repository, relevant

from findling.engine import first_answers
from findling.outbound.files import RootFiles
from findling.search.analysis import analyse
from findling.sources import scan as scanning
from findling.sources.discovery import discover
from findling.sources.selection import DiscoveryOptions

WITHOUT: Mapping[str, Mapping[str, float]] = {
    "all": {},
    "without names that are defined": {"DEFINED": 0.0},
    "without holding anything back": {"HELD_BACK": 1.0},
    "words and paths alone": {"DEFINED": 0.0, "HELD_BACK": 1.0},
}
FIRST = (30, 60, 120)


def held(paths: list[str], wanted: frozenset[str]) -> float:
    """The share of the wanted files that is among some."""
    return sum(any(path == each or path.endswith(f"/{each}") for path in paths) for each in wanted) / len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--every", type=int, default=2, help="one question in so many of each repository")
    parser.add_argument("questions", type=Path, nargs="+")
    options = parser.parse_args()
    choices = {name: getattr(scanning, name) for name in ("DEFINED", "HELD_BACK")}
    wanted_files = DiscoveryOptions()
    for file in options.questions:
        recall: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        used = 0.0
        for repo, questions in by_repository(file).items():
            root = options.corpora / repo
            found = discover(root, wanted_files).files
            for question in questions[:: options.every]:
                asked = first_answers._by_words(analyse(question["query"]))
                for name, changed in WITHOUT.items():
                    for constant, value in (choices | dict(changed)).items():
                        setattr(scanning, constant, value)
                    started = time.process_time()
                    with RootFiles(root) as files:
                        most = wanted_files.max_bytes
                        best = scanning.scan(files, found, asked, first_answers.READ_FILES, max_bytes=most).best
                        used += time.process_time() - started
                        read = [path for path, _ in first_answers._read(files, list(enumerate(best)), wanted_files, {})]
                    row = [held(list(best[:first]), relevant(question)) for first in FIRST]
                    recall[name].append((*row, held(read, relevant(question))))
        n = len(recall["all"])
        print(f"| {file.stem}, {n} questions | {' | '.join(f'first {first}' for first in FIRST)} | read |")
        print(f"|---|{'--:|' * (len(FIRST) + 1)}")
        for name, rows in recall.items():
            print(f"| {name} | {' | '.join(f'{sum(column) / n:.3f}' for column in zip(*rows, strict=True))} |")
        print(f"{used / n / len(WITHOUT):.2f} s of processor time a scan\n", flush=True)


if __name__ == "__main__":
    main()
