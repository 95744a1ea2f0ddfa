"""The second pass: vectors for chunks that have none, newest files first, behind the text index.

What is embedded is a chunk in its context: its folders, its file's stem, what encloses it, what it defines. A chunk
whose text is the same as in an earlier version of the file keeps its vector. If one chunk cannot be embedded, the
others still get their vectors.

Any other embedder than the bundled one may take hours: then the writer role is taken for each commit only, so that
files that change meanwhile are taken in. Vectors of a file that are made before time runs out are kept for the next
run.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from findling import outbound
from findling.embedding import BUNDLED, Embedder, Fingerprint, coding_of, takes_documents
from findling.engine.embedded_readings import model_number
from findling.model import errors, plurals, vector_codes
from findling.model.format_names import outlined_as
from findling.model.reading import HASH_BYTES, row_bytes
from findling.model.rows import FileRow
from findling.model.types import OnProgress, Progress
from findling.outbound.files import Files, RootFiles
from findling.reading.embedded import embedded_texts, text_hash, text_of
from findling.sources.looking import read_file
from findling.store.local.reader import IndexReader
from findling.store.local.writer import IndexWriter

_FILES_PER_BATCH = 200
_GROUP_TEXTS = 256
"""Files or texts that are gathered for one call of the embedder: enough for full requests, few enough to lose."""

_COMMIT_CHUNKS = 20_000
"""Vectors per transaction, about 5 MB."""

_COMMIT_S = 5.0
"""Seconds between two commits with a slow embedder: the work that a killed run loses."""

_COMMIT_WAIT_S = 5.0
"""The least time that a commit waits for another writer, even if the caller would wait less: vectors may have cost
money."""

_POLL_S = 0.05

_NO_MODEL = 0
"""No model has this number, so every file lacks vectors of it."""

_FAILED = bytes(HASH_BYTES)
"""Stands for the hash of a text that could not be embedded. No text has this hash, so none takes the vector over."""

_REFUSED = b"\xff"
"""In the vectors of a file that is only partly embedded, a vector of these bytes marks a text that could not be
embedded, so that not every run asks for it again, which may cost money. No unit vector looks like that."""


class EmbeddedFile(Struct, frozen=True):
    """What the pass did with a file: how many ``chunks`` have vectors now, how many of these were ``kept``, how many
    ``failed``. ``problem`` says why some or all failed."""

    path: str
    chunks: int = 0
    kept: int = 0
    problem: str = ""
    failed: int = 0


def embed(
    open_writer: Callable[[], IndexWriter],
    reader: IndexReader,
    root: Path | Files,
    embedder: Embedder,
    *,
    max_bytes: int,
    paths: Sequence[str] | None = None,
    deadline: float | None = None,
    on_progress: OnProgress = lambda _: None,
    anew: bool = False,
    failed_too: bool = False,
    on_file: Callable[[EmbeddedFile], None] = lambda _: None,
) -> int:
    """Embed what lacks vectors until done or ``deadline`` (monotonic seconds); the number of chunks embedded.

    ``paths``: only these files. ``anew``: also those that have vectors, and no text's vector is taken over.
    ``failed_too``: also those with a text that could not be embedded. ``on_file`` is told of each. A file that changed
    since it was indexed is left for the next sync. Raises `EmbedderUnavailable` and, from ``open_writer``,
    `IndexBusy`, also where another index stands in the place of ``reader``'s by now; what was embedded until then is
    kept, unless its index is gone.
    """
    with _Writing(open_writer, reader.identity, embedder.fingerprint) as writing:
        with reader.snapshot():
            waiting = reader.models.unembedded(
                _NO_MODEL if anew else writing.model_id,
                paths,
                failed_too=failed_too,
                docs=takes_documents(embedder.fingerprint),
            )
        on_progress(Progress("embedding", 0, len(waiting)))
        gathering = _Gathering(reader, root, max_bytes, writing.model_id, anew, failed_too)
        looked_at = 0
        while looked_at < len(waiting) and (deadline is None or time.monotonic() < deadline):
            began = time.monotonic()
            with reader.snapshot():
                group, taken = gathering.group(waiting[looked_at:], deadline)
            looked_at += taken
            whole = _embed_group(embedder, group, deadline)
            writing.add([file for file in group[:whole] if not file.problem])
            if whole < len(group) and not anew:
                writing.begin(group[whole])
            share_ms = (time.monotonic() - began) * 1000 / max(1, len(group))
            for file in group[:whole]:
                _tell(file, share_ms, on_file)
            on_progress(Progress("embedding", looked_at - (len(group) - whole), len(waiting)))
            if whole < len(group):
                break
    return writing.embedded


class _Writing:
    """Vectors on their way into the tables: committed when there are many, and after some seconds.

    The writer role is kept throughout for the bundled model, which is quick. ``identity``: of the index that
    the vectors are for; no other one that stands in its place is written to.
    """

    def __init__(self, open_writer: Callable[[], IndexWriter], identity: bytes, fingerprint: Fingerprint) -> None:
        self.coding = coding_of(fingerprint)
        self.embedded = 0
        self._open = open_writer
        self._identity = identity
        self._fingerprint = fingerprint
        self._keeps = fingerprint.provider == BUNDLED
        self._writer: IndexWriter | None = None
        self._rows: list[tuple[int, bytes, bytes]] = []
        self._begun: list[tuple[int, bytes, bytes]] = []
        self._chunks = 0
        self._committed_at = time.monotonic()

    def __enter__(self) -> _Writing:
        self._writer = self._take()
        try:
            self.model_id = model_number(self._writer, self._fingerprint)
        except BaseException:
            self._let_go(anyway=True)
            raise
        self._let_go(anyway=not self._keeps)
        return self

    def __exit__(self, *_: object) -> None:
        """Vectors that were made before a failure are committed."""
        try:
            self.commit()
        finally:
            self._let_go(anyway=True)

    def add(self, files: Sequence[_File]) -> None:
        self._rows += [(file.entry_id, b"".join(file.hashes), file.data) for file in files]
        self._chunks += sum(len(file.hashes) for file in files)
        due = time.monotonic() - self._committed_at >= _COMMIT_S
        if self._chunks >= _COMMIT_CHUNKS or (due and not self._keeps):
            self.commit()

    def begin(self, file: _File) -> None:
        """Keep what was made of a file that is not whole yet."""
        made = {key: file.known[key] for key in file.hashes if key in file.known}
        size = row_bytes(self._fingerprint.dimensions, self.coding)
        made |= dict.fromkeys(file.refused, _REFUSED * size)
        if made:
            self._begun.append((file.entry_id, b"".join(made), b"".join(made.values())))

    def commit(self) -> None:
        if self._rows or self._begun:
            self._writer = self._writer or self._take(_COMMIT_WAIT_S)
            self._writer.add_vectors(self.model_id, self._rows)
            self._writer.begin_vectors(self.model_id, self._begun)
            self._writer.commit()
            self.embedded += self._chunks
            self._rows, self._begun, self._chunks = [], [], 0
            self._let_go(anyway=not self._keeps)
        self._committed_at = time.monotonic()

    def _take(self, wait_s: float = 0.0) -> IndexWriter:
        """The writer, after waiting for it as long as the opener does, and at least ``wait_s``."""
        until = time.monotonic() + wait_s
        while True:
            try:
                writer = self._open()
                break
            except errors.IndexBusy:
                if time.monotonic() >= until:
                    raise
            time.sleep(_POLL_S)
        if writer.identity != self._identity:
            writer.close()
            self._rows, self._begun, self._chunks = [], [], 0  # vectors whose entries are gone
            raise errors.IndexBusy(
                "Another process rebuilt the index in the meantime.", remedy="Run the embedding again."
            )
        return writer

    def _let_go(self, *, anyway: bool) -> None:
        if anyway and self._writer is not None:
            self._writer.close()
            self._writer = None


class _File(Struct):
    """A file on its way: its texts' hashes, the vectors that were taken over, and the texts that need one.

    ``earlier``: the vectors that are replaced where all are made anew, for texts that fail now. ``refused``: hashes of
    texts that could not be embedded when the file was begun.
    """

    entry_id: int
    path: str
    problem: str = ""
    hashes: list[bytes] = []
    known: dict[bytes, bytes] = {}
    earlier: dict[bytes, bytes] = {}
    refused: set[bytes] = set()
    missing: dict[int, str] = {}
    kept: int = 0
    failed: list[str] = []
    data: bytes = b""


class _Gathering(Struct):
    """Reads files and their chunks' texts. Within the reader's snapshot."""

    reader: IndexReader
    root: Path | Files
    max_bytes: int
    model_id: int
    anew: bool
    failed_too: bool

    def group(self, waiting: Sequence[tuple[int, int, str, bytes]], deadline: float | None) -> tuple[list[_File], int]:
        """The next files to embed, with enough texts for some requests; and how many of ``waiting`` were looked at."""
        group: list[_File] = []
        texts = taken = 0
        # a folder is opened anew for each group: the embedder may take long
        with RootFiles(self.root) if isinstance(self.root, Path) else self.root as files:
            for entry_id, _, path, blob_hash in waiting:
                if texts >= _GROUP_TEXTS or taken >= _FILES_PER_BATCH:
                    break
                if taken and deadline is not None and time.monotonic() >= deadline:
                    break
                taken += 1
                row = self.reader.file_at(path)
                if row is None or row.entry_id != entry_id:
                    continue  # deleted or changed since they were listed: another run's
                file = self._file(files, row, blob_hash)
                texts += len(file.missing)
                group.append(file)
        return group, taken

    def _file(self, files: Files, row: FileRow, blob_hash: bytes) -> _File:
        path, reader, file = row.path, self.reader, _File(row.entry_id, row.path)
        raw = reader.doc_text(row.blob_id) if row.converted else _text(files, path, blob_hash, self.max_bytes)
        if raw is None:
            file.problem = "It cannot be read, or changed since it was indexed."
            return file
        language = outlined_as(row.language, converted=True) if row.converted else row.language
        texts = embedded_texts(path, language, reader.symbols(row.blob_id), reader.chunks(row.blob_id), raw)
        file.hashes = list(map(text_hash, texts))
        found: dict[bytes, bytes] = {}
        for key, vector in self._earlier(path, set(file.hashes)):
            if vector.strip(_REFUSED):
                found[key] = vector
            elif not (self.anew or self.failed_too):
                file.refused.add(key)
        file.refused -= found.keys()
        file.known, file.earlier = ({}, found) if self.anew else (found, {})
        asked: set[bytes] = set()
        for place, key in enumerate(file.hashes):
            if key not in file.known and key not in asked and key not in file.refused:
                file.missing[place] = texts[place]
                asked.add(key)
        file.kept = sum(key in file.known for key in file.hashes)
        return file

    def _earlier(self, path: str, wanted: set[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Vectors of the same texts in any version of the file, even in one whose vectors are not complete."""
        for hashes, data in self.reader.models.text_hashes(path, self.model_id):
            count = len(hashes) // HASH_BYTES
            size = len(data) // count if count else 0
            for i in range(count):
                key = hashes[i * HASH_BYTES : (i + 1) * HASH_BYTES]
                if key in wanted:
                    yield key, data[i * size : (i + 1) * size]


