"""The passages (chunks) of one index as the library shows them: which are near a text, and what they say.

Reads an index with a reader of its own; one belongs to one thread. What a passage says is read from its file as it is
now, and only where that is still what was indexed. Must not know collections, or who asks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from findling.config.roots import LIVE
from findling.engine.as_indexed import converted_text, is_as_indexed
from findling.engine.library.results import CHARS_PER_TOKEN
from findling.engine.open_index import OpenIndex
from findling.model.errors import EmbedderUnavailable
from findling.model.plurals import count
from findling.outbound.files import Files, NotRead, RootFiles, stamp_of
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable_json
from findling.search.scope import FEW, lies_in

if TYPE_CHECKING:
    from findling.embedding import Embedder
    from findling.model.reading import ChunkRow
    from findling.model.rows import FileRow
    from findling.search.semantic import SemanticChannel
    from findling.store.reader import IndexReader


@dataclass(frozen=True, slots=True)
class Place:
    """A passage by its file (relative to the root) and its place in it, and its similarity in [0, 1]."""

    path: str
    index: int
    similarity: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest passages of one index, best first. ``reached`` of the ``compared`` ones have the least similarity
    asked for; ``best`` is the highest of any. ``every`` is False when not all passages were compared.
    """

    places: tuple[Place, ...]
    compared: int
    reached: int
    best: float
    every: bool


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


