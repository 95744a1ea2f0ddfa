"""The documents that a question searches: which files they are, their texts, and the embedding model for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from findling.engine.shown import text_now
from findling.engine.state import coverage_of
from findling.engine.store import OpenStore
from findling.model.errors import EmbedderUnavailable
from findling.model.format_names import outlined_as
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.outbound.files import Files, NotRead
from findling.reading.chunk_docs import Paragraphs
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable
from findling.reading.outline import outline
from findling.search.documents import DocumentAnswer, DocumentQuery, OpenDocuments, find
from findling.search.extract import Paragraph
from findling.search.nearest import nearest_paths, with_folders
from findling.search.passages import HEAD_CHARS, FrontMatter, front_matter
from findling.search.scope import lies_in
from findling.store.local.schema import IndexDamaged
from findling.store.protocols import Index

if TYPE_CHECKING:
    from findling.embedding import Fingerprint
    from findling.engine.freshness import Freshened
    from findling.engine.searched import Searched


class Texts:
    """The documents among some files, within one snapshot of the index; each read once, through the collection that has
    it."""

    def __init__(self, searched: Searched, files: Sequence[Files]) -> None:
        """``files``: those of each collection."""
        self._owner = searched.owner
        self._each = list(zip(searched.stores, files, strict=True))
        self._texts: dict[str, DocumentText | None] = {}

    def of(self, file: FileRow) -> DocumentText | None:
        """None when it is gone, or cannot be read as text any more."""
        if file.path not in self._texts:
            at, own = self._owner(file)
            self._texts[file.path] = _document(*self._each[at], own)
        return self._texts[file.path]

    def tags(self, file: FileRow) -> frozenset[str]:
        """The tags in a document's head; only the head is read."""
        known = self._texts.get(file.path)
        if known is not None:
            return known.head.tags
        if file.converted:
            return frozenset()  # what is converted has no head of that kind
        at, own = self._owner(file)
        store, files = self._each[at]
        read = files.read(own.path, store.configuration.effective.index.max_file_bytes)
        decoded = None if isinstance(read, NotRead) else decode(read[1][:HEAD_BYTES])
        return front_matter(decoded.text).tags if isinstance(decoded, Decoded) else frozenset()


def _document(store: OpenStore, files: Files, file: FileRow) -> DocumentText | None:
    now = text_now(store, files, file, store.configuration.effective.index.max_file_bytes)
    language = outlined_as(file.language, converted=True) if file.converted else file.language
    return None if now is None else DocumentText(now.text, language, changed=not now.unchanged)


class DocumentModel(Struct, frozen=True):
    """The embedder of a root's documents. ``fingerprint``: None when it does not answer, then ``problem`` says why, and
    ``connection`` whether only because it cannot be reached or answers too late (``late``). ``stored``: id and
    dimensions of the model that the index's vectors are of, None without vectors."""

    fingerprint: Fingerprint | None
    problem: str
    stored: tuple[str, int] | None
    connection: bool
    late: bool


def ask(searched: Searched, query: DocumentQuery, fresh: Freshened) -> DocumentAnswer:
    """What the documents of a scope answer."""
    try:
        return _asked(searched, query, fresh)
    except EmbedderUnavailable:  # it stopped answering a moment ago; words still can be compared
        return _asked(searched, replace(query, by_meaning=False), fresh)


def _asked(searched: Searched, query: DocumentQuery, fresh: Freshened) -> DocumentAnswer:
    if not all(store.searchable for store in searched.stores):
        return DocumentAnswer(query, None, searched.freshness(fresh)[0])
    for store in searched.stores:
        store.close_if_replaced()
    index = searched.index
    with ExitStack() as entered:
        entered.enter_context(searched.answer())
        entered.enter_context(index.snapshot())
        if (manifest := index.manifest) is None:
            return DocumentAnswer(query, None, searched.freshness(fresh)[0])
        texts = Texts(searched, [entered.enter_context(store.new_files()) for store in searched.stores])
        files = query.scope.of_files(documents_below(index, searched.folder), texts.tags)
        about = next(iter(query.files), "")
        channel = searched.channel(documents=True, about=about) if query.by_meaning else None
        silent = searched.by_words
        by_words = [file for file in files if searched.collection_of(file.entry_id) in silent] if silent else []
        without = _without_vectors(searched, None if query.code_too else files) if query.by_meaning else 0
        pending, only_scanned = manifest.pending, 0
        if any(store.first_answer for store in searched.stores):
            firsts = [store.first_answer or coverage_of(store, None) for store in searched.stores]
            pending = sum(each.pending_files for each in firsts)
            only_scanned = sum(each.only_scanned for each in firsts)
        found = find(OpenDocuments(index, files, texts, channel, by_words, searched.generation), query)
        notes = () if files or not query.scope.prefix else _nothing_in(query.scope.prefix, searched)
    freshness = searched.freshness(fresh)[0]
    return DocumentAnswer(query, found, freshness, (), pending, only_scanned, without, notes)


def _nothing_in(prefix: str, searched: Searched) -> tuple[str, ...]:
    """The note that no document's path begins with a prefix, with similar paths; none where one does, or where not all
    files are known."""
    if (files := searched.listing()) is None:
        return ()
    known = [file.path for file in files if file.kind == "docs"]
    if any(path.startswith(prefix) for path in known):
        return ()
    near = ", ".join(path for _, path in nearest_paths(prefix, with_folders(known)))
    return (f"No document lies in {prefix}{near and f'; nearest: {near}'}.",)


