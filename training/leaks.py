"""Leaving out pairs whose text stands in what is judged, vendored copies included.

    python -m training filter WORK --against DIR [--against DIR …]

Reads ``WORK/pairs`` and writes ``WORK/filtered.jsonl`` and ``WORK/leaks.json`` with the counts. Every text file below
the given folders is taken for judged text; folders of git mirrors count by their newest commit as far as they are in
``do_not_mine.txt``. A pair leaks when half of its long lines stand there, or its query is one of these lines; such
lines are compared without indentation, comment marks and case.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from training.mine import forbidden_names, why_not
from training.mirrors import MAX_FILE_BYTES, entries, find_mirrors, head_commit, read_texts
from training.pairs import Pair, read_pairs

LONG_LINE_CHARS = 32
"""Shorter lines stand everywhere: a brace, a return, an import."""

LEAK_SHARE = 0.5
LEAST_LINES = 2

_MARKS = re.compile(r"^[\s/*#;\-%!>|]+|[\s*/]+$")
_SKIPPED_FOLDERS = frozenset((".git", ".findling"))


@dataclass(slots=True)
class JudgedLines:
    """Hashes of long lines, each with the corpus that had it first."""

    corpora: list[str] = field(default_factory=list)
    _where: dict[int, int] = field(default_factory=dict)

    def add(self, corpus: str, text: str) -> None:
        if not self.corpora or self.corpora[-1] != corpus:
            self.corpora.append(corpus)
        for key in _keys(text):
            self._where.setdefault(key, len(self.corpora) - 1)

    def __len__(self) -> int:
        return len(self._where)

    def source_of(self, pair: Pair) -> str:
        """The corpus that the pair's text is from, '' when it is from none."""
        places = [self._where.get(key) for key in _keys(pair.body)]
        shared = [place for place in places if place is not None]
        if len(shared) >= LEAST_LINES and len(shared) >= LEAK_SHARE * len(places):
            return self.corpora[Counter(shared).most_common(1)[0][0]]
        asked = next((self._where[key] for key in _keys(pair.query) if key in self._where), None)
        return "" if asked is None else self.corpora[asked]


def _keys(text: str) -> list[int]:
    """A 64-bit key of each long line."""
    found = []
    for line in text.split("\n"):
        plain = " ".join(_MARKS.sub("", line).split()).lower()
        if len(plain) >= LONG_LINE_CHARS:
            data = plain.encode("utf-8", "replace")
            found.append(crc32(data) << 32 | crc32(data[::-1]))
    return found


def judged_lines(folders: Sequence[Path]) -> JudgedLines:
    """Of plain folders every file; of folders of mirrors those that may not be mined."""
    lines = JudgedLines()
    forbidden = forbidden_names()
    for folder in folders:
        mirrors = find_mirrors(folder)
        held = [mirror for mirror in mirrors if why_not(mirror.name, forbidden)]
        for mirror in held:
            for _, text in read_texts(mirror, entries(mirror, head_commit(mirror))):
                lines.add(mirror.name, text)
        if not mirrors:
            for corpus, text in _texts(folder):
                lines.add(corpus, text)
    return lines


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for top in sorted(folder.iterdir()):
        for parent, names, files in os.walk(top):
            names[:] = sorted(name for name in names if name not in _SKIPPED_FOLDERS)
            for name in sorted(files):
                path = Path(parent, name)
                if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
                    continue
                yield top.name, path.read_text(encoding="utf-8", errors="replace")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training filter", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--against", type=Path, action="append", required=True, help="a folder of judged corpora")
    args = parser.parse_args(argv)
    judged = judged_lines(args.against)
    print(f"{len(judged):,} long lines of {len(set(judged.corpora))} corpora", flush=True)
    read = kept = 0
    leaks: Counter[tuple[str, str]] = Counter()
    with (args.work / "filtered.jsonl").open("w", encoding="utf-8") as out:
        for path in sorted((args.work / "pairs").glob("*.jsonl")):
            for pair in read_pairs(path):
                read += 1
                source = judged.source_of(pair)
                if source:
                    leaks[pair.repo, source] += 1
                else:
                    kept += 1
                    out.write(pair.line() + "\n")
    report = {
        "corpora": sorted(set(judged.corpora)),
        "judged_lines": len(judged),
        "pairs": read,
        "left_out": read - kept,
        "from": [
            {"repository": repo, "text_of": source, "pairs": count} for (repo, source), count in leaks.most_common()
        ],
    }
    (args.work / "leaks.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{read - kept:,} of {read:,} pairs left out ({(read - kept) / max(1, read):.2%}); {kept:,} kept")