class IndexedPassages:
    """One index. ``open_embedder``: as `Engine.embedder_opener` gives it. ``folder``: only files below it, '' for all;
    ``kind``: only such files, None for all.
    """

    def __init__(
        self,
        store_dir: Path,
        root: Path,
        open_embedder: Callable[[str | None], Embedder],
        *,
        folder: str,
        kind: str | None,
        key: tuple[str, str] | None = None,
        new_files: Callable[[], Files] | None = None,
    ) -> None:
        """``key``, ``new_files``: as of the `Engine`; those of the folder on disk without."""
        self.store_dir = store_dir
        self._new_files = new_files or (lambda: RootFiles(root))
        self._index = OpenIndex(store_dir, key or (str(root), LIVE), open_embedder)
        self._folder = folder
        self._kind = kind

    def close(self) -> None:
        self._index.close()

    def files(self) -> list[FileRow]:
        """Every file that may be in an answer, by path; [] without an index."""
        reader = self._index.reader
        if reader is None:
            return []
        with reader.snapshot():
            return self._files(reader)

    def has(self, path: str) -> bool:
        reader = self._index.reader
        if reader is None:
            return False
        with reader.snapshot():
            file = reader.file_at(path)
        return file is not None and self._allows(file)

    def pending(self) -> str:
        """What is not indexed yet, in words; '' when everything is, vectors too where there can be any."""
        reader = self._index.reader
        if reader is None:
            return "nothing is indexed yet"
        embedder = self._index.vectors.embedder
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
            if without and (self._kind or self._folder):
                return self._lacking(reader, model_id)
        return f"{without:,} of {count(manifest.chunks, 'passage')} without a vector yet" if without else ""

    def _lacking(self, reader: IndexReader, model_id: int | None) -> str:
        """The same of vectors alone, where not all that is indexed may be in an answer."""
        files = {file.entry_id: file for file in self._files(reader)}
        lacking = files if model_id is None else files.keys() & {row[0] for row in reader.unembedded(model_id)}
        without = sum(len(reader.chunks(files[entry].blob_id)) for entry in lacking)
        return f"{count(without, 'passage')} without a vector yet" if without else ""

    def not_by_meaning(self, text: str) -> str:
        """Why `nearest` compares nothing with a text, in words; '' where there is nothing to compare."""
        if self._index.reader is None:
            return self.pending()
        embedder, failure = self._index.vectors.embedder, self._index.vectors.failure
        if embedder is None or failure is not None:
            return str(failure or "there is no embedding model")
        channel = self._index.vectors.channel
        if channel is not None and not _encodes(channel, text):
            return str(self._index.vectors.failure or "the embedding model knows no word of the query.")
        return self.pending()

    def chunk_count(self, path: str) -> int:
        """How many passages a file has; 0 for one that is not indexed."""
        reader = self._index.reader
        if reader is None:
            return 0
        with reader.snapshot():
            file = reader.file_at(path)
            return len(reader.chunks(file.blob_id)) if file is not None else 0

    def nearest(self, text: str, limit: int, *, least: float, without: Callable[[str], bool]) -> Nearest | None:
        """The ``limit`` passages nearest to a text with at least the similarity ``least``; ties by path and place.

        ``without``: paths that are left out. None without vectors, or when the model knows no word of the text.
        """
        reader, channel = self._index.reader, self._index.vectors.channel
        if reader is None or channel is None or not _encodes(channel, text):
            return None
        from findling.search.passages import near

        calibration = channel.calibration
        with reader.snapshot():
            files = [file for file in self._files(reader) if not without(file.path)]
            cosine = calibration.least_cosine(least)
            found = near(reader, channel, text, files, limit=limit, least=cosine)
        return Nearest(
            tuple(
                Place(passage.file.path, passage.ordinal, calibration.similarity(passage.cosine))
                for passage in found.passages
            ),
            found.compared,
            found.above,
            calibration.similarity(found.best),
            len(files) <= FEW,
        )

    def at_line(self, path: str, line: int) -> int:
        """The passage of an indexed file that holds a line, else the first after it."""
        reader = self._index.reader
        if reader is None:
            return 0
        with reader.snapshot():
            file = reader.file_at(path)
            chunks = reader.chunks(file.blob_id) if file is not None else []
        for index, chunk in enumerate(chunks):
            if chunk.start_line <= line <= chunk.end_line or chunk.start_line > line:
                return index
        return max(0, len(chunks) - 1)

    def texts(self, path: str, indexes: Iterable[int]) -> list[Text] | None:
        """What these passages of a file say, in the order asked for, those that it does not have left out.

        None when the file cannot be read, or is no longer what was indexed.
        """
        reader = self._index.reader
        if reader is None:
            return None
        with reader.snapshot():
            file = reader.file_at(path)
            if file is None or not self._allows(file):
                return None
            chunks = reader.chunks(file.blob_id)
            state = reader.state_of(path)
        if state is None:
            return None
        read = self._converted(file) if file.converted else self._read(path, state[0])
        if read is None:
            return None
        text, status = read
        if not is_as_indexed(state, status.st_size, stamp_of(status)):
            return None
        size, mtime_ns = status.st_size, status.st_mtime_ns
        raw = text if text.isascii() else text.encode("utf-8", "surrogatepass")
        found = [
            _text(path, index, chunks[index], raw, size, mtime_ns) for index in indexes if 0 <= index < len(chunks)
        ]
        return [replace(text, content=_said(text.content)) for text in found] if _is_raw(file) else found

    def _read(self, path: str, size: int) -> tuple[str, os.stat_result] | None:
        """The text and the status of a file that has not grown."""
        with closing(self._new_files()) as files:
            read = files.read(path, size)
        if isinstance(read, NotRead):
            return None
        status, data = read
        decoded = decode(data)
        return (decoded.text, status) if isinstance(decoded, Decoded) else None

    def _converted(self, file: FileRow) -> tuple[str, os.stat_result] | None:
        """The same of a document whose text the index has."""
        reader = self._index.reader
        if reader is None:
            return None
        with reader.snapshot(), closing(self._new_files()) as files:
            found = converted_text(reader, files, file)
        if isinstance(found, NotRead) or found.text is None:
            return None
        return found.text, found.status

    def _files(self, reader: IndexReader) -> list[FileRow]:
        rows = reader.listing() if not self._folder else reader.all_files(prefix=self._folder)
        found = [file for file in rows if self._kind is None or file.kind == self._kind]
        if self._folder and not found and (file := reader.file_at(self._folder)) is not None and self._allows(file):
            found = [file]
        return found

    def _allows(self, file: FileRow) -> bool:
        inside = lies_in(file.path, self._folder)
        return inside and (self._kind is None or file.kind == self._kind)


def _encodes(channel: SemanticChannel, text: str) -> bool:
    """Whether the model knows a word of a text; when it does not answer, words are compared, and the answer says so."""
    try:
        return bool(channel.encode(text).any())
    except EmbedderUnavailable:
        return False


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
