"""What is judged, as keys that mined text is compared by: its long lines, and the pairs that mining would make of it.

Of plain folders every text file counts; of a folder of mirrors those that may not be mined, by their newest commit.
Where a folder holds plain corpora beside mirrors, it is one of judged corpora, and its mirrors all count. Must not know
what is done about pairs that are found there.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from findling.model.languages import language_of
from findling.sources.git_objects import is_bare
from training.code_pairs import Found, code_pairs
from training.mine import PROSE, forbidden_names, why_not
from training.mirrors import MAX_FILE_BYTES, Mirror, entries, find_mirrors, head_commit, read_texts
from training.pairs import QUERY_CHARS
from training.prose_pairs import prose_pairs

LONG_LINE_CHARS = 32
"""Shorter lines stand everywhere: a brace, a return, an import."""

LONG_PASSAGE_CHARS = 60
"""Shorter passages are the same by chance: a getter, an empty constructor."""

_MARKS = re.compile(r"^[\s/*#;\-%!>|]+|[\s*/]+$")
_EVERYBODYS = re.compile(
    r"(?:pub |export )?"
    r"(?:import|use|using|open|alias|require|require_once|package|namespace|module|mod|extern crate)"
    r"(?: static| qualified| type| safe)?[ (]+"
    r"(?:[\"'<]|[\w.:\\/$@-]+(?:$|[;,({*]|\.[*{]| (?:as|hiding|exposing|where|qualified)\b| \())"
    r"|(?:import|export) .* from [\"']|from [\w.]+ import |include(?:_once)? ?[(<\"']|pragma |ifndef |\{-# |@file:"
    r"|.*(?:copyright|spdx-|licensed under|licen[sc]e-2\.0|\bwarrant(?:y|ies)\b|all rights reserved)"
)
"""Lines, in the form of `_plain`, that say where things are from and nothing else: imports, pragmas, licences."""

_SKIPPED_FOLDERS = frozenset((".git", ".findling"))


def _plain(line: str) -> str:
    return " ".join(_MARKS.sub("", line).split()).lower()


def _key(plain: str) -> int:
    data = plain.encode("utf-8", "replace")
    return crc32(data) << 32 | crc32(data[::-1])


def line_keys(text: str) -> list[int]:
    """A 64-bit key of each line that is long and somebody's own."""
    found = []
    for line in text.split("\n"):
        if len(line) >= LONG_LINE_CHARS:
            plain = _plain(line)
            if len(plain) >= LONG_LINE_CHARS and not _EVERYBODYS.match(plain):
                found.append(_key(plain))
    return found


def query_key(query: str) -> int:
    """Of a query that is as long as a long line and somebody's own; else 0."""
    plain = _plain(query)
    return _key(plain) if len(plain) >= LONG_LINE_CHARS and not _EVERYBODYS.match(plain) else 0


def passage_key(body: str) -> int:
    """Of a passage that is long enough to be nobody else's by chance; else 0."""
    plain = _plain(body)
    return _key(plain) if len(plain) >= LONG_PASSAGE_CHARS else 0


@dataclass(slots=True)
class JudgedText:
    """Keys of judged text, each with the corpus that had it first."""

    corpora: list[str] = field(default_factory=list)
    folders: list[dict[str, Any]] = field(default_factory=list)
    """Of each folder how many corpora of which sort were taken and how many long lines they have."""

    lines: dict[int, int] = field(default_factory=dict)
    queries: dict[int, int] = field(default_factory=dict)
    passages: dict[int, int] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _read: dict[bytes, int] = field(default_factory=dict)

    def add(self, corpus: str, path: str, text: str) -> int:
        """How many long lines the text has, whether or not they were known."""
        digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        if digest in self._read:  # a corpus that is there as a mirror as well
            return self._read[digest]
        if corpus not in self._numbers:
            self._numbers[corpus] = len(self.corpora)
            self.corpora.append(corpus)
        number = self._numbers[corpus]
        keys = line_keys(text)
        self._read[digest] = len(keys)
        for key in keys:
            self.lines.setdefault(key, number)
        for found in _pairs(path, text):
            self.queries.setdefault(query_key(found.query[:QUERY_CHARS]), number)
            self.passages.setdefault(passage_key(found.body), number)
        for known in (self.queries, self.passages):
            known.pop(0, None)
        return len(keys)

    def source_of(self, key: int) -> str:
        """The corpus that a key is from."""
        number = next(known[key] for known in (self.lines, self.queries, self.passages) if key in known)
        return self.corpora[number]


def _pairs(path: str, text: str) -> Iterator[Found]:
    """As mining would make them."""
    language = language_of(path)
    if language is None:
        return iter(())
    if language.id in PROSE:
        return prose_pairs(text, language.id)
    return code_pairs(text, language.id) if language.kind == "code" else iter(())


def judged_text(folders: Sequence[Path]) -> JudgedText:
    """Everything judged of the folders. Raises ValueError when one of them has nothing, or a mirror cannot be read."""
    judged = JudgedText()
    forbidden = forbidden_names()
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"{folder} is no folder")
        top = folder.resolve()
        itself = is_bare(top)
        mirrors = [Mirror(top.name, top)] if itself else find_mirrors(top)
        lines: Counter[str] = Counter()
        if not itself:
            for corpus, path, text in _plain_texts(top, {_place(mirror) for mirror in mirrors}):
                lines[corpus] += judged.add(corpus, path, text)
        plain = sum(1 for corpus in lines if lines[corpus] and (top / corpus).is_dir())
        held = [mirror for mirror in mirrors if itself or plain or why_not(mirror.name, forbidden)]
        for mirror in held:
            lines[mirror.name] += _add_mirror(judged, mirror)
        if not lines.total():
            raise ValueError(f"no judged text is in {folder}: a folder of corpora, or of mirrors in do_not_mine.txt")
        print(f"{folder}: {plain} plain corpora, {len(held)} of {len(mirrors)} mirrors, {lines.total():,} long lines")
        counts = {"plain": plain, "mirrors": len(held), "of_mirrors": len(mirrors), "lines": lines.total()}
        judged.folders.append({"folder": folder.name, **counts})
    return judged


def _add_mirror(judged: JudgedText, mirror: Mirror) -> int:
    commit = head_commit(mirror)
    found = entries(mirror, commit) if commit else []
    if not found:
        raise ValueError(f"the judged mirror {mirror.name} cannot be read: it has no {'files' if commit else 'commit'}")
    return sum(judged.add(mirror.name, entry.path, text) for entry, text in read_texts(mirror, found))


def _place(mirror: Mirror) -> Path:
    """The folder that is all a mirror's: where it lies as ``repo``, the one around it."""
    inside = mirror.path.name == "repo" and mirror.name.rsplit("/", 1)[-1] != "repo"
    return mirror.path.parent if inside else mirror.path


def _plain_texts(top: Path, without: Collection[Path]) -> Iterator[tuple[str, str, str]]:
    """Corpus (the sub-folder, or the file itself), path and text of every text file that is in no mirror."""
    for child in sorted(top.iterdir()):
        if child in without or child.name in _SKIPPED_FOLDERS:
            continue
        walked = os.walk(child) if child.is_dir() else [(str(top), [], [child.name])]
        for parent, names, files in walked:
            names[:] = sorted(n for n in names if n not in _SKIPPED_FOLDERS and Path(parent, n) not in without)
            for name in sorted(files):
                path = Path(parent, name)
                if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
                    continue
                data = path.read_bytes()
                if b"\0" not in data:
                    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
                    yield child.name, path.relative_to(top).as_posix(), text
