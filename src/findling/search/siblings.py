"""Files that are one and the same: a page in other languages; an older, a built or a vendored copy. One stands for all.

Told by their paths and by what is in them. Reads rows of the index, no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from findling.model import term_rows
from findling.model.rows import FileRow
from findling.search.analysis import QueryTerms
from findling.search.ranking.ranked_file import RankedFile
from findling.search.scope import Scope
from findling.store.protocols import Index

_CODES = (
    "ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk km kn ko lt lv "
    "mk ml mn mr ms my nb ne nl nn no pa pl pt ro ru sk sl sq sr sv sw ta te th tk tr uk ur uz vi zh"
)
_VARIANTS = "pt-br pt-BR pt_BR zh-cn zh-CN zh_CN zh-hans zh-Hans zh-tw zh-TW zh_TW zh-hant zh-Hant"
LANGUAGES = (*_CODES.split(), *_VARIANTS.split())
"""What folders of translations, and ends of names, are called."""

UNMISTAKABLE = frozenset(("de", "en", "fr", "ja", "ko", "ru", "zh"))
"""One of them has to be among a page's: ``ml`` alone is machine learning, ``ca`` an authority."""

_ENGLISH = frozenset(("", "en"))
_LANGUAGE = rf"(?:{'|'.join(LANGUAGES)})(?:_[A-Z]{{2}})?"
_IN_PATH = re.compile(rf"(?<![^/]){_LANGUAGE}/|(?<=[^./])[._-]{_LANGUAGE}(?=\.[^./]+$)")

_OF_COPIES = re.compile(
    r"(?<![^/])(?:v\d{1,4}|v?\d+(?:\.\d+)+|_?vendor(?:ed)?|third_party|node_modules"
    r"|(?:dist|build)(?:/(?:browser|cjs|es|esm|iife|node|system|umd))?)/",
    re.IGNORECASE,
)
"""Folders of older, vendored and built copies, below or beside what they are copies of."""


_BUILT = re.compile(r"(?<![^/])(?:dist|build)/")

_MODULE_FORM = re.compile(r"(?<=\.)[cm](?=[jt]s$)")
"""Which kind of module a file of JavaScript or TypeScript is: `index.cjs`, `index.d.mts`."""

HELD, LEAST_HELD = 0.8, 2
"""Of a source file's words, the share that a file in a folder of built ones has if it was built from it, among others:
a bundle holds several of the sources that are shown."""

SAME_LENGTH = 0.4
"""A translation has at least this share of the other's lines: less is another page, or the beginning of one."""

SAME_WORDS, FEW_WORDS = 0.6, 20
"""Of the words of two files, the share that both have, from which on one is a copy of the other: notes on two releases
are called the same, and share half. Files of so few words, which only gather others, share them anyway."""

OLDER = frozenset(("legacy", "superseded"))
"""What a question speaks of that means copies."""

BUILT = frozenset(("build", "builds", "built", "bundle", "bundled", "bundles", "dist"))
"""Words of a question that means what was built."""


TO_THE_LETTER = ("asked_path", "exact", "message", "frame", "quoted_there")
"""Signals of a file that stands under no other: just this one was named, or holds what was quoted."""


def is_copy(path: str) -> bool:
    """Whether a path lies in a folder of older, vendored or built copies."""
    return _OF_COPIES.search(path) is not None


class _Marked(NamedTuple):
    """A path without the first thing in it that makes it one of several, and that, with where it stands."""

    same: str
    mark: str
    at: int


def fold(reader: Index, terms: QueryTerms, ranked: Sequence[RankedFile], scope: Scope, most: int) -> list[RankedFile]:
    """The files in their order, without those that stand under another, which knows them. ``most`` are shown."""
    kept = _without_translations(reader, terms, ranked, scope, most)
    return kept if terms.wants & OLDER else _without_copies(reader, kept, most)


def without_bundles(reader: Index, terms: QueryTerms, ranked: Sequence[RankedFile], most: int) -> list[RankedFile]:
    """The files in their order, without those that were built from several sources which are shown: they stand under
    the likeliest of these. ``most`` are shown."""
    code = [item for item in ranked if item.file.kind == "code"]
    bundles = [(item, found.start()) for item in code if (found := _BUILT.search(item.file.path))]
    sources = [item for item in code[:most] if not _OF_COPIES.search(item.file.path)]
    if not bundles or len(sources) < LEAST_HELD or not BUILT.isdisjoint(terms.words):
        return list(ranked)
    rows = reader.terms(item.file.blob_id for item in (*sources, *(bundle for bundle, _ in bundles)))
    words = {blob: frozenset(term_rows.keys(row)) for blob, row in rows.items()}
    gone: set[int] = set()
    for bundle, at in bundles:
        all_words, folder = words.get(bundle.file.blob_id, frozenset()), bundle.file.path[:at]
        held = [
            item
            for item in sources
            if item.file.path.startswith(folder) and _holds(all_words, words.get(item.file.blob_id, frozenset()))
        ]
        asked = [signal for signal in TO_THE_LETTER if bundle.values.get(signal)]
        first = next((item for item in held if all(item.values.get(signal) for signal in asked)), None)
        if first is not None and len(held) >= LEAST_HELD:
            gone.add(bundle.file.entry_id)
            first.copies = tuple(sorted((*first.copies, bundle.file.path, *bundle.copies)))
    return [item for item in ranked if item.file.entry_id not in gone]


