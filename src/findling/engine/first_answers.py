"""Answers from a folder before its index is there: every file is gone through for the question's words, and the
likeliest are read into memory, where they are ranked as always, beside what the index has by then.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import accumulate
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from msgspec import Struct

from findling import reading
from findling.embedding import coding_of
from findling.model import vector_codes
from findling.model.format_names import format_of
from findling.model.languages import language_of
from findling.model.plurals import count
from findling.model.reading import Embedded, Reading
from findling.model.tokenizer import path_terms, term_key, terms_of, words
from findling.model.types import Coverage, SkippedFile
from findling.outbound.files import Files, NotRead, stamp_of
from findling.reading.decoding import Decoded, decode
from findling.reading.embedded import texts_of
from findling.reading.limits import ChunkLimits
from findling.reading.pool import Answer, Worker
from findling.search.analysis import QueryTerms, analyse
from findling.search.keyword import COMPOUND_WEIGHT
from findling.search.ranking.priors import path_flags
from findling.search.semantic import SemanticChannel
from findling.search.vocabulary import STOP_WORDS
from findling.sources.scan import Asked, Scan, scan
from findling.sources.selection import DiscoveryOptions, Found
from findling.store.joined import JoinedIndex, Part
from findling.store.memory import MemoryIndex, Statistics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from findling.embedding import Embedder
    from findling.engine.freshness import Question
    from findling.engine.store import OpenStore
    from findling.store.local.reader import IndexReader

READ_FILES = 120
READ_BYTES = 1_500_000
"""What is read of a folder for one question: as many files, with no more text than this."""

LARGE_BYTES, LARGE_FILES = 200_000, 24
"""A larger file is read only if it is among the first ``LARGE_FILES``: it takes the time of twenty others."""

WORTH_BYTES, PART_BYTES = 300_000, 60_000
"""If there is at least this much text, another process reads some of it, in parts of this size."""

WORKER_S = 5.0
"""Of the processor's time, what that process may take for a part."""

LATE_S, SLOW_BYTES_PER_S = 0.3, 300_000
"""Once all other parts are read, that process has so long for its last one, and a second more for so many bytes: it may
have been stopped, or get no processor. Then the part is read here."""

ENOUGH_BYTES = 150_000
"""If one process reads this much, or a quarter of all files, it is known how long it takes for the whole index."""

KEPT_FILES = 600
"""More than this is forgotten, and what the next question needs is read again."""

COMPOUNDS = 12
"""Pairs of words that are looked for as one name, of a long question."""

LIKE_TERMS, NEAR_LINES = 24, 30
"""To find what is like a file, so many of its terms are searched for; for a place in it, the terms of so many lines
around it."""

SCAN_S, LEAST_SCAN_S = 5.0, 1.0
"""Time for listing and going through all files, and how much of it the listing leaves; a slow disk must not hold a
question up for longer."""


LONG_S = 100.0
"""Times from here on are told in minutes."""


class Kept(Struct):
    """What was read for questions so far: a later one finds it read. ``states``: size and `files.stamp_of` by path."""

    index: MemoryIndex
    embedded: bool
    states: dict[str, tuple[int, int]] = {}


