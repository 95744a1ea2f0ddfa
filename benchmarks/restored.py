"""Whether an answer is the same after files were edited and restored as from an index that nobody disturbed.

    restored.py FOLDER --queries QUERIES.jsonl [--repo NAME] [--rounds 60] [--seed 1]

In each round some files of a copy of FOLDER are edited, indexed, restored and indexed again, and all questions asked
of both indexes. What earlier rounds left in the index stays there.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from pathlib import Path

import ndcg

from findling import Engine
from findling.model.types import SearchResult

EDITED = 5
"""Files in a round, at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--repo", help="only its queries; without it those of the folder's name")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    name = options.repo or options.folder.name
    questions = [query.text for query in ndcg.load_queries(options.queries) if query.repo == name]
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder) / side / options.folder.name for side in ("edited", "left")]
        for root in roots:
            shutil.copytree(options.folder, root, ignore=shutil.ignore_patterns(".git", ".findling"))
        with Engine.open(root=roots[0]) as edited, Engine.open(root=roots[1]) as left:
            edited.index()
            left.index()
            files = sorted(path for path in roots[0].rglob("*") if path.is_file() and ".findling" not in path.parts)
            different = {"rank values": 0, "lines": 0, "order": 0}
            took = [0.0, 0.0]
            for _ in range(options.rounds):
                _edit_and_restore(edited, chance.sample(files, chance.randint(1, EDITED)), chance)
                found = set()
                for question in questions:
                    answers = []
                    for place, engine in chance.sample([(0, edited), (1, left)], 2):
                        begun = time.process_time()
                        answers.append((place, engine.search(question, limit=20, wait_s=None)))
                        took[place] += time.process_time() - begun
                    found |= _differences(*(answer for _, answer in sorted(answers, key=lambda each: each[0])))
                for what in found:
                    different[what] += 1
    print(f"{options.rounds} rounds, {len(questions)} questions; rounds in which an answer differed in")
    for what, rounds in different.items():
        print(f"  {what}: {rounds}")
    asked = options.rounds * len(questions)
    print("processor time of a question, ms: edited {:.1f}, left alone {:.1f}".format(*(1e3 * t / asked for t in took)))


def _edit_and_restore(engine: Engine, paths: list[Path], chance: random.Random) -> None:
    before = {path: path.read_bytes() for path in paths}
    for path, data in before.items():
        lines = data.split(b"\n")
        at = chance.randrange(len(lines))
        path.write_bytes(b"\n".join([*lines[:at], b"value = retry(request, header)", *lines[at + 5 :]]))
    engine.index()
    for path, data in before.items():
        path.write_bytes(data)
    engine.index()


def _differences(one: SearchResult, other: SearchResult) -> set[str]:
    found = set()
    if [hit.path for hit in one.hits] != [hit.path for hit in other.hits]:
        found.add("order")
    if [(hit.path, hit.start_line, hit.end_line) for hit in one.hits] != [
        (hit.path, hit.start_line, hit.end_line) for hit in other.hits
    ]:
        found.add("lines")
    if [round(hit.rank_value, 6) for hit in one.hits] != [round(hit.rank_value, 6) for hit in other.hits]:
        found.add("rank values")
    return found


if __name__ == "__main__":
    main()
