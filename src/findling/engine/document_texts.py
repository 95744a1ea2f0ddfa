"""Documents as they are now: their text, the exact text of a chunk, their paragraphs, their head. Bounded, read once.

One object is for one question. Knows files and formats, nothing of what is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from findling.engine.as_indexed import converted_text, is_as_indexed
from findling.model.format_names import outlined_as
from findling.model.reading import ChunkRow
from findling.model.rows import FileRow
from findling.outbound.files import Files, NotRead, stamp_of
from findling.reading.chunk_docs import Paragraphs
from findling.reading.decoding import Decoded, decode
from findling.reading.notebooks import readable
from findling.reading.outline import outline
from findling.search.extract import Paragraph
from findling.search.front_matter import HEAD_CHARS, FrontMatter, front_matter

if TYPE_CHECKING:
    from findling.engine.store import OpenStore

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


class DocumentTexts:
    """The documents among some files, within one snapshot of the index. ``max_bytes``: longer files are not read."""

    def __init__(self, files: Files, store: OpenStore, max_bytes: int) -> None:
        self._files = files
        self._store = store
        self._max_bytes = max_bytes
        self._texts: dict[str, DocumentText | None] = {}

    def of(self, file: FileRow) -> DocumentText | None:
        """None when it is gone, or cannot be read as text any more."""
        if file.path not in self._texts:
            self._texts[file.path] = self._read(file)
        return self._texts[file.path]

    def tags(self, file: FileRow) -> frozenset[str]:
        """The tags in a document's head; only the head is read."""
        known = self._texts.get(file.path)
        if known is not None:
            return known.head.tags
        if file.converted:
            return frozenset()  # what is converted has no head of that kind
        read = self._files.read(file.path, self._max_bytes)
        if isinstance(read, NotRead):
            return frozenset()
        decoded = decode(read[1][:HEAD_BYTES])
        return front_matter(decoded.text).tags if isinstance(decoded, Decoded) else frozenset()

    def _read(self, file: FileRow) -> DocumentText | None:
        if file.converted:
            return self._read_converted(file)
        read = self._files.read(file.path, self._max_bytes)
        if isinstance(read, NotRead):
            return None
        status, data = read
        decoded = decode(data)
        if not isinstance(decoded, Decoded):
            return None
        same = is_as_indexed(self._store.state_of(file.path), status.st_size, stamp_of(status))
        return DocumentText(decoded.text, file.language, changed=not same)

    def _read_converted(self, file: FileRow) -> DocumentText | None:
        found = converted_text(self._store, self._files, file)
        if isinstance(found, NotRead) or found.text is None:
            return None
        return DocumentText(found.text, outlined_as(file.language, converted=True), changed=not found.unchanged)
