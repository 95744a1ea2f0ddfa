"""A root's documents, opened for one question: which they are, their texts, the model that they are asked with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from findling.engine.document_texts import DocumentText, DocumentTexts
from findling.model.errors import EmbedderUnavailable
from findling.search.scope import lies_in
from findling.store.schema import IndexDamaged

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.engine.store import OpenStore
    from findling.model.rows import FileRow
    from findling.search.documents import DocumentScope
    from findling.search.semantic import SemanticChannel
    from findling.store.reader import IndexReader


@dataclass(frozen=True, slots=True)
class OpenDocuments:
    """Documents within one snapshot of the index. ``channel`` is None where nothing can be asked by meaning;
    ``without_vectors`` counts those that should have vectors and have none, ``pending`` the files of the root that are
    not indexed yet."""

    reader: IndexReader
    files: list[FileRow]
    texts: DocumentTexts
    channel: SemanticChannel | None
    pending: int
    without_vectors: int


@dataclass(frozen=True, slots=True)
class DocumentModel:
    """The embedder of a root's documents. ``fingerprint``: None when it does not answer, then ``problem`` says why, and
    ``connection`` whether only because it cannot be reached or answers too late. ``stored``: id and dimensions of the
    model that the index's vectors are of, None without vectors."""

    fingerprint: Fingerprint | None
    problem: str
    stored: tuple[str, int] | None
    connection: bool


@contextmanager
def opened(
    store: OpenStore, folder: str, scope: DocumentScope, *, by_meaning: bool, code_too: bool
) -> Iterator[OpenDocuments | None]:
    """The documents below a folder that a scope allows; None where nothing is indexed. ``code_too``: vectors are missed
    of all files."""
    if not store.exists:
        yield None
        return
    store.close_if_replaced()
    reader = store.reader
    with reader.snapshot(), store.new_files() as searched:
        if reader.manifest is None:
            yield None
            return
        texts = DocumentTexts(searched, reader, store.configuration.effective.index.max_file_bytes)
        files = scope.of_files(documents_below(reader, folder), texts.tags)
        channel = store.semantics.document_channel() if by_meaning else None
        without = _without_vectors(store, None if code_too else files) if by_meaning else 0
        yield OpenDocuments(reader, files, texts, channel, reader.manifest.pending, without)


def documents_below(reader: IndexReader, folder: str) -> list[FileRow]:
    """Every indexed document of a folder, '' for all."""
    return [file for file in reader.listing() if file.kind == "docs" and lies_in(file.path, folder)]


def _without_vectors(store: OpenStore, files: list[FileRow] | None) -> int:
    """How many of these documents (None: of all files) should have vectors and have none."""
    reader = store.reader
    embedder = store.semantics.document_embedder()
    model_id = reader.model_id(embedder.fingerprint.id) if embedder else None
    if model_id is None:
        return len(reader.listing() if files is None else files)
    unembedded = reader.count_unembedded(model_id)
    if not unembedded or files is None:
        return unembedded
    known = reader.stored_vectors((file.entry_id for file in files), model_id)
    return sum(1 for file in files if file.entry_id not in known and reader.chunks(file.blob_id))


def text_of(store: OpenStore, path: str) -> DocumentText | None:
    """The text that an indexed document (a PDF) was converted to; None for any other file."""
    if not store.exists:
        return None
    store.close_if_replaced()
    reader = store.reader
    with reader.snapshot(), store.new_files() as files:
        file = reader.file_at(path)
        if file is None or not file.converted:
            return None
        return DocumentTexts(files, reader, store.configuration.effective.index.max_file_bytes).of(file)


def model(store: OpenStore, query: str) -> DocumentModel:
    """The model of a root's documents, for a question that will be asked of it."""
    semantics = store.semantics
    embedder = semantics.document_embedder()
    if query and embedder is not None and embedder.fingerprint.provider == "ollama":
        try:
            embedder.encode_query(query)  # what it says is kept for the question that follows
        except EmbedderUnavailable:
            embedder = semantics.document_embedder()  # None, unless it is this text alone that cannot be embedded
    failure = semantics.document_failure
    fingerprint = embedder.fingerprint if embedder is not None else None
    stored: tuple[str, int] | None = None
    if store.exists:
        try:
            stored = _stored_model(store, fingerprint)
        except IndexDamaged:
            stored = None  # whoever takes in what is new builds it anew
    connection = failure is None or failure.reason in ("unreachable", "timeout")
    return DocumentModel(fingerprint, str(failure or ""), stored, connection)


def _stored_model(store: OpenStore, fingerprint: Fingerprint | None) -> tuple[str, int] | None:
    store.close_if_replaced()
    reader = store.reader
    with reader.snapshot():
        own = reader.model_id(fingerprint.id) if fingerprint is not None else None
        if fingerprint is not None and reader.embedded_chunks(own):
            return fingerprint.id, fingerprint.dimensions
        latest = reader.latest_model()
        return reader.model(latest) if latest is not None else None
