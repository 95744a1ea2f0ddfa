"""How often a name typed alone leads to where it is defined.

    names.py ROOT... [--names 60] [--seed 1] [--cache]

Of each ROOT so many names are drawn at random, of those that at most two of its files define and that no word could be:
written with ``_`` or with capitals inside. Each is asked for in `auto` mode; it is missed where the first file of the
answer is none that defines it. Prints a Markdown table, and each name that was missed with the file that came first.
The folders are indexed first where they are not yet.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Mapping
from pathlib import Path

from findling import Engine, tokenizer

MOST_FILES = 2
LEAST_LETTERS = 5
_COMPOUND = re.compile(r"[^\W_]_[^\W_]|[a-z][A-Z]")


def definers(engine: Engine) -> Mapping[str, set[str]]:
    """Name -> the files that define it, spellings of one name together; of those that are asked for."""
    reader = engine._store.reader
    files: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    with reader.snapshot():
        paths = {file.blob_id: file.path for file in reader.all_files() if file.kind == "code"}
        for blob_id, names in reader.defined_names(list(paths)).items():
            for name in names.text.split("\n"):
                squashed = tokenizer.squash(name)
                files.setdefault(squashed, set()).add(paths[blob_id])
                if len(name) >= LEAST_LETTERS and _COMPOUND.search(name):
                    spelled[squashed] = name
    return {name: files[squashed] for squashed, name in spelled.items() if len(files[squashed]) <= MOST_FILES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="+")
    parser.add_argument("--names", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", action="store_true", help="the indexes lie in the user's cache folder")
    options = parser.parse_args()
    missed: list[str] = []
    asked = 0
    print("| | asked | missed |\n|---|--:|--:|")
    for root in options.root:
        with Engine.open(root, root=root, cache=options.cache) as engine:
            engine.index()
            of_root = definers(engine)
            names = random.Random(options.seed).sample(sorted(of_root), min(options.names, len(of_root)))
            before = len(missed)
            for name in names:
                hits = engine.search(name, limit=1, wait_s=0.0).hits
                first = hits[0].path if hits else "nothing"
                if first not in of_root[name]:
                    missed.append(f"{root.name}: {name}: {first}, not {' or '.join(sorted(of_root[name]))}")
            asked += len(names)
            print(f"| {root.name} | {len(names)} | {len(missed) - before} |", flush=True)
    print(f"| **all** | {asked} | {len(missed)} |")
    if missed:
        print("", *missed, sep="\n")


if __name__ == "__main__":
    main()
