"""What a pasted text costs beside its title, and what each of its parts leads to where nothing else does.

    pasted.py CORPORA --queries ISSUES.jsonl [--number 40] [--seed 1] [--cache]

Two tables. The first: the processor time of each text of ISSUES and of its first line alone, in milliseconds. The
second: of the repositories of ISSUES so many of each part are drawn at random and put into a text that says nothing
else: a Python traceback whose last own frame is a line of a file; two names of a file that few others define, in the
prose or in code; a message that a line of code raises. How often the file is the first of the answer, and with how
often its line is among the lines of its place; beside it the same with the weight of that part at zero.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import ablation
import names

from findling import Engine
from findling.search.ranking import formula
from findling.search.ranking.priors import OF_PLACES, path_flags

FRAME = """Something is wrong since yesterday

It worked before.

```
Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 88, in _run_code
    exec(code, run_globals)
  File "/opt/venv/lib/python3.11/site-packages/{path}", line {line}, in run
    value = self.next()
  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode
    obj, end = self.scan_once(s, idx)
```
"""
NAMES = "Something is wrong since yesterday\n\nIt worked before, and now `{}` and `{}` do\nwhat they should not.\n"
CODE = "Something is wrong since yesterday\n\nIt worked before:\n\n```\nx = {}(1)\nx.{}\n```\n"
MESSAGE = "Something is wrong since yesterday\n\nIt worked before, and now I get\n\n```\nError: {}\n```\n"

Case = tuple[str, str, int]
"""A text, the file that it is about, and the line or 0."""


def frames(engine: Engine, draw: random.Random, number: int) -> list[Case]:
    with engine._store.reader.snapshot():
        files = [file for file in engine._store.reader.all_files() if file.kind == "code" and file.lines > 20]
    files = [file for file in files if not path_flags(file.path) & OF_PLACES and "/" in file.path]
    found = []
    for file in draw.sample(files, min(number, len(files))):
        line = draw.randrange(1, file.lines)
        found.append((FRAME.format(path=file.path, line=line), file.path, line))
    return found


def named(template: str) -> Callable[[Engine, random.Random, int], list[Case]]:
    def cases(engine: Engine, draw: random.Random, number: int) -> list[Case]:
        reader = engine._store.reader
        of_file: dict[str, list[str]] = {}
        files_of: dict[str, set[str]] = {}
        with reader.snapshot():
            paths = {file.blob_id: file.path for file in reader.all_files() if file.kind == "code"}
            for blob_id, defined in reader.defined_names(list(paths)).items():
                for name in defined.text.split("\n"):
                    files_of.setdefault(name, set()).add(paths[blob_id])
                    if names._COMPOUND.search(name) and not path_flags(paths[blob_id]) & OF_PLACES:
                        of_file.setdefault(paths[blob_id], []).append(name)
        rare = {path: [one for one in all_of if len(files_of[one]) == 1] for path, all_of in sorted(of_file.items())}
        known = [path for path, all_of in rare.items() if len(set(all_of)) > 1]
        drawn = draw.sample(known, min(number, len(known)))
        return [(template.format(*draw.sample(sorted(set(rare[path])), 2)), path, 0) for path in drawn]

    return cases


def messages(engine: Engine, draw: random.Random, number: int) -> list[Case]:
    reader = engine._store.reader
    with reader.snapshot():
        paths = sorted(file.path for file in reader.all_files() if file.kind == "code")
    found: dict[str, list[tuple[str, int]]] = {}
    for path in paths:
        for at, line in enumerate((engine.root / path).read_text("utf-8", "replace").split("\n"), 1):
            if not path_flags(path) & OF_PLACES and (said := names._RAISES.search(line)) and "\\" not in said[1]:
                found.setdefault(said[1].strip('"'), []).append((path, at))
    known = sorted(text for text, places in found.items() if len(places) == 1 and len(text.split()) >= 5)
    return [
        (MESSAGE.format(names._FILLED_IN.sub(lambda _: draw.choice(names._MADE_UP), text)), *found[text][0])
        for text in draw.sample(known, min(number, len(known)))
    ]


PARTS = {
    "trace": (frames, "frame"),
    "names in prose": (named(NAMES), "named_there"),
    "names in code": (named(CODE), "named_there"),
    "message": (messages, "quoted_there"),
}


def right(engine: Engine, cases: Sequence[Case]) -> tuple[int, int]:
    """How many files, and lines of files, come first."""
    files = lines = 0
    for text, path, line in cases:
        hits = engine.search(text, limit=1, wait_s=0.0).hits
        if hits and hits[0].path == path:
            files += 1
            lines += hits[0].start_line <= line <= hits[0].end_line
    return files, lines


def cost(engines: dict[str, Engine], queries: Sequence[dict[str, str]]) -> None:
    ms: dict[str, list[float]] = {"title": [], "whole": []}
    for query in queries:
        for name, text in (("title", query["query"].split("\n", 1)[0]), ("whole", query["query"])):
            best = min(_ms(engines[query["repo"]], text) for _ in range(3))
            ms[name].append(best)
    ratios = [whole / title for title, whole in zip(ms["title"], ms["whole"], strict=True)]
    print("| ms of processor time | median | worst |\n|---|--:|--:|")
    for name, all_ms in ms.items():
        print(f"| {name} | {statistics.median(all_ms):.0f} | {max(all_ms):.0f} |")
    print(f"| whole : title | {statistics.median(ratios):.1f} | {max(ratios):.1f} |\n")


def _ms(engine: Engine, text: str) -> float:
    began = time.process_time()
    engine.search(text, wait_s=0.0)
    return (time.process_time() - began) * 1000


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", action="store_true", help="keep the indexes in the user's cache folder")
    options = parser.parse_args(arguments)
    queries = [json.loads(line) for line in options.queries.read_text().splitlines()]
    engines = {}
    for repo in sorted({query["repo"] for query in queries}):
        engines[repo] = Engine.open(options.corpora / repo, root=options.corpora / repo, cache=options.cache)
        engines[repo].index()
    cost(engines, queries)
    weights = dict(formula.SIGNALS)
    print("| part | texts | its file first | its line shown | without the part |\n|---|--:|--:|--:|--:|")
    for name, (make, signal) in PARTS.items():
        asked = first = shown = without = 0
        share = -(-options.number // len(engines))
        for engine in engines.values():
            cases = make(engine, random.Random(options.seed), share)
            asked += len(cases)
            files, lines = right(engine, cases)
            first, shown = first + files, shown + lines
            ablation._weigh({**weights, signal: formula.Signal(0.0, weights[signal].words)})
            without += right(engine, cases)[0]
            ablation._weigh(weights)
        print(f"| {name} | {asked} | {first} | {shown if name in ('trace', 'message') else ''} | {without} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
