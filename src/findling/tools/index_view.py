"""What tools read of an index beyond the engine's questions: a file's definitions, chunks near a text, what is there.

Reads the engine's store with a reader of its own, so it may run in another thread than the engine; one view belongs
to one thread. Must not know tools or their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from findling import errors
from findling.store.reader import IndexReader, SymbolRow
from findling.store.schema import DATABASE

if TYPE_CHECKING:
    from findling.config import Config
    from findling.embedding import Embedder, Fingerprint
    from findling.search.semantic import SemanticChannel

NEAR_FACTOR, NEAR_LEAST = 8, 300
"""Files whose chunks get exact cosines, per place asked for: bits propose, so more are looked at than wanted."""


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
    """How much is indexed. ``pending`` files are listed and not yet taken in."""

    files: int
    chunks: int
    embedded: int
    pending: int
    languages: dict[str, int]


class IndexView:
    """One root's index, read. Every method answers for the newest committed state."""

    def __init__(
        self,
        store_dir: Path,
        root: Path,
        open_embedder: Callable[[str | None], Embedder],
        config: Config | None = None,
        key: tuple[str, str] | None = None,
    ) -> None:
        """``open_embedder``: as `Engine.embedder_opener` gives it. ``config``: what is obeyed there. ``key``: as
        `Engine.manifest_key`; the folder on disk without one."""
        from findling.embedding.lazy import LazyEmbedder

        self.store_dir = store_dir
        self._root = root
        self._key = key or (str(root), "live")
        self._config = config
        self._lazy = LazyEmbedder(open_embedder, self._stored)
        self._reader: IndexReader | None = None
        self._semantic: SemanticChannel | None = None
        self._semantic_of = ""

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._semantic = None

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Of the embedder that answers here, None when none works; then `embedder_problem` says why."""
        embedder = self._open_embedder()
        return embedder.fingerprint if embedder else None

    @property
    def embedder_problem(self) -> str:
        return str(self._lazy.failure or "")

    @property
    def embedder_failure(self) -> errors.EmbedderUnavailable | None:
        """Why no embedder answers; None where one does."""
        self._open_embedder()
        return self._lazy.failure

    @property
    def semantic_problem(self) -> SemanticProblem | None:
        """What keeps this index from being asked by meaning; None when nothing does."""
        from findling.embedding import BUNDLED
        from findling.engine.semantics import NAMED, choose, mismatch_of

        embedder = self._open_embedder()
        failure = self._lazy.failure
        if embedder is None:
            choice = choose(self._config, self._stored()) if self._config else None
            if choice is None or (choice.provider in (None, BUNDLED) and choice.reason not in NAMED):
                return SemanticProblem("none", str(failure or ""))  # nobody chose one, and none is there
            slow = failure is not None and failure.reason == "timeout"
            return SemanticProblem("slow" if slow else "down", str(failure or ""))
        reader = self._open()
        if reader is None:
            return None
        with reader.snapshot():
            mismatch = mismatch_of(self._config, reader, embedder.fingerprint)
        return SemanticProblem("mismatch", f"{mismatch} Run reindex_vectors with force: true.") if mismatch else None

    def encodes(self, text: str) -> bool:
        """Whether the embedder answers for a text; what it says is kept for the question that follows."""
        embedder = self._open_embedder()
        try:
            if embedder is not None:
                embedder.encode_query(text)
        except errors.EmbedderUnavailable:
            return False
        return embedder is not None

    def counts(self) -> Counts | None:
        """None when the root was never indexed."""
        reader = self._open()
        if reader is None:
            return None
        embedder = self._open_embedder()
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
            )

    def file_symbols(self, path: str) -> FileSymbols | None:
        """The definitions of an indexed file, None when it is not in the index."""
        reader = self._open()
        if reader is None:
            return None
        with reader.snapshot():
            file = reader.file_at(path)
            if file is None:
                return None
            return FileSymbols(file.path, file.language, tuple(reader.symbols(file.blob_id)))

    def near(self, text: str, limit: int, *, folder: str = "") -> list[NearChunk]:
        """The ``limit`` chunks nearest to a text, best first, ties by path and line; [] without vectors.

        ``folder``: only files below it, '' for all.
        """
        channel = self._open_semantic()
        if channel is None or self._reader is None:
            return []
        with self._reader.snapshot():
            return self._near(channel, self._reader, text, limit, folder)[:limit]

    def similarities(self, text: str, paths: Iterable[str]) -> dict[str, float]:
        """How like a text each of these files is at its best, calibrated; files without vectors are absent."""
        channel = self._open_semantic()
        if channel is None or self._reader is None:
            return {}
        vector = channel.encode(text)
        if not vector.any():
            return {}
        with self._reader.snapshot():
            files = [file for path in paths if (file := self._reader.file_at(path)) is not None]
            cosines = channel.cosines(vector, [file.entry_id for file in files])
        return {
            file.path: channel.calibration.similarity(float(cosines[file.entry_id].own.max()))
            for file in files
            if file.entry_id in cosines and len(cosines[file.entry_id].own)
        }

    def _near(
        self, channel: SemanticChannel, reader: IndexReader, text: str, limit: int, folder: str
    ) -> list[NearChunk]:
        vector = channel.encode(text)
        if not vector.any():
            return []
        if folder:
            from findling.search.passages import entries_to_compare

            below = {file.entry_id: file for file in reader.all_files(prefix=folder)}
            if own := reader.file_at(folder):
                below[own.entry_id] = own
            files = {entry: below[entry] for entry in entries_to_compare(reader, channel, vector, below)}
        else:
            files = reader.files(channel.propose(vector, max(NEAR_LEAST, NEAR_FACTOR * limit)))
        found: list[NearChunk] = []
        for entry, cosines in channel.cosines(vector, list(files)).items():
            file = files[entry]
            for chunk, cosine in zip(reader.chunks(file.blob_id), cosines.own.tolist(), strict=False):
                found.append(NearChunk(file.path, chunk.start_line, chunk.end_line, min(1.0, max(0.0, cosine))))
        found.sort(key=lambda near: (-near.cosine, near.path, near.start_line))
        return found

    @property
    def reader(self) -> IndexReader | None:
        """For questions of its kind; None when the root was never indexed. To be used within its snapshot."""
        return self._open()

    @property
    def semantic(self) -> SemanticChannel | None:
        """None without an embedder, or without vectors of it. To be asked for before the reader's snapshot begins."""
        return self._open_semantic()

    def _open(self) -> IndexReader | None:
        if self._reader is not None and self._reader.replaced:
            self.close()
        if self._reader is None and (self.store_dir / DATABASE).exists():
            self._reader = IndexReader(self.store_dir, *self._key)
        return self._reader

    def _open_embedder(self) -> Embedder | None:
        return self._lazy.get()

    def _stored(self) -> str | None:
        """The model of the index's vectors; of an index that cannot be read there are none."""
        try:
            reader = self._open()
            return reader.latest_fingerprint() if reader else None
        except errors.IndexUnavailable:
            return None

    def _open_semantic(self) -> SemanticChannel | None:
        reader = self._open()
        embedder = self._open_embedder()
        if reader is None or embedder is None:
            return None
        if self._semantic is None or self._semantic_of != embedder.fingerprint.id:
            with reader.snapshot():
                model_id = reader.model_id(embedder.fingerprint.id)
            if model_id is None:
                return None
            from findling.search.semantic import SemanticChannel

            self._semantic = SemanticChannel(reader, embedder, model_id)
            self._semantic_of = embedder.fingerprint.id
        return self._semantic