def _embed_group(embedder: Embedder, group: Sequence[_File], deadline: float | None) -> int:
    """Give the files of a group their vectors. Returns how many of them, from the first on, are done."""
    coding = coding_of(embedder.fingerprint)
    texts = [text for file in group for text in file.missing.values()]
    made = embedder.embed_batch(texts, deadline=deadline)
    coded, failures = [row.tobytes() for row in vector_codes.encode(made.rows, coding)], made.failed
    nothing = bytes(row_bytes(embedder.fingerprint.dimensions, coding))
    at = 0
    for whole, file in enumerate(group):
        if at + len(file.missing) > len(coded):
            for number, place in enumerate(list(file.missing)[: len(coded) - at], at):
                if number in failures:
                    file.refused.add(file.hashes[place])
                else:
                    file.known[file.hashes[place]] = coded[number]
            return whole
        failed = set(file.refused)
        file.known |= dict.fromkeys(failed, nothing)
        file.failed += [_FAILED_BEFORE] * len(failed)
        for place in file.missing:
            key = file.hashes[place]
            file.known[key] = coded[at]
            if at in failures:
                file.failed.append(failures[at])
                file.known[key] = file.earlier.get(key, nothing)
                if key not in file.earlier:
                    failed.add(key)
            at += 1
        file.data = b"".join(file.known[key] for key in file.hashes)
        file.hashes = [_FAILED if key in failed else key for key in file.hashes]
    return len(group)


_FAILED_BEFORE = "It failed at the start of this file."


def _tell(file: _File, latency_ms: float, on_file: Callable[[EmbeddedFile], None]) -> None:
    if file.problem:
        on_file(EmbeddedFile(file.path, problem=file.problem))
        return
    count = len(file.hashes)
    of = plurals.count(count, "passage")
    problem = f"{len(file.failed)} of {of} could not be embedded: {file.failed[0]}" if file.failed else ""
    on_file(EmbeddedFile(file.path, count - len(file.failed), file.kept, problem, len(file.failed)))
    if "logging" in sys.modules:  # else nothing listens to events
        outbound.semantic_index(
            doc_path=file.path, chunk_count=count, latency_ms=latency_ms, skipped_unchanged=file.kept
        )


def _text(files: Files, path: str, blob_hash: bytes, max_bytes: int) -> str | bytes | None:
    """A file's text as it was indexed: a string if it is all ASCII, else UTF-8 bytes; None if it has changed."""
    read = read_file(files, path, max_bytes)
    if not isinstance(read, tuple) or hashlib.sha256(read[1]).digest() != blob_hash:
        return None
    return text_of(read[1])
