"""Answers from a folder before its index is there: every file is gone through for the question's words, and the
likeliest are read into memory, where they are ranked as always, beside what the index has by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from findling.engine.in_memory import MODEL, take_in
from findling.model.tokenizer import term_key
from findling.model.types import Coverage
from findling.outbound.files import NotRead, stamp_of
from findling.search.analysis import analyse
from findling.search.keyword import COMPOUND_WEIGHT
from findling.search.semantic import SemanticChannel
from findling.sources.scan import Scan, scan
from findling.store.joined import JoinedIndex, Part
from findling.store.memory import MemoryIndex, Statistics

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.engine.store import OpenStore
    from findling.outbound.files import Files
    from findling.sources.discovery import DiscoveryOptions
    from findling.sources.selection import Found

READ_FILES = 90
READ_BYTES = 1_200_000
"""What is read of a folder for one question: as many files, with no more text than this."""

COMPOUNDS = 12
"""Pairs of words that are looked for as one name, of a long question."""

SCAN_S = 5.0
"""Time for going through all files; a slow disk must not hold a question up for longer."""


@dataclass(slots=True)
class FirstAnswer:
    """``index``: what the index has and what was read besides. ``states``: size and `files.stamp_of` of what was read,
    by path."""

    index: JoinedIndex
    scan: Scan
    states: dict[str, tuple[int, int]] = field(default_factory=dict)

    def note(self, *, goes_on: bool) -> str:
        """What an answer says of it. ``goes_on``: somebody finishes the index."""
        left = f" ({self.scan.left:,} were not: there was no time)" if self.scan.left else ""
        closest = f"searched by meaning among the {len(self.states):,} closest"
        index = "the index is being made in the background" if goes_on else "'findling index' makes an index"
        return f"Went through {self.scan.files:,} files{left}; {closest}; {index}."

    def channel(self, embedder: Embedder) -> SemanticChannel:
        """Of all parts that have vectors of an embedder."""
        return SemanticChannel(self.index, embedder, MODEL)

    def coverage(self, *, vectors_wanted: bool) -> Coverage:
        """Every file that was gone through counts as searched; pending are those that were not read."""
        manifest = self.index.manifest
        assert manifest is not None  # something is always held, if only nothing
        unread = self.scan.files + self.scan.left - len(self.states)
        return Coverage(
            files=manifest.files,
            chunks=manifest.chunks,
            embedded_chunks=manifest.chunks,
            pending_files=unread,
            complete=False,
            vectors_wanted=vectors_wanted,
            scanned=self.scan.files,
        )


def first_answer(opened: OpenStore, text: str, found: list[Found], *, embed: bool) -> FirstAnswer:
    """What a question is answered from where ``found`` (path, size, time) is not in the index yet."""
    terms = analyse(text)
    compounds = dict.fromkeys(terms.compounds[:COMPOUNDS], COMPOUND_WEIGHT)
    weighted = terms.terms | {term: weight for term, weight in compounds.items() if term not in terms.terms}
    options = opened.configuration.wanted
    embedder = opened.semantics.embedder() if embed else None
    with opened.open_files() as files:
        deadline = time.monotonic() + SCAN_S
        proposed = scan(files, found, weighted, READ_FILES, max_bytes=options.max_bytes, deadline=deadline)
        states: dict[str, tuple[int, int]] = {}
        index = MemoryIndex()
        take_in(index, _read(files, proposed.best, options, states), embedder=embedder)
    index.statistics = _statistics(index, proposed)
    parts = [Part(index, model_id=MODEL)]
    if opened.exists:
        reader = opened.reader
        with reader.snapshot():
            number = reader.model_id(embedder.fingerprint.id) if embedder else None
            begun = reader.manifest is not None
        if begun:
            parts.insert(0, Part(reader, model_id=number))
    return FirstAnswer(JoinedIndex(parts), proposed, states)


def _read(
    files: Files, paths: tuple[str, ...], options: DiscoveryOptions, states: dict[str, tuple[int, int]]
) -> Iterator[tuple[str, bytes]]:
    """The files' bytes, within what is read for one question."""
    total = 0
    for path in paths:
        read = files.read(path, options.limit(path))
        if isinstance(read, NotRead) or (total and total + len(read[1]) > READ_BYTES):
            continue
        total += len(read[1])
        states[path] = (read[0].st_size, stamp_of(read[0]))
        yield path, read[1]


def _statistics(index: MemoryIndex, scanned: Scan) -> Statistics:
    """Of all that was gone through; lengths as in what was read."""
    manifest = index.manifest
    read = sum(file.size for file in index.listing()) or 1
    share = scanned.bytes / read
    return Statistics(
        files=scanned.files,
        files_with={term_key(term): count for term, count in scanned.files_with.items()},
        body_terms=round(manifest.body_terms * share) if manifest else 0,
        name_terms=round(manifest.name_terms * share) if manifest else 0,
    )
