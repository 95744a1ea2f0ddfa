"""How many of the lines that an expert cites stand in what an answer shows first.

    cited_lines.py CORPORA QUESTIONS [--json FILE]

CORPORA holds a folder with an index for each repository (``prepare.py`` lays them out, ``findling index`` makes the
indexes); QUESTIONS is a file of JSON lines with ``repo``, ``query`` and ``spans``, each with ``path``, ``start_line``
and ``end_line``; those without spans only count for the places and the characters. Indexes are asked as they are.

Of each answer with all places the hits are looked at that are of a cited file, and of each of them its first forty
lines worth showing. Printed: the share of the cited lines among them, over all questions, over those whose file is in
the answer, and over those whose file is the first; the share that a default answer shows, with all its lines; the share
of places of one line; the characters that a default answer prints.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from findling import Query
from findling.engine import Engine
from findling.faces.cli.terminal import PlainView
from findling.faces.cli.terminal.lines import Places
from findling.model.types import Hit, SearchResult
from findling.search import lines_of

LINES = 40
"""What is looked at of each hit, so that a program that shows more is not better for that."""


def shown(hit: Hit, most: int | None = LINES) -> set[int]:
    """The lines of a hit that its answer shows, the first ``most``."""
    return set([number for number, _ in lines_of(hit.body) if number][:most])


def cited(question: dict[str, Any]) -> dict[str, set[int]]:
    """The cited lines of each file."""
    lines: dict[str, set[int]] = defaultdict(set)
    for span in question["spans"]:
        lines[span["path"]].update(range(span["start_line"], span["end_line"] + 1))
    return lines


def share(lines: dict[str, set[int]], hits: Iterable[Hit], files: Iterable[str], most: int | None = LINES) -> float:
    """Of the cited lines of some files those that the hits show."""
    seen = sum(len(lines[hit.path] & shown(hit, most)) for hit in hits if hit.path in lines)
    return seen / sum(len(lines[path]) for path in files)


def measured(answers: Sequence[tuple[dict[str, Any], SearchResult, SearchResult]]) -> dict[str, Any]:
    every, present, first, default = [], [], [], []
    for question, result, answered in answers:
        lines = cited(question)
        if not lines:
            continue
        every.append(share(lines, result.hits, lines))
        default.append(share(lines, answered.hits, lines, None))
        among = {hit.path for hit in result.hits} & lines.keys()
        if among:
            present.append(share(lines, result.hits, among))
        if result.hits and result.hits[0].path in lines:
            first.append(share(lines, result.hits[:1], [result.hits[0].path]))
    places = [hit.start_line == hit.end_line for _, result, _ in answers for hit in result.hits]
    sizes = [characters(answered) for _, _, answered in answers]
    return {
        "questions": len(every),
        "lines": mean(every),
        "questions_with_the_file": len(present),
        "lines_of_these": mean(present),
        "questions_with_the_file_first": len(first),
        "lines_of_first_hits": mean(first),
        "lines_in_default_answers": mean(default),
        "places_of_one_line": mean(places),
        "characters_mean": mean(sizes),
        "characters_most": max(sizes, default=0),
    }


def mean(values: Sequence[float]) -> float:
    return round(statistics.mean(values), 4) if values else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpora", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    given = parser.parse_args()
    by_repo = defaultdict(list)
    for line in given.questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        by_repo[question["repo"]].append(question)
    answers = []
    for repo, questions in sorted(by_repo.items()):
        with Engine.open(given.corpora / repo, root=given.corpora / repo) as engine:
            for question in questions:
                text = question["query"]
                whole = engine.ask(Query(text, wait_s=0, bodies="all")).result
                default = engine.ask(Query(text, wait_s=0)).result
                answers.append((question, whole, default))
        print(repo, len(questions), file=sys.stderr)
    figures = measured(answers)
    for name, value in figures.items():
        print(f"{name:32}{value}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def characters(result: SearchResult) -> int:
    """What a default answer takes as plain text."""
    out = StringIO()
    PlainView(out, Places(Path(), Path())).search(result, explain=False)
    return len(out.getvalue())


if __name__ == "__main__":
    main()