class FirstAnswer(Struct):
    """``index``: what the index has and what was read besides. ``states``: size and `files.stamp_of` of what was read,
    by path. ``found``: all files that it is about and that the index lacks. ``indexed``: the index, None while it is
    empty. ``embedder``: whose vectors what was read has, None for none. ``index_s``: about how long one process takes
    for all that the index lacks, 0 where nobody knows. ``goes_on``: somebody finishes the index. ``listed``: all files
    that the index lacks, whatever the question is about. ``cut``: there was no time to list all files. ``of_all``:
    ``found`` was listed whole, and whatever the question is about."""

    index: JoinedIndex
    scan: Scan
    states: Mapping[str, tuple[int, int]]
    found: Sequence[Found]
    indexed: IndexReader | None
    embedder: Embedder | None
    index_s: float = 0.0
    goes_on: bool = False
    listed: Sequence[Found] = ()
    cut: bool = False
    of_all: bool = False

    @property
    def note(self) -> str:
        """What an answer says of it."""
        if self.found and not (len(self.scan.texts) or self.scan.left or self.indexed):
            documents = sum(bool(format_of(path)) for path, _, _ in self.found)
            if not documents:
                files = count(len(self.found), "file")
                return f"None of the {files} here has text that can be read (the first is {self.found[0][0]!r})."
            others = len(self.found) - documents
            apart = f" ({count(others, 'other file')} without text that can be read)" if others else ""
            are = "is" if documents == 1 else "are"
            here = f"{count(documents, 'document')} here {are} searched once there is an index"
            return f"{here}{apart}; {self._of_index}."
        missed = [f"{self.scan.left:,} more were not"] if self.scan.left else []
        missed += ["some folders were not even listed"] if self.cut else []
        left = f" ({', and '.join(missed)}, for lack of time)" if missed else ""
        how = "read and compared by meaning" if self.embedder is not None else "read"
        closest = f"; the {len(self.states):,} likeliest were {how}" if self.states else ""
        return f"Scanned {count(len(self.scan.texts), 'file')} for the words{left}{closest}; {self._of_index}."

    @property
    def _of_index(self) -> str:
        """Whether the index is being built, and when it is ready."""
        if not self.goes_on:
            return "'findling index' builds an index" if self.indexed is None else "the rest is as it was indexed"
        after = f"{self.index_s / 60:.0f} min" if self.index_s >= LONG_S else f"{math.ceil(self.index_s)} s"
        when = f", ready in about {after}" if self.index_s else ""
        return f"an index is being built in the background{when}"

    @property
    def only_scanned(self) -> int:
        """How many files were scanned for the question's words and not read."""
        return sum(path in self.scan.texts and path not in self.states for path, _, _ in self.found)

    @property
    def pending_files(self) -> int:
        """How many files were neither scanned nor read."""
        return sum(path not in self.scan.texts and path not in self.states for path, _, _ in self.found)

    def channel(self) -> SemanticChannel | None:
        """Searches the parts that have vectors by meaning; None where none has any."""
        return SemanticChannel(self.index, self.embedder, MODEL) if self.embedder is not None else None

    def coverage(self, *, vectors_wanted: bool) -> Coverage:
        """Every file that was scanned counts as searched; only those that were read have chunks."""
        manifest = self.index.manifest
        assert manifest is not None  # it has one from the beginning, if only of no files
        return Coverage(
            files=manifest.files,
            chunks=manifest.chunks,
            embedded_chunks=manifest.chunks if self.embedder is not None else 0,
            pending_files=self.pending_files,
            complete=False,
            vectors_wanted=vectors_wanted,
            scanned=len(self.scan.texts),
            only_scanned=self.only_scanned,
        )


