"""One place that a library search looks in: a collection, or the documents of a root. For one thread.

Says what of it is not taken in yet, and reads what its passages say. How a collection is indexed is here, too
(`recipe_for`). Must not know other sources.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from findling.config import load
from findling.engine import Recipe
from findling.engine.library.collections import TURNS
from findling.engine.library.results import Passage
from findling.engine.shown import text_now
from findling.engine.small_files import Turns
from findling.engine.store import OpenStore
from findling.model.plurals import count
from findling.model.rows import FileRow
from findling.model.types import CHARS_PER_TOKEN, Freshness
from findling.reading.limits import DocLimits
from findling.reading.notebooks import readable_json
from findling.search.scope import lies_in
from findling.sources.selection import DiscoveryOptions
from findling.store.local.reader import IndexReader
from findling.store.protocols import Index

if TYPE_CHECKING:
    from findling.config import Config
    from findling.engine import Engine
    from findling.model.collection import Collection


class Source(Struct):
    """``name`` is shown with every result. ``kind``: only files of this kind, None for all. ``fetched``: they came
    from elsewhere."""

    name: str
    engine: Engine
    kind: str | None = None
    fetched: bool = False
    left: tuple[str, ...] = ()
    """What the last question did not take in, in words; empty where that is nothing."""

    @property
    def root(self) -> Path:
        return self.engine.root

    def absolute(self, path: str) -> str:
        """A path of the index as the library writes it."""
        return os.fspath(self.root / path)

    def relative(self, path: str) -> str | None:
        """An absolute path as the index writes it, None when it does not lie in the root."""
        normal = os.path.normpath(path)
        for named in (Path(normal), Path(os.path.realpath(normal))):
            if named.is_relative_to(self.root):
                return named.relative_to(self.root).as_posix()
        return None

    def note_left(self, freshness: Freshness, why: str) -> None:
        """Note in ``left`` what a question that found the index so fresh did not take in."""
        unfresh = "" if freshness == "fresh" else why or "some changes are not indexed yet"
        self.left = tuple(filter(None, (self.pending(), unfresh)))

    # --- what is indexed ------------------------------------------------------------------------------------

    @property
    def store(self) -> OpenStore:
        return self.engine.store

    @property
    def index(self) -> Index | None:
        """None when there is nothing to answer from."""
        store = self.store
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

    def passages(self, path: str, indexes: Iterable[int]) -> list[Passage] | None:
        """What these passages of a file say, in the order asked for, those that it does not have left out; read from
        the file as it is now.

        None when the file cannot be read, or is no longer what was indexed.
        """
        if (file := self.file_at(path)) is None:
            return None
        store = self.store
        with store.index.snapshot(), store.open_files() as files:
            chunks = store.index.chunks(file.blob_id)
            state = store.state_of(path)
            now = None if state is None else text_now(store, files, file, state[0])
        if now is None or not now.unchanged:
            return None
        raw = now.text.encode("utf-8", "surrogatepass")
        is_source = file.language == "notebook" and not file.converted  # as it stands in a project
        committed = self.engine.committed_at  # of a commit's files all are as old as the commit
        found = []
        for index in indexes:
            if not 0 <= index < len(chunks):
                continue
            chunk = chunks[index]
            said = raw[chunk.start_byte : chunk.end_byte].decode("utf-8", "replace")
            content = readable_json(said) if is_source else said
            found.append(
                Passage(
                    collection=self.name,
                    file_path=self.absolute(path),
                    chunk_index=index,
                    content=content,
                    score=0.0,
                    file_size=now.status.st_size,
                    modified=now.status.st_mtime_ns / 1e9 if committed is None else committed,
                    chunk_offset=len(raw[: chunk.start_byte].decode("utf-8", "replace")),
                    token_count=math.ceil(len(content) / CHARS_PER_TOKEN),
                    headings=chunk.headings,
                    fetched=self.fetched,
                )
            )
        return found

    def pending(self) -> str:
        """What is not indexed yet, in words; '' when everything is, vectors too where there can be any."""
        store = self.store
        if store.first_answer is not None:
            return "not everything is indexed yet"
        if self.index is None:
            return "nothing is indexed yet"
        reader = store.on_disk
        embedder = store.semantics.document_embedder()
        with reader.snapshot():
            manifest = reader.manifest
            if manifest is None:
                return "nothing is indexed yet"
            if manifest.pending or not manifest.complete:
                pending = count(manifest.pending, "file")
                return f"{pending} not indexed yet" if manifest.pending else "not everything is indexed yet"
            if embedder is None:
                return ""
            model_id = reader.models.id_of(embedder.fingerprint.id)
            without = manifest.chunks - reader.models.embedded_chunks(model_id)
            if without and (self.kind or self.engine.scope):
                return self._lacking(reader, model_id)
        return f"{without:,} of {count(manifest.chunks, 'passage')} without a vector yet" if without else ""

    def _lacking(self, reader: IndexReader, model_id: int | None) -> str:
        """The same of vectors alone, where not all that is indexed may be in an answer."""
        files = {file.entry_id: file for file in reader.listing() if self.allows(file)}
        lacking = files if model_id is None else files.keys() & {row[0] for row in reader.models.unembedded(model_id)}
        without = sum(len(reader.chunks(files[entry].blob_id)) for entry in lacking)
        return f"{count(without, 'passage')} without a vector yet" if without else ""


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
