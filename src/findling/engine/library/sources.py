"""One place that a library search looks in: a collection, or the documents of a root. For one thread.

Brings its index up to date within a given time, and says what it could not do. Must not know other sources.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from findling.config import load
from findling.engine import Recipe
from findling.engine.library.place import TURNS
from findling.engine.library.results import CHARS_PER_TOKEN
from findling.engine.shown import converted_text, is_as_indexed
from findling.engine.small_files import Turns
from findling.model.plurals import count
from findling.outbound.files import NotRead, stamp_of
from findling.reading.chunk_docs import DocLimits
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable_json
from findling.search.scope import lies_in
from findling.sources.selection import DiscoveryOptions

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine
    from findling.engine.library.collections import Collection
    from findling.engine.searched import OpenCollection
    from findling.engine.store import OpenStore
    from findling.model.reading import ChunkRow
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
        """What these passages of a file say (`texts_of`)."""
        file = self.file_at(path)
        return None if file is None else texts_of(self.collection.store, file, indexes)

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


@dataclass(frozen=True, slots=True)
class Text:
    """What a passage says; of a notebook without what JSON puts around it. ``offset`` counts the characters of its file
    before it; ``modified`` in seconds since 1970; ``headings`` are those that it stands below, from the outside in."""

    path: str
    index: int
    content: str
    offset: int
    file_size: int
    modified: float
    headings: tuple[str, ...]

    @property
    def tokens(self) -> int:
        return math.ceil(len(self.content) / CHARS_PER_TOKEN)


def texts_of(store: OpenStore, file: FileRow, indexes: Iterable[int]) -> list[Text] | None:
    """What these passages of a file say, in the order asked for, those that it does not have left out.

    None when the file cannot be read, or is no longer what was indexed.
    """
    index = store.index
    with index.snapshot():
        chunks = index.chunks(file.blob_id)
        state = store.state_of(file.path)
        read = None if state is None else _read(store, file, state[0])
    if read is None:
        return None
    text, status = read
    if not is_as_indexed(state, status.st_size, stamp_of(status)):
        return None
    size, mtime_ns = status.st_size, status.st_mtime_ns
    raw = text if text.isascii() else text.encode("utf-8", "surrogatepass")
    found = [
        _text(file.path, index, chunks[index], raw, size, mtime_ns) for index in indexes if 0 <= index < len(chunks)
    ]
    return [replace(text, content=_said(text.content)) for text in found] if _is_raw(file) else found


def _read(store: OpenStore, file: FileRow, size: int) -> tuple[str, os.stat_result] | None:
    """The text and the status of a file that has not grown; of a converted document the text that the index has."""
    with store.open_files() as files:
        if file.converted:
            found = converted_text(store, files, file)
            return None if isinstance(found, NotRead) or found.text is None else (found.text, found.status)
        read = files.read(file.path, size)
    if isinstance(read, NotRead):
        return None
    status, data = read
    decoded = decode(data)
    return (decoded.text, status) if isinstance(decoded, Decoded) else None


def _is_raw(file: FileRow) -> bool:
    """Whether it is a notebook as it stands in a project, where it is source."""
    return file.language == "notebook" and not file.converted


def _said(cell: str) -> str:
    """A piece of a notebook as people read it, without what JSON puts around it."""
    return readable_json(cell)


def _text(path: str, index: int, chunk: ChunkRow, raw: str | bytes, size: int, mtime_ns: int) -> Text:
    piece, before = raw[chunk.start_byte : chunk.end_byte], raw[: chunk.start_byte]
    return Text(
        path=path,
        index=index,
        content=piece if isinstance(piece, str) else piece.decode("utf-8", "replace"),
        offset=len(before) if isinstance(before, str) else len(before.decode("utf-8", "replace")),
        file_size=size,
        modified=mtime_ns / 1e9,
        headings=chunk.headings,
    )


_SPECIAL = re.compile(r"([\\*?\[\]! ])")


def recipe_for(collection: Collection, data_directory: Path) -> Recipe:
    """Raises `ConfigError` for a configuration that is wrong."""
    config = load(collection.root).config
    library = config.library
    turns = data_directory / TURNS
    return Recipe(
        wanted=_wanted(collection, config, data_directory),
        docs=DocLimits(library.chunk_size, library.overlap),
        workers=min(library.max_file_processing_concurrency, os.cpu_count() or 1),
        pages=True,
        turns={
            "runs": Turns(turns / "runs", library.max_directory_concurrency),
            "embedding": Turns(turns / "embedding", library.max_embedding_concurrency),
        },
    )


def _wanted(collection: Collection, config: Config, data_directory: Path) -> DiscoveryOptions:
    library, index = config.library, config.index
    if collection.kind == "file":
        return DiscoveryOptions(
            max_bytes=index.max_file_bytes,
            files=(Path(collection.path).name,),
            max_document_bytes=index.max_document_bytes,
            pages=True,
        )
    inside = _below(collection.root, data_directory)
    return DiscoveryOptions(
        hidden=index.hidden or collection.origin is not None,  # somebody chose what was fetched
        max_bytes=index.max_file_bytes,
        include=library.include_patterns or index.include,
        exclude=(
            *_only_types(library.file_types),
            *index.exclude,
            *library.exclude_patterns,
            *(f"/{_literal(path)}" for path in collection.removed),
            *((f"/{_literal(inside)}/",) if inside else ()),
        ),
        most_files=library.max_files,
        max_document_bytes=index.max_document_bytes,
        pages=True,
    )


def _only_types(file_types: tuple[str, ...]) -> tuple[str, ...]:
    """Rules that leave out every file whose name does not end so; nothing where all types are taken."""
    endings = [_literal(name.strip().removeprefix("*").removeprefix(".")) for name in file_types]
    kept = [f"!*.{ending}" for ending in endings if ending]
    return ("*", "!*/", *kept) if kept else ()


def _literal(path: str) -> str:
    """A path as a glob that matches nothing else."""
    return _SPECIAL.sub(r"\\\1", path)


def _below(root: Path, folder: Path) -> str:
    """``folder`` relative to ``root`` with ``/``, '' when it does not lie below it."""
    real = Path(os.path.realpath(folder))
    return real.relative_to(root).as_posix() if real != root and real.is_relative_to(root) else ""