def first_answer(
    opened: OpenStore, question: Question, found: list[Found], began: float, worker: Worker | None = None
) -> FirstAnswer:
    """What a question that came at ``began`` (monotonic seconds) is answered from where ``found`` (path, size, time) is
    not in the index yet. ``worker`` reads some of it."""
    options = opened.configuration.wanted
    waiting = {path: (size, stamp) for path, size, stamp in found}
    named = [path for path in question.files if path in waiting]
    kept = opened.kept
    if kept is None or (question.embed and not kept.embedded) or len(kept.states) > KEPT_FILES:
        kept = Kept(MemoryIndex(), question.embed)
    index, states = kept.index, kept.states
    gone = [path for path, state in states.items() if waiting.get(path) != state]  # changed, or in the index by now
    for path in gone:
        del states[path]
    opened.kept = None  # until all of it is there
    if worker is not None and (states or sum(size for _, size, _ in found) < WORTH_BYTES):
        worker.end()
        worker = None
    with opened.open_files() as files:
        embedder = opened.semantics.at_once() if kept.embedded else None
        deadline = max(began + SCAN_S, time.monotonic() + LEAST_SCAN_S)
        asked = _asked(question, files, options.max_bytes)
        proposed = scan(files, found, asked, READ_FILES, max_bytes=options.max_bytes, deadline=deadline)
        index.publish({}, gone)
        best = dict.fromkeys((*named, *proposed.best))
        new = [(place, path) for place, path in enumerate(best) if path not in states]
        reading_began = time.monotonic()
        limits, chosen = opened.configuration.limits, list(_read(files, new, options, states))
        for file in take_in(index, chosen, limits=limits, embedder=embedder, worker=worker):
            if file.reason == "failed":  # perhaps for want of time: the next question tries again
                del states[file.path]
    opened.kept = kept
    read_bytes = sum(len(data) for _, data in chosen) - (0 if worker is None else worker.answered_bytes)
    all_bytes = sum(size for _, size, _ in found)
    # A rate from little is none: starting costs more than the reading.
    is_enough = read_bytes >= max(1, min(ENOUGH_BYTES, all_bytes // 4))
    index_s = (time.monotonic() - reading_began) * all_bytes / read_bytes if is_enough else 0.0
    parts = [Part(index, model_id=MODEL)]
    indexed: IndexReader | None = None
    known: Mapping[str, tuple[int, int]] = {}
    if opened.exists:
        reader = opened.on_disk
        with reader.snapshot():
            number = reader.models.id_of(embedder.fingerprint.id) if embedder else None
            known = reader.listed.known_files() if reader.manifest is not None else {}
            indexed = reader if known else None
        if indexed is not None:
            parts.insert(0, Part(reader, model_id=number))
    lacking = [file for file in found if known.get(file[0]) != file[1:]]  # without what was indexed meanwhile
    index.statistics = _statistics(index, proposed, len(found) - len(lacking))
    return FirstAnswer(JoinedIndex(parts), proposed, states, lacking, indexed, embedder, index_s)


def _asked(question: Question, files: Files, max_bytes: int) -> Asked:
    """What the scan looks for in every file."""
    if question.query and not question.to_the_letter:
        return _by_words(analyse(question.query))
    terms: Mapping[str, float] = {question.query.strip().lower(): 1.0} if question.query else {}
    wants: Set[str] = frozenset()
    texts = (_said_by(files, path, question.line, max_bytes) for path in question.files)
    if not question.query and (said := next(filter(None, texts), None)) is not None:
        terms, wants = said, path_flags(next(iter(question.files)))
    return Asked(terms, (), lambda path: bool(path_flags(path) - wants))


def _said_by(files: Files, path: str, line: int | None, max_bytes: int) -> Mapping[str, float]:
    """The most frequent terms of a file, or those near one of its lines; none for a binary file."""
    read = files.read(path, max_bytes)
    decoded = None if isinstance(read, NotRead) else decode(read[1])
    if not isinstance(decoded, Decoded):
        return {}
    text = decoded.text
    if line is not None:
        text = "\n".join(text.split("\n")[max(0, line - NEAR_LINES) : line + NEAR_LINES])
    said = Counter(word for word in words(text) if word.lower() not in STOP_WORDS)
    counted = Counter(path_terms(path))
    for word, times in said.items():
        for term in terms_of(word):
            counted[term] += times
    return {term: math.log1p(times) for term, times in counted.most_common(LIKE_TERMS)}


def _by_words(terms: QueryTerms) -> Asked:
    """The words of a question, and names as they are written."""
    names = {name.text.lower(): name.weight for name in terms.names}
    compounds = dict.fromkeys(terms.compounds[:COMPOUNDS], COMPOUND_WEIGHT)

    def held_back(path: str) -> bool:
        return bool(path_flags(path) - terms.wants) or language_of(path).kind == "data"

    weighted = terms.terms | {term: each for term, each in (names | compounds).items() if term not in terms.terms}
    return Asked(weighted, tuple(names), held_back)


def _read(
    files: Files, placed: list[tuple[int, str]], options: DiscoveryOptions, states: dict[str, tuple[int, int]]
) -> Iterator[tuple[str, bytes]]:
    """The bytes of files (place in the order, path), within what is read for one question."""
    total = 0
    for place, path in placed:
        read = files.read(path, options.limit(path))
        if isinstance(read, NotRead) or (total and total + len(read[1]) > READ_BYTES):
            continue
        if len(read[1]) > LARGE_BYTES and place >= LARGE_FILES:
            continue
        total += len(read[1])
        states[path] = (read[0].st_size, stamp_of(read[0]))
        yield path, read[1]


def _statistics(index: MemoryIndex, scanned: Scan, indexed: int) -> Statistics:
    """Statistics of the scanned files but for those that are ``indexed`` by now; their lengths are estimated from those
    that were read."""
    manifest = index.manifest
    read = sum(file.size for file in index.listing()) or 1
    share = scanned.bytes / read
    return Statistics(
        files=max(0, len(scanned.texts) - indexed),
        files_with={term_key(term): count for term, count in scanned.files_with.items()},
        body_terms=round(manifest.body_terms * share) if manifest else 0,
        name_terms=round(manifest.name_terms * share) if manifest else 0,
    )


MODEL = 1
"""The number of the one model whose vectors such an index has."""


def take_in(
    index: MemoryIndex,
    files: Iterable[tuple[str, bytes]],
    *,
    limits: ChunkLimits | None = None,
    embedder: Embedder | None = None,
    worker: Worker | None = None,
) -> list[SkippedFile]:
    """Put files (path, bytes) into an index, in place of their earlier versions. Gives those left out, with the
    reason.

    With an ``embedder`` their chunks get its vectors; a ``worker`` reads some of them meanwhile.
    """
    files = list(files)
    answers: dict[str, Answer] = {}
    vectors: dict[str, NDArray[np.int8]] = {}
    for part in _prepared(files, limits or ChunkLimits(), worker):
        texts: dict[str, list[str]] = {}
        for path, data, answer in part:
            answers[path] = answer.reading if isinstance(answer, Embedded) else answer
            if embedder is None:
                continue
            if isinstance(answer, Embedded):
                vectors[path] = _rows(answer.data, embedder)
            elif isinstance(answer, Reading):
                texts[path] = texts_of(path, answer, data)
        if embedder is not None:
            vectors |= _embedded(texts, embedder)
    left_out: list[SkippedFile] = []
    standing: dict[str, int] = {}
    for path, data in files:  # in this order, whoever has read them
        found = answers[path]
        if isinstance(found, SkippedFile):
            left_out.append(found)
        elif isinstance(found, Reading):
            standing[path] = index.put(hashlib.sha256(data).digest(), found)
    index.publish(standing, [file.path for file in left_out])
    for path, rows in vectors.items():
        file = index.file_at(path)
        assert file is not None  # just published
        index.put_vectors(MODEL, file.entry_id, rows)
    return left_out


_Files = list[tuple[str, bytes]]
_Answered = list[tuple[str, bytes, Answer]]


def _prepared(files: _Files, limits: ChunkLimits, worker: Worker | None) -> Iterator[_Answered]:
    """Each file with what is known of it. A worker that is ready takes a part of them whenever it has done one; what it
    does not answer in time is read here, and what ends it is left out."""
    left = deque(files)
    answered: SimpleQueue[_Answered] = SimpleQueue()
    if worker is not None and sum(len(data) for _, data in files) >= WORTH_BYTES:
        threading.Thread(target=_read_beside, args=(worker, left, answered), daemon=True).start()
    missing = dict(files)
    while missing:
        if not (mine := _next(left)):
            late_s = LATE_S + sum(map(len, missing.values())) / SLOW_BYTES_PER_S
            try:
                part = answered.get(timeout=late_s)
            except Empty:
                mine = list(missing.items())
        if mine:
            part = [(path, data, reading.prepare.prepare(path, data, limits=limits)) for path, data in mine]
        for path, _, _ in part:
            del missing[path]
        yield part


def _read_beside(worker: Worker, left: deque[tuple[str, bytes]], answered: SimpleQueue[_Answered]) -> None:
    ready = worker.ask([], WORKER_S) is not None
    while ready and (part := _next(left)):
        answers: list[Answer | str] | None = None
        try:
            answers = worker.ask([(path, data, True) for path, data in part], WORKER_S)
        finally:  # whatever went wrong, the question waits for these files
            ready = answers is not None and len(answers) == len(part)
            known = answers if answers is not None and ready else ["its process ended"] * len(part)
            answered.put(
                [
                    (path, data, SkippedFile(path, "failed", answer) if isinstance(answer, str) else answer)
                    for (path, data), answer in zip(part, known, strict=True)
                ]
            )


def _next(left: deque[tuple[str, bytes]]) -> _Files:
    """Files for one part, which nobody else gets; none when none is left."""
    part: _Files = []
    size = 0
    with suppress(IndexError):  # none is left
        while size < PART_BYTES:
            part.append(left.popleft())
            size += len(part[-1][1])
    return part


def _embedded(texts: dict[str, list[str]], embedder: Embedder) -> dict[str, NDArray[np.int8]]:
    """The vectors of all texts, by path, made at once."""
    every = [text for of_file in texts.values() for text in of_file]
    if not every:
        return {}
    rows = _rows(vector_codes.encode(embedder.embed_batch(every).rows, coding_of(embedder.fingerprint)), embedder)
    ends = accumulate(map(len, texts.values()))
    return {path: rows[end - len(some) : end] for (path, some), end in zip(texts.items(), ends, strict=True)}


def _rows(coded: bytes | NDArray[np.uint8], embedder: Embedder) -> NDArray[np.int8]:
    fingerprint = embedder.fingerprint
    return vector_codes.decode(bytes(coded), fingerprint.dimensions, coding_of(fingerprint))
