"""Leaving out pairs whose text stands in what is judged, vendored copies included.

    python -m training filter WORK --against DIR [--against DIR …]

Reads ``WORK/pairs`` and writes ``WORK/filtered.jsonl`` and ``WORK/leaks.json`` with the counts. What counts as judged
text is `training.judged`'s to say. A pair leaks when half of its long lines stand there, its query is one of these
lines or a query that mining would ask there, or its passage is one that mining would take there; they are compared
without indentation, comment marks and case. What also stands in more than a few mined repositories is everybody's and
says nothing. Where a third of a file's pairs leak, the file is taken for a copy and left out as a whole.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.judged import JudgedText, judged_text, line_keys, passage_key, query_key
from training.pairs import Pair, read_pairs

LEAK_SHARE = 0.5
LEAST_LINES = 2

COMMON_REPOSITORIES = 5
"""What stands in the pairs of more mined repositories than these is no copy of the judged one: codes of conduct,
headers of licences, what a generator writes."""

FILE_LEAST_PAIRS = 3
FILE_SHARE = 1 / 3
"""So many leaking pairs of a file, and such a share of its pairs, make it a copy: the rest of it was only changed."""

_EXAMPLES = 200
"""Files of which `leaks.json` says that they are left out as a whole, the largest first."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A pair with something in it that stands in judged text: the keys of that, of its lines, query and passage."""

    file: tuple[str, str]
    """Its repository and path."""

    line: int
    """Which of the repository's pairs it is."""

    lines: tuple[int, ...]
    long_lines: int
    query: int
    """0 where it is in no judged text, as ``passage``."""

    passage: int

    def keys(self) -> Iterator[int]:
        yield from self.lines
        yield from (key for key in (self.query, self.passage) if key)

    def why(self, common: frozenset[int]) -> tuple[str, int]:
        """Why it leaks and a key that shows it; ('', 0) when it does not."""
        own = [key for key in self.lines if key not in common]
        counted = self.long_lines - (len(self.lines) - len(own))
        if len(own) >= LEAST_LINES and len(own) >= LEAK_SHARE * counted:
            return "lines", own[0]
        for name, key in (("query", self.query), ("passage", self.passage)):
            if key and key not in common:
                return name, key
        return "", 0


def suspect(pair: Pair, line: int, judged: JudgedText) -> Suspect | None:
    """What a pair shares with judged text; None when it is nothing."""
    keys = line_keys(pair.body)
    found = tuple(key for key in keys if key in judged.lines)
    asked, passage = query_key(pair.query), passage_key(pair.body)
    asked = asked if asked in judged.lines or asked in judged.queries else 0
    passage = passage if passage in judged.passages else 0
    if not (found or asked or passage):
        return None
    return Suspect((pair.repo, pair.path), line, found, len(keys), asked, passage)


@dataclass(frozen=True, slots=True)
class Leaks:
    """Which pairs are left out, by repository their places and of what they are; and why, counted."""

    left_out: dict[str, dict[int, str]]
    why: Counter[str]
    files: Counter[tuple[str, str]]
    """Files that are left out as a whole, and how many pairs they had."""

    common: int
    """How many lines, queries and passages were found to be everybody's."""


def decided(suspects: Sequence[Suspect], places: dict[tuple[str, str], list[int]], judged: JudgedText) -> Leaks:
    """Which pairs leak. ``places``: of each file the places of its pairs among those of its repository."""
    repositories: Counter[int] = Counter()
    by_repository: dict[str, set[int]] = {}
    for each in suspects:
        by_repository.setdefault(each.file[0], set()).update(each.keys())
    for keys in by_repository.values():
        repositories.update(keys)
    common = frozenset(key for key, count in repositories.items() if count > COMMON_REPOSITORIES)
    why: Counter[str] = Counter()
    left_out: dict[str, dict[int, str]] = {}
    leaking: dict[tuple[str, str], Counter[str]] = {}
    for each in suspects:
        reason, key = each.why(common)
        if reason:
            why[reason] += 1
            source = judged.source_of(key)
            left_out.setdefault(each.file[0], {})[each.line] = source
            leaking.setdefault(each.file, Counter())[source] += 1
    copies: Counter[tuple[str, str]] = Counter()
    for file, sources in leaking.items():
        count, of_file = sources.total(), places[file]
        if count >= FILE_LEAST_PAIRS and count >= FILE_SHARE * len(of_file):
            copies[file] = len(of_file)
            if len(of_file) > count:
                why["rest of a copied file"] += len(of_file) - count
            source = sources.most_common(1)[0][0]
            left_out[file[0]] |= {place: source for place in of_file if place not in left_out[file[0]]}
    return Leaks(left_out, why, copies, len(common))


def find_leaks(paths: Sequence[Path], judged: JudgedText) -> Leaks:
    """Of all files of pairs, one for each repository."""
    suspects: list[Suspect] = []
    places: dict[tuple[str, str], list[int]] = {}
    for path in paths:
        for number, pair in enumerate(read_pairs(path)):
            places.setdefault((pair.repo, pair.path), []).append(number)
            if (found := suspect(pair, number, judged)) is not None:
                suspects.append(found)
    return decided(suspects, places, judged)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training filter", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--against", type=Path, action="append", required=True, help="a folder of judged corpora")
    args = parser.parse_args(argv)
    paths = sorted((args.work / "pairs").glob("*.jsonl"))
    if not paths:
        parser.error(f"no pairs are in {args.work / 'pairs'}: mine first")
    try:
        judged = judged_text(args.against)
    except (ValueError, OSError) as error:
        sys.exit(f"training filter: {error}")
    print(f"{len(judged.lines):,} long lines of {len(judged.corpora)} corpora", flush=True)
    leaks = find_leaks(paths, judged)
    read = kept = 0
    sources: Counter[tuple[str, str]] = Counter()
    with (args.work / "filtered.jsonl").open("w", encoding="utf-8") as out:
        for path in paths:
            with path.open(encoding="utf-8") as file:
                for number, line in enumerate(file):
                    read += 1
                    repo = path.stem.replace("+", "/", 1)
                    source = leaks.left_out.get(repo, {}).get(number, "")
                    if source:
                        sources[repo, source] += 1
                    else:
                        kept += 1
                        out.write(line)
    report = {
        "against": judged.folders,
        "corpora": judged.corpora,
        "judged_lines": len(judged.lines),
        "pairs": read,
        "left_out": read - kept,
        "why": dict(leaks.why.most_common()),
        "common": leaks.common,
        "copied_files": len(leaks.files),
        "from": [
            {"repository": repo, "text_of": source, "pairs": count} for (repo, source), count in sources.most_common()
        ],
        "copies": [
            {"repository": repo, "path": path, "pairs": count}
            for (repo, path), count in leaks.files.most_common(_EXAMPLES)
        ],
    }
    (args.work / "leaks.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(", ".join(f"{reason}: {count:,}" for reason, count in leaks.why.most_common()))
    print(f"{read - kept:,} of {read:,} pairs left out ({(read - kept) / max(1, read):.2%}); {kept:,} kept")