def _without_translations(
    reader: Index, terms: QueryTerms, ranked: Sequence[RankedFile], scope: Scope, most: int
) -> list[RankedFile]:
    """The page in English stays, or without a language in its path, where it would be shown; else the likeliest."""
    by_entry = {item.file.entry_id: item for item in _foldable(ranked) if item.file.kind == "docs"}
    shown = {item.file.entry_id for item in ranked[:most]}
    gone: set[int] = set()
    files = [item.file for item in by_entry.values()]
    for first, others, mark in pages(files, english=terms.is_english, shown=shown):
        gone.update(other.entry_id for other in others)
        if others and first.entry_id in shown:
            every = {other.path for other in others} | _other_languages(reader, first, mark, scope)
            by_entry[first.entry_id].translations = tuple(sorted(every))
    return [item for item in ranked if item.file.entry_id not in gone]


def pages(
    files: Sequence[FileRow], *, english: bool, shown: Set[int] | None = None
) -> Iterator[tuple[FileRow, list[FileRow], _Marked]]:
    """The pages that several documents are in different languages, of documents by their order: the one that stands for
    all, the others, and what marks a language in one of their paths. Where ``english`` is asked, the page in English
    stands for the others if it is ``shown`` (None: all are)."""
    for alike in _alike(files, _IN_PATH):
        marks = [marked for _, marked in alike if marked.mark]
        if not any(_language(marked)[:2] in UNMISTAKABLE for marked in marks):
            continue
        plain = [
            file
            for file, marked in alike
            if _language(marked) in _ENGLISH and (shown is None or file.entry_id in shown)
        ]
        first = plain[0] if plain and english else alike[0][0]
        yield first, [file for file, _ in alike if file is not first and _as_long(file, first)], marks[0]


class Folded(NamedTuple):
    """``gone``: the entries of translations of a page that is there, too. ``translations``: those of each page that
    stands for some, by its entry."""

    gone: frozenset[int]
    translations: dict[int, list[FileRow]]


def in_one_language(files: Iterable[FileRow], *, english: bool) -> Folded:
    """Which of these documents, the best first, stand under another that is the same page. As in `pages`."""
    every = list({file.entry_id: file for file in files}.values())
    found = {first.entry_id: others for first, others, _ in pages(every, english=english) if others}
    gone = frozenset(other.entry_id for others in found.values() for other in others)
    return Folded(gone, found)


def _without_copies(reader: Index, ranked: Sequence[RankedFile], most: int) -> list[RankedFile]:
    """What lies in no folder of copies stays, where it would be shown; else the likeliest."""
    by_entry = {item.file.entry_id: item for item in _foldable(ranked)}
    shown = {item.file.entry_id for item in ranked[:most]}
    gone: set[int] = set()
    for alike in _alike((item.file for item in by_entry.values()), _OF_COPIES):
        unmarked = (file for file, marked in alike if not marked.mark and file.entry_id in shown)
        first = next(unmarked, alike[0][0])
        rows = reader.terms(file.blob_id for file, _ in alike)
        words = {blob: frozenset(term_rows.keys(row)) for blob, row in rows.items()}
        own = words.get(first.blob_id, frozenset())
        others = [
            file for file, _ in alike if file is not first and _share_words(words.get(file.blob_id, frozenset()), own)
        ]
        gone.update(file.entry_id for file in others)
        by_entry[first.entry_id].copies = tuple(sorted(file.path for file in others))
    return [item for item in ranked if item.file.entry_id not in gone]


def _foldable(ranked: Iterable[RankedFile]) -> Iterator[RankedFile]:
    """The files that were not asked for to the letter."""
    return (item for item in ranked if not any(item.values.get(signal) for signal in TO_THE_LETTER))


def _alike(files: Iterable[FileRow], mark: re.Pattern[str]) -> list[list[tuple[FileRow, _Marked]]]:
    """Two files or more that are called the same apart from the mark, which one of them has, by their order."""
    found: dict[str, list[tuple[FileRow, _Marked]]] = {}
    for file in files:
        marked = _marked(_MODULE_FORM.sub("", file.path), mark)
        found.setdefault(marked.same, []).append((file, marked))
    return [alike for alike in found.values() if len(alike) > 1]


def _marked(path: str, mark: re.Pattern[str]) -> _Marked:
    found = mark.search(path)
    if found is None:
        return _Marked(path, "", 0)
    return _Marked(path[: found.start()] + path[found.end() :], found[0], found.start())


def _language(marked: _Marked) -> str:
    return marked.mark.strip("/._-").lower()


def _as_long(one: FileRow, other: FileRow) -> bool:
    return min(one.lines, other.lines) >= SAME_LENGTH * max(one.lines, other.lines)


def _other_languages(reader: Index, first: FileRow, marked: _Marked, scope: Scope) -> set[str]:
    """Translations that were no candidates: those at the place in the path where one of the candidates has its own."""
    language = marked.mark.strip("/._-")
    marks = [marked.mark.replace(language, code) for code in LANGUAGES]
    paths = [marked.same[: marked.at] + mark + marked.same[marked.at :] for mark in marks]
    reader.ahead(lambda index: [index.file_at(path) for path in paths])
    found = set()
    for path in paths:
        file = reader.file_at(path)
        if file is not None and file.path != first.path and scope.has(file.entry_id) and _as_long(file, first):
            found.add(file.path)
    return found


def _holds(bundle: Set[int], source: Set[int]) -> bool:
    return len(source) >= FEW_WORDS and len(source & bundle) >= HELD * len(source)


def _share_words(one: Set[int], other: Set[int]) -> bool:
    return min(len(one), len(other)) >= FEW_WORDS and len(one & other) >= SAME_WORDS * len(one | other)