def documents_below(reader: Index, folder: str) -> list[FileRow]:
    """Every indexed document of a folder, '' for all."""
    return [file for file in reader.listing() if file.kind == "docs" and lies_in(file.path, folder)]


def _without_vectors(searched: Searched, files: list[FileRow] | None) -> int:
    """How many of these documents (None: of all files) should have vectors and have none. Those of a collection that
    cannot be asked by meaning do not count: why it cannot is said of it as a whole."""
    asked = [at for at in range(len(searched.stores)) if at not in searched.by_words]
    if files is None:
        return sum(_without_vectors_in(searched.stores[at], None) for at in asked)
    own: list[list[FileRow]] = [[] for _ in searched.stores]
    for file in files:
        at, as_there = searched.owner(file)
        own[at].append(as_there)
    return sum(_without_vectors_in(searched.stores[at], own[at]) for at in asked)


def _without_vectors_in(store: OpenStore, files: list[FileRow] | None) -> int:
    """The same of one collection."""
    if store.first_answer is not None:  # how much of it was read is said otherwise
        return 0
    reader = store.reader
    embedder = store.semantics.document_embedder()
    model_id = reader.models.id_of(embedder.fingerprint.id) if embedder else None
    if model_id is None:
        return len(reader.listing() if files is None else files)
    unembedded = reader.models.count_unembedded(model_id)
    if not unembedded or files is None:
        return unembedded
    known = reader.models.stored((file.entry_id for file in files), model_id)
    return sum(1 for file in files if file.entry_id not in known and reader.chunks(file.blob_id))


def text_of(store: OpenStore, path: str) -> DocumentText | None:
    """The text that an indexed document (a PDF) was converted to; None for any other file."""
    if not store.searchable:
        return None
    store.close_if_replaced()
    index = store.index
    with index.snapshot(), store.new_files() as files:
        file = index.file_at(path)
        if file is None or not file.converted:
            return None
        return _document(store, files, file)


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
    late = failure is not None and failure.reason == "timeout"
    connection = failure is None or late or failure.reason == "unreachable"
    return DocumentModel(fingerprint, str(failure or ""), stored, connection, late)


def _stored_model(store: OpenStore, fingerprint: Fingerprint | None) -> tuple[str, int] | None:
    store.close_if_replaced()
    reader = store.reader
    with reader.snapshot():
        own = reader.models.id_of(fingerprint.id) if fingerprint is not None else None
        if fingerprint is not None and reader.models.embedded_chunks(own):
            return fingerprint.id, fingerprint.dimensions
        latest = reader.models.latest()
        known = reader.models.get(latest) if latest is not None else None
        return (known.fingerprint, known.dimensions) if known else None


HEAD_BYTES = 4 * HEAD_CHARS
"""In which a document's head ends, whatever its characters take."""

_MAX_PARAGRAPH_CHARS = 2_000
"""Lists and the like are one paragraph up to this length, as when documents are cut into chunks."""


class DocumentText:
    """One document. ``changed``: it is no longer what was indexed, so that chunks may begin and end elsewhere."""

    def __init__(self, text: str, language: str, *, changed: bool) -> None:
        """``language``: by whose rules it is read."""
        self.text = text
        self.changed = changed
        self._language = language

    @cached_property
    def head(self) -> FrontMatter:
        return front_matter(self.text)

    def chunk(self, chunk: ChunkRow) -> str:
        """A chunk's text, verbatim; of a notebook what people read of it."""
        piece = self._bytes(chunk.start_byte, chunk.end_byte)
        return readable(piece, self._language) if self._language == "notebook" else piece

    def paragraphs(self, chunk: ChunkRow) -> Iterator[Paragraph]:
        """The whole paragraphs that a chunk touches, headings left out; of a notebook the chunk as one."""
        if self._language == "notebook":
            yield Paragraph("prose", self.chunk(chunk), chunk.start_line, chunk.end_line)
            return
        start = len(self._bytes(0, chunk.start_byte))
        end = start + len(self._bytes(chunk.start_byte, chunk.end_byte))
        for kind, begin, stop in self._all_paragraphs:
            if stop > start and begin < end and kind != "heading" and begin >= self.head.end:
                line = self._line(begin)
                yield Paragraph(kind, self.text[begin:stop], line, line + self.text.count("\n", begin, stop))

    @cached_property
    def _all_paragraphs(self) -> list[tuple[str, int, int]]:
        plan = outline(self.text, self._language)
        cut = Paragraphs(self.text, plan, _MAX_PARAGRAPH_CHARS, self._language)
        return [(piece.kind, piece.start, piece.end) for piece in cut.of(0, len(self.text))]

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    @cached_property
    def _raw(self) -> bytes | None:
        return None if self.text.isascii() else self.text.encode("utf-8", "surrogatepass")

    def _bytes(self, start: int, end: int) -> str:
        if self._raw is None:
            return self.text[start:end]
        return self._raw[start:end].decode("utf-8", "surrogatepass" if not self.changed else "replace")
