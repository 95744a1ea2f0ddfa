"""What tools read of an index beyond the engine's questions: a file's definitions, chunks near a text, what is there.

Reads the engine's store with a reader of its own, so it may run in another thread than the engine; one view belongs
to one thread. Must not know tools or their answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from findling import errors
from findling.store.reader import IndexReader, SymbolRow
from findling.store.schema import DATABASE

if TYPE_CHECKING:
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

    def __init__(self, store_dir: Path, root: Path) -> None:
        self.store_dir = store_dir
        self._root = root
        self._reader: IndexReader | None = None
        self._semantic: SemanticChannel | None = None
        self._embedder: Embedder | None = None
        self._problem = ""

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
        return self._problem

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
            found = self._near(channel, self._reader, text, limit)
        return [near for near in found if not folder or near.path == folder or near.path.startswith(f"{folder}/")][
            :limit
        ]

    def _near(self, channel: SemanticChannel, reader: IndexReader, text: str, limit: int) -> list[NearChunk]:
        vector = channel.encode(text)
        if not vector.any():
            return []
        proposed = channel.propose(vector, max(NEAR_LEAST, NEAR_FACTOR * limit))
        files = reader.files(proposed)
        found: list[NearChunk] = []
        for entry, cosines in channel.cosines(vector, list(files)).items():
            file = files[entry]
            for chunk, cosine in zip(reader.chunks(file.blob_id), cosines.own.tolist(), strict=False):
                found.append(NearChunk(file.path, chunk.start_line, chunk.end_line, min(1.0, max(0.0, cosine))))
        found.sort(key=lambda near: (-near.cosine, near.path, near.start_line))
        return found

    def _open(self) -> IndexReader | None:
        if self._reader is not None and self._reader.replaced:
            self.close()
        if self._reader is None and (self.store_dir / DATABASE).exists():
            self._reader = IndexReader(self.store_dir, str(self._root))
        return self._reader

    def _open_embedder(self) -> Embedder | None:
        if self._embedder is None and not self._problem:
            from findling.embedding import open_embedder

            try:
                self._embedder = open_embedder(verify=False)
            except errors.EmbedderUnavailable as error:
                self._problem = str(error)
        return self._embedder

    def _open_semantic(self) -> SemanticChannel | None:
        reader = self._open()
        embedder = self._open_embedder()
        if reader is None or embedder is None:
            return None
        if self._semantic is None:
            with reader.snapshot():
                model_id = reader.model_id(embedder.fingerprint.id)
            if model_id is None:
                return None
            from findling.search.semantic import SemanticChannel

            self._semantic = SemanticChannel(reader, embedder, model_id)
        return self._semantic
