"""What passages (chunks) of a collection say, as the library shows them: read from their file as it is now, and only
where that is still what was indexed. Must not know collections, or who asks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from findling.engine.as_indexed import converted_text, is_as_indexed
from findling.engine.library.results import CHARS_PER_TOKEN
from findling.outbound.files import NotRead, stamp_of
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable_json

if TYPE_CHECKING:
    from findling.engine.store import OpenStore
    from findling.model.reading import ChunkRow
    from findling.model.rows import FileRow


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


def texts(store: OpenStore, file: FileRow, indexes: Iterable[int]) -> list[Text] | None:
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
