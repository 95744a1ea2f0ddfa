"""The rows that a reader gives: plain values of a file, a chunk, a manifest. Must not know how they are found."""

from __future__ import annotations

from typing import Any, NamedTuple

from findling.model.text_encodings import UTF8
from findling.store.chunk_rows import Place
from findling.store.schema import CHUNK_KINDS, CONVERTED


class FileRow(NamedTuple):
    """A file of the manifest. The term counts are what BM25 normalises by. ``other_encoding``: what it is read by, None
    for UTF-8."""

    entry_id: int
    blob_id: int
    path: str
    language: str
    kind: str
    size: int
    lines: int
    generated: bool
    body_terms: int
    name_terms: int
    other_encoding: str | None = None

    @property
    def converted(self) -> bool:
        """Whether its text is not its bytes' (a PDF), and is kept in the index (`IndexReader.doc_text`)."""
        return self.other_encoding == CONVERTED


class ChunkRow(NamedTuple):
    """A chunk of a blob; ``headings`` only in prose."""

    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    kind: str
    symbol: int
    headings: tuple[str, ...]


class ManifestRow(NamedTuple):
    """A manifest's state and totals; ``pending`` files are listed but not yet indexed."""

    manifest_id: int
    complete: bool
    pending: int
    synced_at: str
    files: int
    chunks: int
    body_terms: int
    name_terms: int
    counts: int
    wanted: str


FILE_SQL = (
    "SELECT m.entry_id, e.blob_id, e.path, b.language, b.kind, b.size, b.lines, b.generated, "
    f"b.body_terms, b.name_terms, nullif(b.encoding, '{UTF8}') "
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id) JOIN blobs b USING (blob_id) "
)
"""Gives what `file_row` takes."""

FILE_FROM_ENTRY_SQL = FILE_SQL.replace(
    "FROM manifest_files m CROSS JOIN entries e USING (entry_id)",
    # CROSS: from the few entries of a content or a path, not from the manifest's many files
    "FROM entries e CROSS JOIN manifest_files m USING (entry_id)",
)

MANIFEST_SQL = (
    "SELECT manifest_id, complete, pending, synced_at, files, chunks, "
    "body_terms, name_terms, counts, wanted FROM manifests WHERE root=? AND ref=?"
)
"""Gives what `manifest_row` takes."""


def file_row(row: Any) -> FileRow:
    values: list[Any] = [*row]
    values[7] = bool(values[7])
    return FileRow(*values)


def chunk_row(place: Place, headings: str = "") -> ChunkRow:
    """``headings``: one a line."""
    first, last, start, end, kind, symbol = place
    return ChunkRow(first, last, start, end, CHUNK_KINDS[kind], symbol, tuple(headings.split("\n")) if headings else ())


def manifest_row(row: Any) -> ManifestRow:
    return ManifestRow(row[0], bool(row[1]), *row[2:])
