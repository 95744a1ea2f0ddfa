"""What tools read of an index beyond the engine's questions: a file's definitions, chunks near a text, what is there.

Reads the engine's store with a reader of its own, so it may run in another thread than the engine; one view belongs
to one thread. Must not know tools or their answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from findling.roots import LIVE
from findling.search.open_index import OpenIndex, OpenVectors
from findling.store.reader import IndexReader, SymbolRow

if TYPE_CHECKING:
    from findling.config import Config
    from findling.embedding import Embedder, Fingerprint


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

    @property
    def reader(self) -> IndexReader | None:
        """For questions of its kind; None when the root was never indexed. To be used within its snapshot."""
        return self._index.reader

    @property
    def of_documents(self) -> OpenVectors:
        """The embedder and the vectors that questions to documents alone use."""
        return self._index.of_documents
