"""One place that a library search looks in: a collection, or the documents of a root. For one thread.

Brings its index up to date within a given time, and says what it could not do. Must not know other sources.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from findling.engine.library import reading
from findling.model.plurals import count
from findling.search.scope import lies_in

if TYPE_CHECKING:
    from findling.engine import Engine
    from findling.engine.library.reading import Text
    from findling.engine.searched import OpenCollection
    from findling.model.rows import FileRow
    from findling.model.types import Progress
    from findling.store.protocols import Index
    from findling.store.reader import IndexReader


@dataclass(slots=True)
class Source:
    """``name`` is shown with every result. ``kind``: only files of this kind, None for all. ``fetched``: they came
    from elsewhere."""

    name: str
    engine: Engine
    kind: str | None = None
    fetched: bool = False
    left: tuple[str, ...] = field(init=False, default=())
    """What the last `freshen` did not take in, in words; empty where that is nothing."""

    @property
    def root(self) -> Path:
        return self.engine.root

    def absolute(self, path: str) -> str:
        """A path of the index as the library writes it."""
        return os.fspath(self.root / path)

    def relative(self, path: str) -> str | None:
        """An absolute path as the index writes it, None when it does not lie in the root."""
        normal = os.path.normpath(path)
        for base, named in ((self.root, Path(normal)), (self.root, Path(os.path.realpath(normal)))):
            if named.is_relative_to(base):
                return named.relative_to(base).as_posix()
        return None

    def freshen(self, query: str, wait_s: float | None, progress: Callable[[Progress], None] | None) -> None:
        """Take in what changed on disk within ``wait_s`` (None: all of it), and note in ``left`` what is left.

        Raises the index's errors.
        """
        freshness, why = self.engine.refresh(query=query, wait_s=wait_s, progress=progress)
        unfresh = "" if freshness == "fresh" else why or "not all changes are taken in"
        self.left = tuple(filter(None, (self.pending(), unfresh)))

    # --- what is indexed ------------------------------------------------------------------------------------

    @property
    def collection(self) -> OpenCollection:
        """What is searched, with absolute paths."""
        return replace(self.engine.collection, name=str(self.root))

    @property
    def index(self) -> Index | None:
        """None when there is nothing to answer from."""
        store = self.collection.store
        if not store.searchable:
            return None
        store.close_if_replaced()
        return store.index

    def allows(self, file: FileRow) -> bool:
        """Whether a file of the index, as this has it, may be in an answer."""
        return lies_in(file.path, self.engine.scope) and (self.kind is None or file.kind == self.kind)

    def file_at(self, path: str) -> FileRow | None:
        """A file that may be in an answer, by its path in the index."""
        if (index := self.index) is None:
            return None
        with index.snapshot():
            file = index.file_at(path)
        return file if file is not None and self.allows(file) else None

    def chunk_count(self, path: str) -> int:
        """How many passages a file has; 0 for one that is not indexed."""
        file, index = self.file_at(path), self.index
        if file is None or index is None:
            return 0
        with index.snapshot():
            return len(index.chunks(file.blob_id))

    def texts(self, path: str, indexes: Iterable[int]) -> list[Text] | None:
        """What these passages of a file say (`reading.texts`)."""
        file = self.file_at(path)
        return None if file is None else reading.texts(self.collection.store, file, indexes)

    def pending(self) -> str:
        """What is not indexed yet, in words; '' when everything is, vectors too where there can be any."""
        store = self.collection.store
        if store.first_answer is not None:
            return "not all is indexed"
        if self.index is None:
            return "nothing is indexed yet"
        reader = store.reader
        embedder = store.semantics.document_embedder()
        with reader.snapshot():
            manifest = reader.manifest
            if manifest is None:
                return "nothing is indexed yet"
            if manifest.pending or not manifest.complete:
                pending = count(manifest.pending, "file")
                return f"{pending} not indexed yet" if manifest.pending else "not all is indexed"
            if embedder is None:
                return ""
            model_id = reader.model_id(embedder.fingerprint.id)
            without = manifest.chunks - reader.embedded_chunks(model_id)
            if without and (self.kind or self.engine.scope):
                return self._lacking(reader, model_id)
        return f"{without:,} of {count(manifest.chunks, 'passage')} without a vector yet" if without else ""

    def _lacking(self, reader: IndexReader, model_id: int | None) -> str:
        """The same of vectors alone, where not all that is indexed may be in an answer."""
        files = {file.entry_id: file for file in reader.listing() if self.allows(file)}
        lacking = files if model_id is None else files.keys() & {row[0] for row in reader.unembedded(model_id)}
        without = sum(len(reader.chunks(files[entry].blob_id)) for entry in lacking)
        return f"{count(without, 'passage')} without a vector yet" if without else ""
