"""What tools read of an index beyond the engine's questions: a file's definitions, chunks near a text, what is there.

Reads the engine's store with a reader of its own, so it may run in another thread than the engine; one view belongs
to one thread. Must not know tools or their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from findling.roots import LIVE
from findling.search.open_index import OpenIndex, OpenVectors
from findling.store.reader import IndexReader, SymbolRow

if TYPE_CHECKING:
    from findling.config import Config
    from findling.embedding import Embedder, Fingerprint
    from findling.search.semantic import SemanticChannel
    from findling.types import SymbolHit

NEAR_FACTOR, NEAR_LEAST = 8, 600
"""Chunks that get exact cosines, per place asked for, and the least: bits alone miss some of the nearest. 600 hold 99
of 100 of the true ten among 5,000 chunks."""


@dataclass(frozen=True, slots=True)
class NearChunk:
    """A chunk and the cosine of its vector with the query's, clamped to [0, 1]."""

    path: str
    start_line: int
    end_line: int
    cosine: float


@dataclass(frozen=True, slots=True)
class SemanticProblem:
    """``kind``: there is no embedder; the one that is meant does not answer, or too late; the index's vectors are
    another's. ``message`` for people."""

    kind: Literal["none", "down", "slow", "mismatch"]
    message: str


@dataclass(frozen=True, slots=True)
class FileSymbols:
    """A file's definitions in order; ``parent`` of each is a place in the list."""

    path: str
    language: str
    symbols: tuple[SymbolRow, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is indexed. ``pending`` files are listed and not yet taken in. ``complete``: all was taken in once."""

    files: int
    chunks: int
    embedded: int
    pending: int
    languages: dict[str, int]
    complete: bool


class IndexView:
    """One root's index, read. Every method answers for the newest committed state."""

    def __init__(
        self,
        store_dir: Path,
        root: Path,
        open_embedder: Callable[[str | None], Embedder],
        config: Config | None = None,
        key: tuple[str, str] | None = None,
        for_documents: Callable[[str | None], Embedder] | None = None,
    ) -> None:
        """``open_embedder``: as `Engine.embedder_opener` gives it; ``for_documents``: the same for documents, where
        they have their own. ``config``: what is obeyed there. ``key``: as `Engine.manifest_key`; the folder on disk
        without one."""
        self.store_dir = store_dir
        self._config = config
        self._index = OpenIndex(store_dir, key or (str(root), LIVE), open_embedder, for_documents)

    def close(self) -> None:
        self._index.close()

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Of the embedder that answers here, None when none works; then `embedder_problem` says why."""
        embedder = self._index.vectors.embedder
        return embedder.fingerprint if embedder else None

    @property
    def embedder_problem(self) -> str:
        return str(self._index.vectors.failure or "")

    @property
    def semantic_problem(self) -> SemanticProblem | None:
        """What keeps this index from being asked by meaning; None when nothing does."""
        from findling.embedding import BUNDLED
        from findling.engine.semantics import NAMED, choose, mismatch_of

        embedder, failure = self._index.vectors.embedder, self._index.vectors.failure
        if embedder is None:
            choice = choose(self._config, self._index.vectors.stored()) if self._config else None
            if choice is None or (choice.provider in (None, BUNDLED) and choice.reason not in NAMED):
                return SemanticProblem("none", str(failure or ""))  # nobody chose one, and none is there
            slow = failure is not None and failure.reason == "timeout"
            return SemanticProblem("slow" if slow else "down", str(failure or ""))
        reader = self._index.reader
        if reader is None:
            return None
        with reader.snapshot():
            mismatch = mismatch_of(self._config, reader, embedder.fingerprint)
        return SemanticProblem("mismatch", f"{mismatch} Run reindex_vectors with force: true.") if mismatch else None

    def counts(self) -> Counts | None:
        """None when the root was never indexed."""
        reader = self._index.reader
        if reader is None:
            return None
        embedder = self._index.vectors.embedder
        with reader.snapshot():
            manifest = reader.manifest
            if manifest is None:
                return None
            model_id = reader.model_id(embedder.fingerprint.id) if embedder else None
            return Counts(
                manifest.files,
                manifest.chunks,
                reader.embedded_chunks(model_id),
                manifest.pending,
                reader.languages(),
                manifest.complete,
            )

    def file_symbols(self, path: str) -> FileSymbols | None:
        """The definitions of an indexed file, None when it is not in the index."""
        reader = self._index.reader
        if reader is None:
            return None
        with reader.snapshot():
            file = reader.file_at(path)
            if file is None:
                return None
            return FileSymbols(file.path, file.language, tuple(reader.symbols(file.blob_id)))

    def definitions(self, name: str, limit: int, *, folder: str = "") -> list[SymbolHit]:
        """As `Engine.symbols`, from the index alone: without the signatures that are read from the files.

        Raises `InvalidInput`.
        """
        from findling.search import names

        reader = self._index.reader
        if reader is None:
            return []
        with reader.snapshot():
            return names.definitions(
                reader, name, kind=None, language=None, folder=folder, limit=limit, read_lines=lambda _: None
            ).found

    def near(self, text: str, limit: int, *, folder: str = "") -> list[NearChunk]:
        """The ``limit`` chunks nearest to a text, best first, ties by path and line; [] without vectors.

        ``folder``: only files below it, '' for all.
        """
        channel, reader = self._index.vectors.channel, self._index.reader
        if channel is None or reader is None:
            return []
        with reader.snapshot():
            return _near(channel, reader, text, limit, folder)[:limit]

    def similarities(self, text: str, paths: Iterable[str]) -> dict[str, float]:
        """How like a text each of these files is at its best, calibrated; files without vectors are absent."""
        channel, reader = self._index.vectors.channel, self._index.reader
        if channel is None or reader is None:
            return {}
        vector = channel.encode(text)
        if not vector.any():
            return {}
        with reader.snapshot():
            files = [file for path in paths if (file := reader.file_at(path)) is not None]
            cosines = channel.cosines(vector, [file.entry_id for file in files])
        return {
            file.path: channel.calibration.similarity(float(cosines[file.entry_id].own.max()))
            for file in files
            if file.entry_id in cosines and len(cosines[file.entry_id].own)
        }

    @property
    def reader(self) -> IndexReader | None:
        """For questions of its kind; None when the root was never indexed. To be used within its snapshot."""
        return self._index.reader

    @property
    def of_documents(self) -> OpenVectors:
        """The embedder and the vectors that questions to documents alone use."""
        return self._index.of_documents

    @property
    def semantic(self) -> SemanticChannel | None:
        """None without an embedder, or without vectors of it. To be asked for before the reader's snapshot begins."""
        return self._index.vectors.channel


def _near(channel: SemanticChannel, reader: IndexReader, text: str, limit: int, folder: str) -> list[NearChunk]:
    """The ``limit`` nearest chunks and those that are as near as the last; within the reader's snapshot."""
    vector = channel.encode(text)
    if not vector.any():
        return []
    chunks: Mapping[int, Sequence[int] | None]
    if folder:
        from findling.search.passages import entries_to_compare

        files = {file.entry_id: file for file in reader.all_files(prefix=folder)}
        if own := reader.file_at(folder):
            files[own.entry_id] = own
        chunks = dict.fromkeys(entries_to_compare(reader, channel, vector, files))
    else:
        from findling.search.scope import over_fetch

        count = max(NEAR_LEAST, NEAR_FACTOR * limit)
        proposed = channel.propose_chunks(vector, count, reader.own, over_fetch(reader.crowding))
        files = reader.files(proposed)
        chunks = {entry: proposed[entry] for entry in files}
    found: list[NearChunk] = []
    for cosine, entry, place in channel.nearest(vector, chunks, limit):
        rows = reader.chunks(files[entry].blob_id)
        if place < len(rows):
            found.append(NearChunk(files[entry].path, rows[place].start_line, rows[place].end_line, cosine))
    found.sort(key=lambda near: (-near.cosine, near.path, near.start_line))
    return found
